// The groups of a table on the page of a run: the numbers of each group, and a picture of each, which can be hidden.

import { make, showMarkup } from "./dom.js";

// Ask for the groups of the formula that is shown, and show them; a formula without own numbers has none.
export async function showGroups(view) {
  const { selected, law, parts, run } = view;
  if (run.kind !== "regression" || !run.has_groups) return;
  const groups = await view.askOnce(selected, `groups?cost=${view.front[selected].cost}`).catch(() => null);
  if (view.selected !== selected || view.law !== law) return;
  parts.groups.hidden = !groups?.tables.length;
  if (!groups?.tables.length || parts.groups.shown === groups) return;
  parts.groups.shown = groups;
  const pictures = new Map(groups.pictures.map(({ label, chart }) => [label, makePicture(view, label, chart)]));
  parts.groups.replaceChildren(
    make("h2", { id: "groups-title" }, "The groups"),
    make("p", { class: "soft" }, groups.words),
    ...groups.tables.map((table) => makeTable(view, table, table.grouping === groups.grouping ? pictures : new Map())),
    make("p", { class: "soft small" }, groups.about_pictures),
    make("div", { class: "small-figures" }, ...pictures.values()));
}

function makePicture(view, label, chart) {
  const drawing = make("div");
  showMarkup(drawing, chart);
  return make("figure", { hidden: view.hiddenGroups.has(label) }, drawing, make("figcaption", {}, label));
}

// A row per group; those with a picture have a box that shows or hides it.
function makeTable(view, { grouping, names, rows }, pictures) {
  const head = [grouping, ...names].map((name, k) => make("th", { scope: "col", class: k ? "number" : null }, name));
  const body = rows.map(([label, ...numbers]) => make("tr", {},
    make("th", { scope: "row" }, pictures.has(label) ? makeBox(view, label, pictures.get(label)) : label),
    ...numbers.map((number) => make("td", { class: "number" }, number))));
  return make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `Numbers of each group of ${grouping}` },
    make("table", { class: "groups" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, body)));
}

function makeBox(view, label, picture) {
  return make("label", {}, make("input", {
    type: "checkbox", checked: !picture.hidden, "aria-label": `Show the picture of ${label}`,
    onchange: (event) => {
      picture.hidden = !event.target.checked;
      view.hiddenGroups[picture.hidden ? "add" : "delete"](label);
    },
  }), ` ${label}`);
}
