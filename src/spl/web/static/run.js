// One run on a page: its status, the best formula, the front to choose from, the fit, the learning curve, code to export.
// It follows the run while it is running. Used by `spl watch` and by the studio.

import { announce, ask, count, formatNumber, formatSeconds, make, showMarkup } from "./dom.js";
import { Equation } from "./equation.js";
import { showGroups } from "./groups.js";

export const STATES = {
  compiling: "Compiling the kernels, once", starting: "Starting", running: "Searching", finished: "Finished", interrupted: "Stopped", died: "Ended unexpectedly", failed: "Failed",
};
const ENDED = new Set(["finished", "interrupted", "died", "failed"]);
const LANGUAGES = {
  sympy: "SymPy", latex: "LaTeX", python: "Python", c: "C", julia: "Julia", matlab: "MATLAB", torch: "PyTorch", jax: "JAX",
};
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity, Enter: 0, " ": 0 };

export class RunView {
  // `actions`: more buttons for the run, if any: an object with a `root` and `update(run, hasEnded)`.
  constructor(holder, name, actions = null) {
    this.holder = holder;
    this.actions = actions;
    this.path = `api/runs/${encodeURIComponent(name)}`;
    this.name = name;
    this.law = 0; // the equation that is shown
    this.picked = new Map(); // law -> the cost that the user picked; without one, the recommended formula is shown
    this.other = null; // the cost of a second formula to compare with
    this.format = "python";
    this.hiddenGroups = new Set(); // whose pictures the user has hidden
    this.answers = new Map(); // fits and code from the server
    this.parts = buildParts(this);
    holder.replaceChildren(this.parts.root);
    this.follow();
  }

  follow() {
    this.news?.close();
    this.news = new EventSource(`${this.path}/events`);
    this.news.onmessage = (event) => this.show(JSON.parse(event.data));
    this.news.onerror = () => this.showLost();
  }

  close() {
    this.news.close();
    this.holder.replaceChildren();
  }

  showLost() {
    if (this.run && ENDED.has(this.run.status)) this.news.close();
    else this.parts.lost.hidden = false;
  }

  get front() {
    return this.run.laws[this.law].front;
  }

  // The index in the front of the formula that is shown: the one that was picked, found again by its cost, or the recommended one.
  get selected() {
    const place = this.front.findIndex((point) => point.cost === this.picked.get(this.law));
    return place >= 0 ? place : this.run.laws[this.law].chosen;
  }

  get compared() {
    const place = this.front.findIndex((point) => point.cost === this.other);
    return place >= 0 && place !== this.selected ? place : null;
  }

  show(run) {
    const before = this.run;
    this.run = run;
    this.parts.lost.hidden = true;
    if (this.law >= run.laws.length || !run.laws[this.law].front.length) {
      this.law = Math.max(0, run.laws.findIndex((law) => law.front.length));
    }
    const hasEnded = ENDED.has(run.status);
    const hasFront = run.laws.length > 0 && this.front.length > 0;
    this.parts.waiting.hidden = hasFront || hasEnded;
    this.parts.results.hidden = !hasFront;
    showState(this, hasFront);
    this.actions?.update(run, hasEnded);
    tellNews(before, run);
    if (hasFront) this.showResults();
    showNotes(this);
    showDetails(this);
    if (hasEnded) this.news.close();
  }

  showResults() {
    showSystem(this);
    showTabs(this);
    showEquations(this);
    showNoise(this);
    showFront(this);
    showMarkup(this.parts.learning, this.run.laws[this.law].learning_chart);
    showFits(this);
    showSure(this);
    showGroups(this);
    showCode(this);
  }

  pick(place) {
    this.picked.set(this.law, this.front[place].cost);
    this.showResults();
    announce(`Cost ${this.front[place].cost}: ${this.front[place].text}`);
  }

  compare(place) {
    this.other = place === null || this.other === this.front[place].cost ? null : this.front[place].cost;
    this.showResults();
  }

  // Request what belongs to a formula, only once; a different formula of the same cost is requested again.
  askOnce(place, path) {
    const hasEnded = ENDED.has(this.run.status); // outliers are known only at the end
    const key = `${path}/${this.front[place].text}/${this.front[place].loss}/${hasEnded}`;
    if (!this.answers.has(key)) this.answers.set(key, ask(`${this.path}/${path}`));
    return this.answers.get(key);
  }

  async stop() {
    const button = this.parts.stop;
    button.disabled = true;
    button.textContent = "Stopping …";
    try {
      await ask(`${this.path}/stop`, { method: "POST" });
      announce("The search was asked to stop.");
    } catch (error) {
      button.disabled = false;
      button.textContent = "Stop";
      showProblem(this, error.message);
    }
  }
}

