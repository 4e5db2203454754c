// The columns of a table, and the role of each in a search.

import { count, formatNumber, make } from "./dom.js";

const ROLES = {
  law: { feature: "variable", target: "target: find a formula for it", weights: "weight of the row", sigma: "error bar of the target", group: "group: each has numbers of its own", ignore: "ignore" },
  dynamics: { state: "state", time: "time", input: "external input", group: "identifies the run", ignore: "ignore" },
};
const BARS = "bars"; // the role of a column that holds the error bars of a variable: it is given at that variable
const WITH_UNITS = { law: ["feature", "target"], dynamics: ["state", "input", "time"] }; // roles of columns that may have a unit
const SINGLE = { law: ["target", "weights", "sigma"], dynamics: ["time", "group"] }; // roles for only one column

// Columns of numbers. A column with stray text counts as one, and the search reports what is wrong with it.
const isUsable = (column) => column.problem || (column.is_number && column.min !== null);

export class Columns {
  constructor(holder, onchange, onunits) {
    this.holder = holder;
    this.onchange = onchange;
    this.onunits = onunits; // called when a unit is typed
    this.table = null;
    this.kind = "law";
    this.roles = { law: new Map(), dynamics: new Map() };
    this.bars = new Map(); // from the name of a variable to its error bars: a column or a number
    this.units = new Map(); // from the name of a column to its unit
    this.isMap = false; // a map has steps instead of times, so their column has no unit
  }

  take(table) {
    this.table = table;
    this.bars.clear();
    this.units = new Map(table.columns.filter((column) => column.unit).map((column) => [column.name, column.unit]));
    const numbers = table.columns.filter(isUsable).map((column) => column.name);
    const target = numbers.filter((name) => name !== table.time && !table.groups.includes(name)).at(-1);
    for (const { name } of table.columns) {
      const isNumber = numbers.includes(name);
      this.roles.law.set(name, table.groups.includes(name) ? "group" : !isNumber ? "ignore" : name === target ? "target" : "feature");
      this.roles.dynamics.set(name, !isNumber ? "ignore" : name === table.time ? "time" : "state");
    }
    this.show();
  }

  // Forget the table, because another one was dropped that could not be read.
  clear() {
    this.table = null;
    this.holder.replaceChildren();
  }

  // Give the columns the roles they had in an earlier search; all others are ignored.
  recall(kind, roles, bars = {}, units = {}) {
    this.bars = new Map(Object.entries(bars));
    this.units = new Map(Object.entries(units));
    for (const { name } of this.table.columns) this.roles[kind].set(name, "ignore");
    for (const [role, names] of Object.entries(roles)) {
      for (const name of names) this.roles[kind].set(name, role);
    }
    for (const column of this.bars.values()) this.takeAsBars(column);
    this.setKind(kind);
  }

  // The same table, read differently: the roles stay.
  update(table) {
    this.table = table;
    this.show();
  }

  setKind(kind, isMap = false) {
    this.kind = kind;
    this.isMap = isMap;
    this.show();
  }

  named(role) {
    return (this.table?.columns ?? []).map((column) => column.name).filter((name) => this.roles[this.kind].get(name) === role);
  }

  // The error bars of the variables, by name.
  errorBars() {
    return Object.fromEntries(this.named("feature").filter((name) => this.bars.has(name)).map((name) => [name, this.bars.get(name)]));
  }

  // The columns in use that may have a unit.
  measured() {
    return WITH_UNITS[this.kind].flatMap((role) => (role === "time" && this.isMap ? [] : this.named(role)));
  }

  // Their units, by name; those that are empty are left out.
  givenUnits() {
    return Object.fromEntries(this.measured().map((name) => [name, this.units.get(name)?.trim()]).filter(([, unit]) => unit));
  }

  // Those that have no unit yet.
  withoutUnit() {
    const given = this.givenUnits();
    return this.measured().filter((name) => !given[name]);
  }

  clearUnits() {
    this.units.clear();
    this.show();
    this.onunits();
  }

  // Mark the field of a unit that is wrong; null if there is none.
  markUnit(name) {
    for (const field of this.holder.querySelectorAll("input.unit")) field.setAttribute("aria-invalid", field.dataset.unitOf === name ? "true" : "false");
  }

  // The columns that formulas may use, except the velocities of a second-order system, which the server adds.
  usable() {
    return this.kind === "law" ? { columns: this.named("feature") } : { columns: this.named("state"), inputs: this.named("input") };
  }

