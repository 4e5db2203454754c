// The columns of a table, and the role of each in a search.

import { count, formatNumber, make } from "./dom.js";

const ROLES = {
  law: { feature: "variable", target: "target: find a formula for it", weights: "weight of the row", sigma: "error bar of the target", ignore: "ignore" },
  dynamics: { state: "state", time: "time", input: "external input", group: "identifies the run", ignore: "ignore" },
};
const SINGLE = ["target", "weights", "sigma", "time", "group"]; // roles for only one column

// Columns of numbers. A column with stray text counts as one, and the search reports what is wrong with it.
const isUsable = (column) => column.problem || (column.is_number && column.min !== null);

export class Columns {
  constructor(holder, onchange) {
    this.holder = holder;
    this.onchange = onchange;
    this.table = null;
    this.kind = "law";
    this.roles = { law: new Map(), dynamics: new Map() };
  }

  take(table) {
    this.table = table;
    const numbers = table.columns.filter(isUsable).map((column) => column.name);
    const target = numbers.filter((name) => name !== table.time).at(-1);
    for (const { name } of table.columns) {
      const isNumber = numbers.includes(name);
      this.roles.law.set(name, !isNumber ? "ignore" : name === target ? "target" : "feature");
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
  recall(kind, roles) {
    for (const { name } of this.table.columns) this.roles[kind].set(name, "ignore");
    for (const [role, names] of Object.entries(roles)) {
      for (const name of names) this.roles[kind].set(name, role);
    }
    this.setKind(kind);
  }

  // The same table, read differently: the roles stay.
  update(table) {
    this.table = table;
    this.show();
  }

  setKind(kind) {
    this.kind = kind;
    this.show();
  }

  named(role) {
    return (this.table?.columns ?? []).map((column) => column.name).filter((name) => this.roles[this.kind].get(name) === role);
  }

  // The columns that formulas may use, except the velocities of a second-order system, which the server adds.
  usable() {
    return this.kind === "law" ? { columns: this.named("feature") } : { columns: this.named("state"), inputs: this.named("input") };
  }

  show() {
    if (!this.table) return;
    const rows = this.table.columns.map((column) => make("tr", {},
      make("th", { scope: "row" }, column.name),
      make("td", {}, this.makeChoice(column)),
      make("td", { class: "soft small" }, describeColumn(column))));
    this.holder.replaceChildren(make("table", { class: "columns" },
      make("thead", {}, make("tr", {}, ["column", "role", "values"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, rows)));
  }

  makeChoice(column) {
    const { name } = column;
    const roles = Object.entries(ROLES[this.kind]).filter(([role]) => column.is_number || column.problem || role === "group" || role === "ignore");
    const current = this.roles[this.kind].get(name);
    return make("select", { "aria-label": `Role of ${name}`, "data-column": name, onchange: (event) => this.give(name, event.target.value) },
      roles.map(([role, words]) => make("option", { value: role, selected: role === current }, words)));
  }

  // Give a column a role; if only one column may have it, its previous holder gets the default role.
  give(name, role) {
    const roles = this.roles[this.kind];
    if (SINGLE.includes(role)) {
      for (const [other, has] of roles) {
        if (has === role && other !== name) roles.set(other, this.kind === "law" ? "feature" : "state");
      }
    }
    roles.set(name, role);
    for (const column of this.table.columns) {
      if (!column.is_number && !column.problem && !["group", "ignore"].includes(roles.get(column.name))) roles.set(column.name, "ignore");
    }
    this.show();
    this.holder.querySelector(`[data-column="${CSS.escape(name)}"]`)?.focus();
    this.onchange();
  }
}

function describeColumn(column) {
  const missing = column.n_missing ? `, ${column.n_missing} missing` : "";
  if (column.problem) return "text among numbers";
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