// ---- the parts of the page ----

function buildParts(view) {
  const p = {
    state: make("span", { class: "pill" }),
    stop: make("button", { class: "stop", type: "button", onclick: () => view.stop(), hidden: true }, "Stop"),
    report: make("a", { class: "button", href: `${view.path}/report`, download: `${view.name}.html`, hidden: true }, "Download report"),
    facts: make("div", { class: "facts" }),
    progress: make("progress", { max: 1, "aria-label": "Time used", hidden: true }),
    problem: make("div", { class: "message bad", role: "alert", hidden: true }),
    lost: make("div", { class: "message bad", role: "alert", hidden: true }, "The server does not respond. Was it stopped in the terminal? The results are safe in the run file."),
    notes: make("div", { class: "message", role: "note", "aria-label": "Notes", hidden: true }), // must not be overlooked
    waiting: make("p", { class: "card soft" }, "The first formulas appear within seconds. The very first search on a machine compiles its kernels, which takes about half a minute."),
    system: make("section", { class: "card", "aria-labelledby": "system-title", hidden: true }),
    curves: make("div", { class: "pair", hidden: true }),
    searches: make("div", { hidden: true }, make("h2", {}, "The search for each equation"),
      make("p", { class: "soft" }, "Formulas as the searches found them, one equation at a time. The system above combines them, with its numbers fitted "
        + "to the trajectories for all equations together.")),
    tabs: make("div", { class: "tabs", role: "group", "aria-label": "Equations" }),
    equations: [makeEquation(view, "Formula"), makeEquation(view, "Formula to compare with")],
    units: make("p", { class: "soft noise", hidden: true }),
    noise: make("div", { class: "soft noise", role: "group", "aria-label": "Noise", hidden: true }),
    front: make("div", { role: "radiogroup", "aria-label": "Front: cost against loss. Arrow keys choose a formula." }),
    table: make("tbody"),
    figures: [makeFigures(), makeFigures()],
    learning: make("div"),
    sure: make("section", { class: "card sure", "aria-labelledby": "sure-title", hidden: true }),
    sureWords: make("div"),
    formats: make("div", { class: "tabs", role: "group", "aria-label": "Language" }),
    code: make("code"),
    copy: make("button", { type: "button", onclick: () => copyCode(view) }, "Copy"),
    save: make("a", { class: "button", download: true }, "Download"),
    groups: make("section", { class: "card", "aria-labelledby": "groups-title", hidden: true }),
    details: make("section", { class: "card" }),
  };
  const [first, second] = p.figures;
  p.second = make("div", { class: "pair", hidden: true }, makeFigure(second.fitTitle, second.fit, second.words), makeFigure(second.residualsTitle, second.residuals));
  p.sure.append(make("h2", { id: "sure-title" }, "How sure"), p.sureWords);
  p.results = make("div", { hidden: true },
    p.system, p.curves,
    make("section", { class: "card", "aria-label": "Best formula" }, p.searches, p.tabs, make("div", { class: "equations" }, p.equations.map((part) => part.root)), p.units, p.noise),
    make("div", { class: "pair" },
      makeFigure(make("h3", {}, "Front: accuracy against simplicity"), p.front, make("p", { class: "soft small" }, "The best formula of each cost. The ring marks the one shown; click another to see it.")),
      makeFigure(first.fitTitle, first.fit, first.words)),
    p.second,
    p.groups,
    make("section", { class: "card" }, make("h3", {}, "Formulas, from simple to accurate"), buildTable(p.table)),
    make("div", { class: "pair" },
      makeFigure(make("h3", {}, "Learning curve"), p.learning),
      makeFigure(first.residualsTitle, first.residuals)),
    p.sure,
    make("section", { class: "card" }, make("h3", {}, "Code"), p.formats,
      make("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "Code" }, p.code),
      make("p", { class: "row" }, p.copy, p.save)));
  p.root = make("div", {},
    make("div", { class: "run-head" }, make("h2", {}, view.name), p.state, make("div", { class: "actions" }, p.stop, p.report), view.actions?.root),
    p.facts, p.progress, p.problem, p.lost, p.notes, p.waiting, p.results, p.details);
  return p;
}

function makeEquation(view, label) {
  const part = {
    formula: new Equation(label),
    about: make("span"),
    action: make("button", { class: "quiet", type: "button", hidden: true }),
  };
  part.root = make("div", { class: "equation-part" }, part.formula.root, make("p", { class: "soft" }, part.about, " ", part.action));
  return part;
}

function makeFigures() {
  return { fitTitle: make("h3"), fit: make("div"), words: make("p", { class: "soft small" }), residualsTitle: make("h3"), residuals: make("div") };
}

function makeFigure(...children) {
  return make("section", { class: "card" }, children);
}

function buildTable(body) {
  const head = ["cost", "compare", "loss", "R²", "formula"].map((text, k) =>
    make("th", { scope: "col", class: k === 1 || k === 4 ? null : "number" }, text));
  return make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Formulas of the front" },
    make("table", { class: "front" }, make("thead", {}, make("tr", {}, head)), body));
}