  show() {
    if (!this.table) return;
    const isLaw = this.kind === "law";
    const rows = this.table.columns.map((column) => make("tr", {},
      make("th", { scope: "row" }, column.name),
      make("td", {}, this.makeChoice(column)),
      make("td", { class: "unit-cell" }, this.makeUnit(column)),
      isLaw && make("td", { class: "bars-cell" }, this.makeBars(column)),
      make("td", { class: "soft small" }, describeColumn(column))));
    const heads = isLaw ? ["column", "role", "unit", "error bar", "values"] : ["column", "role", "unit", "values"];
    this.holder.replaceChildren(make("table", { class: "columns" },
      make("thead", {}, make("tr", {}, heads.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, rows)));
  }

  makeChoice(column) {
    const { name } = column;
    return make("select", { "aria-label": `Role of ${name}`, "data-column": name, onchange: (event) => this.give(name, event.target.value) },
      this.makeOptions(column));
  }

  makeOptions(column) {
    const roles = Object.entries(ROLES[this.kind]).filter(([role]) => column.is_number || column.problem || role === "group" || role === "ignore");
    const current = this.roles[this.kind].get(column.name);
    if (current === BARS) roles.unshift([BARS, `error bar of ${this.measuredBy(column.name).join(", ")}`]);
    return roles.map(([role, words]) => make("option", { value: role, selected: role === current }, words));
  }

  // A field for the unit of a column in use.
  makeUnit({ name }) {
    if (!this.measured().includes(name)) return null;
    return make("input", {
      type: "text", class: "unit", value: this.units.get(name) ?? "", placeholder: "none", "aria-label": `Unit of ${name}`, "data-unit-of": name,
      title: "For example m/s or kg*m**2", autocapitalize: "off", autocomplete: "off", spellcheck: "false",
      oninput: (event) => { this.units.set(name, event.target.value); this.onunits(); },
    });
  }

  // A field for the error bars of a variable; other columns have none.
  makeBars({ name }) {
    if (this.roles.law.get(name) !== "feature") return null;
    return make("input", {
      type: "text", class: "bars", value: this.bars.get(name) ?? "", placeholder: "none", "aria-label": `Error bar of ${name}: a column or a number`,
      title: "A column, or a number for all rows", autocapitalize: "off", autocomplete: "off", spellcheck: "false",
      onchange: (event) => this.giveBars(name, event.target.value.trim()),
    });
  }

  // Give a variable error bars, or none. A column that holds them is no variable.
  giveBars(name, bars) {
    const before = this.bars.get(name);
    this.dropBars(name);
    if (bars) this.bars.set(name, bars);
    if (bars !== name) this.takeAsBars(bars);
    this.table.columns.filter((column) => [before, bars].includes(column.name)).forEach((column) => this.refresh(column));
    this.onchange();
  }

  // Forget the error bars of a column; the column that held them is a variable again.
  dropBars(name) {
    const bars = this.bars.get(name);
    this.bars.delete(name);
    if (this.roles.law.get(bars) === BARS && !this.measuredBy(bars).length) this.roles.law.set(bars, "feature");
  }

  takeAsBars(name) {
    const isNumber = this.table.columns.some((column) => column.name === name && isUsable(column));
    if (isNumber && ["feature", "ignore"].includes(this.roles.law.get(name))) this.roles.law.set(name, BARS);
  }

  // The variables whose error bars are in this column.
  measuredBy(column) {
    return [...this.bars].filter(([, bars]) => bars === column).map(([name]) => name);
  }

  // Show the role of a column again. Its field stays, because it may just be getting the focus.
  refresh(column) {
    const choice = this.choiceOf(column.name);
    choice.replaceChildren(...this.makeOptions(column));
    const row = choice.closest("tr");
    row.querySelector(".unit-cell").replaceChildren(...[this.makeUnit(column)].filter(Boolean));
    row.querySelector(".bars-cell").replaceChildren(...[this.makeBars(column)].filter(Boolean));
  }

  choiceOf(name) {
    return this.holder.querySelector(`[data-column="${CSS.escape(name)}"]`);
  }

  // Give a column a role; if only one column may have it, its previous holder gets the default role.
  give(name, role) {
    const roles = this.roles[this.kind];
    if (SINGLE[this.kind].includes(role)) {
      for (const [other, has] of roles) {
        if (has === role && other !== name) roles.set(other, this.kind === "law" ? "feature" : "state");
      }
    }
    if (this.kind === "law") {
      this.measuredBy(name).forEach((other) => this.bars.delete(other));
      if (role !== "feature") this.dropBars(name);
    }
    roles.set(name, role);
    for (const column of this.table.columns) {
      if (!column.is_number && !column.problem && !["group", "ignore"].includes(roles.get(column.name))) roles.set(column.name, "ignore");
    }
    this.show();
    this.choiceOf(name)?.focus();
    this.onchange();
  }
}

function describeColumn(column) {
  const missing = column.n_missing ? `, ${column.n_missing} missing` : "";
  if (column.problem) return "text among numbers";
  if (column.is_boolean) return `true or false${missing}`;
  if (!column.is_number) return `text${missing}`;
  if (column.min === null) return "no numbers";
  return `${formatNumber(column.min)} to ${formatNumber(column.max)}${missing}`;
}

// The first rows of a table, to check that it was read correctly.
export function showFirstRows(table) {
  const head = table.columns.map((column) => make("th", { scope: "col" }, column.name));
  const rows = table.first_rows.map((row) => make("tr", {}, row.map((value) =>
    make("td", {}, typeof value === "number" ? formatNumber(value, 6) : value ?? "–"))));
  return make("div", {},
    make("p", {}, make("strong", {}, table.name), `: ${count(table.n_rows, "row")}, ${count(table.columns.length, "column")}`),
    ...table.notes.map((note) => make("p", { class: "soft small" }, note)),
    ...table.columns.filter((column) => column.problem).map((column) => make("p", { class: "message bad" }, column.problem)),
    make("details", {}, make("summary", {}, "First rows"),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "First rows" },
        make("table", { class: "first-rows" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows)))));
}