// ---- state ----

function showState(view, hasFront) {
  const { run, parts } = view;
  const hasEnded = ENDED.has(run.status);
  const look = hasEnded ? (["failed", "died"].includes(run.status) ? "failed" : "finished") : "running";
  parts.state.textContent = STATES[run.status];
  parts.state.className = `pill ${look}`;
  parts.stop.hidden = hasEnded;
  parts.report.hidden = !hasEnded || !hasFront;
  const speed = run.seconds > 0 ? run.n_evaluations / run.seconds : 0;
  const facts = [
    run.question,
    run.seconds > 0 && `${formatSeconds(run.seconds)}${run.timeout && !hasEnded ? ` of ${formatSeconds(run.timeout)}` : ""}`,
    run.n_evaluations > 0 && `${count(run.n_evaluations, "formula")} tried`,
    !hasEnded && speed > 0 && `${Math.round(speed).toLocaleString("en")} per second`,
    hasEnded && run.reason && `Ended: ${run.reason}`,
  ];
  parts.facts.replaceChildren(...facts.filter(Boolean).map((text) => make("span", {}, text)));
  parts.progress.hidden = hasEnded || !run.timeout;
  if (run.timeout) parts.progress.value = Math.min(1, run.seconds / run.timeout);
  showProblem(view, run.error);
}

function showProblem(view, message) {
  view.parts.problem.hidden = !message;
  if (view.parts.problem.textContent !== message) view.parts.problem.textContent = message;
}

// Tell screen readers briefly what changed.
function tellNews(before, run) {
  const best = (any) => any?.laws.map((law) => law.front[law.chosen]?.text).join("; ");
  if (before && before.status !== run.status) announce(tellState(run));
  else if (best(run) && best(before) !== best(run)) announce(`Better formula: ${best(run)}`);
}

// A state and its reason as one sentence: "Finished: the time limit was reached."
function tellState(run) {
  const reason = ENDED.has(run.status) ? run.error || run.reason : "";
  return `${STATES[run.status]}${reason ? `: ${reason}` : ""}`.replace(/[^.!?]$/, "$&.");
}

// ---- formulas ----

async function showSystem(view) {
  const { run, parts } = view;
  parts.system.hidden = parts.searches.hidden = !run.system;
  const solved = run.solved ?? [];
  const shown = JSON.stringify([run.system, solved]);
  if (!run.system || parts.system.shown === shown) return;
  parts.system.shown = shown;
  const formulas = run.system.map((equation) => new Equation(equation.text));
  const rows = run.system.map((equation, k) => {
    return make("div", { class: "equation-part" }, formulas[k].root, equation.numbers && make("p", { class: "soft" }, `Numbers: ${equation.numbers}`));
  });
  const solutions = solved.map((equation) => new Equation(equation.text));
  const below = solved.length ? [make("h3", {}, "Solved for the rates"), ...solutions.map((each) => make("div", { class: "equation-part" }, each.root))] : [];
  const units = run.units ? [make("p", { class: "soft noise" }, run.units)] : [];
  parts.system.replaceChildren(make("h2", { id: "system-title" }, "The system"), ...rows, ...below, ...units);
  run.system.forEach((equation, k) => formulas[k].show(equation.mathml, equation.text));
  solved.forEach((equation, k) => solutions[k].show(equation.mathml, equation.text));
  const { curves, numbers } = await ask(`${view.path}/curves`).catch(() => ({ curves: [], numbers: "" }));
  if (parts.system.shown !== shown) return; // a later fit has replaced it
  if (numbers) {
    const figure = make("div", { class: "sure" });
    showMarkup(figure, numbers);
    parts.system.append(make("h3", {}, "How sure its numbers are"), figure);
  }
  parts.curves.hidden = !curves.length;
  parts.curves.replaceChildren(...curves.map(({ title, chart }) => {
    const drawing = make("div");
    showMarkup(drawing, chart);
    return makeFigure(make("h3", {}, title), drawing, make("p", { class: "soft small" }, make("i", { class: "key measured" }), " measured ", make("i", { class: "key found" }), " simulated"));
  }));
}

function showTabs(view) {
  const { run, parts } = view;
  parts.tabs.hidden = run.laws.length < 2;
  const focused = [...parts.tabs.children].indexOf(document.activeElement);
  parts.tabs.replaceChildren(...run.laws.map((law, k) => make("button", {
    type: "button", "aria-pressed": k === view.law ? "true" : "false", disabled: !law.front.length,
    onclick: () => { view.law = k; view.other = null; view.showResults(); },
  }, law.left)));
  if (focused >= 0) parts.tabs.children[focused].focus();
}

function showEquations(view) {
  const { parts, front, selected, compared } = view;
  const law = view.run.laws[view.law];
  const [first, second] = parts.equations;
  fillEquation(first, law, front[selected], selected === law.chosen);
  first.root.hidden = Boolean(view.run.system) && selected === law.chosen && compared === null; // it appears above, as part of the system
  first.action.hidden = selected === law.chosen;
  first.action.textContent = "Show the recommended formula";
  first.action.onclick = () => { view.picked.delete(view.law); view.showResults(); };
  second.root.hidden = compared === null;
  if (compared === null) return;
  fillEquation(second, law, front[compared], compared === law.chosen);
  second.action.hidden = false;
  second.action.textContent = "End the comparison";
  second.action.onclick = () => view.compare(null);
}

function fillEquation(part, law, point, isChosen) {
  const without = law.has_outliers ? " without the outliers" : "";
  const share = point.r2 === null ? "" : `, R² ${formatShare(point.r2)}${without}`;
  part.formula.show(point.mathml, `${law.left} = ${point.text}`);
  part.about.textContent = `${isChosen ? "Recommended: " : ""}cost ${point.cost}, loss ${formatNumber(point.loss)}${share}`;
}

// The units, the noise model and the outliers, in words.
function showNoise({ run, parts }) {
  parts.units.hidden = !run.units || Boolean(run.system); // the card of the system has them
  parts.units.textContent = run.units;
  parts.noise.hidden = !run.noise.length;
  parts.noise.replaceChildren(...run.noise.map((line) => make("p", {}, line)));
}

// R2 with as many nines as there are, because 0.99999 is not 1.
function formatShare(value) {
  if (value === null) return "–";
  if (value >= 1) return "1";
  if (value < 1e-4) return value < -1 ? "below 0" : "0";
  if (value < 0.999) return value.toFixed(4);
  return value.toFixed(Math.min(12, Math.ceil(-Math.log10(1 - value)) + 1));
}

function showFront(view) {
  const { parts, front, selected, compared } = view;
  const law = view.run.laws[view.law];
  const hadFocus = parts.front.contains(document.activeElement);
  showMarkup(parts.front, law.front_chart);
  parts.front.querySelectorAll("[role=radio]").forEach((spot, k) => {
    spot.setAttribute("aria-checked", k === selected ? "true" : "false");
    spot.setAttribute("tabindex", k === selected ? "0" : "-1");
    spot.classList.toggle("compared", k === compared);
    spot.onclick = () => view.pick(k);
    spot.onkeydown = (event) => moveAlong(event, view, k);
  });
  if (hadFocus) parts.front.querySelector("[tabindex='0']")?.focus();
  const focused = document.activeElement?.dataset?.key;
  parts.table.closest("table").classList.toggle("no-shares", front.every((point) => point.r2 === null));
  parts.table.replaceChildren(...front.map((point, k) => makeRow(view, point, k)));
  keepInView(parts.table, selected);
  if (focused) parts.table.querySelector(`[data-key="${focused}"]`)?.focus();
}

// Scroll only the table to the row that is shown, if it changed.
function keepInView(table, place) {
  const row = table.children[place];
  if (table.shownPlace === place || !row?.offsetParent) return;
  table.shownPlace = place;
  const frame = table.closest(".scroll");
  frame.scrollTop = row.offsetTop - (frame.clientHeight - row.offsetHeight) / 2;
}

function moveAlong(event, view, place) {
  if (!(event.key in STEPS)) return;
  event.preventDefault();
  view.pick(Math.min(view.front.length - 1, Math.max(0, place + STEPS[event.key])));
}

function makeRow(view, point, k) {
  const law = view.run.laws[view.law];
  const formula = make("span");
  showMarkup(formula, point.inline, point.text);
  return make("tr", { class: k === view.selected ? "selected" : null, onclick: (event) => { if (!event.target.closest("button, input")) view.pick(k); } },
    make("td", { class: "number" }, make("button", {
      class: "pick", type: "button", "data-key": `pick-${point.cost}`, "aria-pressed": k === view.selected ? "true" : "false",
      "aria-label": `Show the formula of cost ${point.cost}`, onclick: () => view.pick(k),
    }, String(point.cost))),
    make("td", {}, make("input", {
      type: "checkbox", "data-key": `compare-${point.cost}`, checked: k === view.compared, disabled: k === view.selected,
      "aria-label": `Compare with the formula of cost ${point.cost}`, onchange: () => view.compare(k),
    })),
    make("td", { class: "number" }, formatNumber(point.loss)),
    make("td", { class: "number share" }, formatShare(point.r2)),
    make("td", { class: "formula" }, formula, k === law.chosen && [" ", make("span", { class: "badge" }, view.run.system ? "used in the system above" : "recommended")]));
}

// ---- fits ----

async function showFits(view) {
  const { law, selected, compared, parts } = view;
  parts.second.hidden = compared === null;
  const places = compared === null ? [selected] : [selected, compared];
  await Promise.all(places.map(async (place, k) => {
    const { cost } = view.front[place];
    const fit = await view.askOnce(place, `fit?law=${law}&cost=${cost}`).catch(() => null);
    const isOld = view.law !== law || view.selected !== selected || view.compared !== compared;
    if (fit && !isOld) showFigures(parts.figures[k], fit, places.length > 1); // without an answer, a better formula has replaced it
  }));
}

function showFigures(figures, fit, isOneOfTwo) {
  const which = isOneOfTwo ? ` of cost ${fit.cost}` : "";
  figures.fitTitle.textContent = `Fit${which}`;
  figures.residualsTitle.textContent = `Residuals${which}`;
  showMarkup(figures.fit, fit.fit);
  showMarkup(figures.residuals, fit.residuals);
  figures.words.textContent = fit.words;
}

// How sure the formula of a table is: numbers, bands, rivals, residuals. A system has the intervals of its numbers instead.
async function showSure(view) {
  const { selected, law, parts, run } = view;
  if (run.kind !== "regression") return;
  const sure = await view.askOnce(selected, `sure?cost=${view.front[selected].cost}`).catch(() => null);
  if (view.selected !== selected || view.law !== law) return;
  parts.sure.hidden = !sure;
  if (sure) showMarkup(parts.sureWords, sure.markup);
}

// ---- code and details ----

async function showCode(view) {
  const { parts, selected, law, format } = view;
  const focused = [...parts.formats.children].indexOf(document.activeElement);
  parts.formats.replaceChildren(...view.run.formats.map((name) => make("button", {
    type: "button", "aria-pressed": name === format ? "true" : "false", onclick: () => { view.format = name; showCode(view); },
  }, LANGUAGES[name] ?? name)));
  if (focused >= 0) parts.formats.children[focused].focus();
  const isWhole = view.run.system && selected === view.run.laws[law].chosen; // the whole system, unless a single formula was picked
  const path = isWhole ? `code?format=${format}` : `code?law=${law}&cost=${view.front[selected].cost}&format=${format}`;
  parts.save.href = `${view.path}/${path}&save=1`;
  const answer = await view.askOnce(selected, path).catch((error) => ({ code: error.message }));
  if (view.selected === selected && view.law === law && view.format === format) parts.code.textContent = answer.code;
}

async function copyCode(view) {
  const { copy, code } = view.parts;
  try {
    await navigator.clipboard.writeText(code.textContent);
    copy.textContent = "Copied";
    announce("The code is on the clipboard.");
  } catch {
    copy.textContent = "Select the text to copy it";
  }
  setTimeout(() => { copy.textContent = "Copy"; }, 2000);
}

function showNotes({ run, parts }) {
  parts.notes.hidden = !run.notes.length;
  parts.notes.replaceChildren(...run.notes.map((note) => make("p", {}, note)));
}

function showDetails(view) {
  const { run, parts } = view;
  const isOpen = parts.details.querySelector("details")?.open;
  parts.details.replaceChildren(make("details", { open: isOpen }, make("summary", {}, "Details"),
    run.rules && [make("h3", {}, "Rules of the search"), make("pre", { class: "code", tabindex: 0 }, run.rules)],
    run.command && [make("h3", {}, "The same on the command line"), make("pre", { class: "code", tabindex: 0 }, run.command)],
    make("p", { class: "soft small" }, `Run file: ${run.file}`)));
}
