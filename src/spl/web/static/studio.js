// The page of `spl studio`: a form for a new search, and the runs in the folder.

import { Columns, showFirstRows } from "./columns.js";
import { announce, ask, count, make } from "./dom.js";
import { RulesEditor } from "./rules.js";
import { RunView, STATES } from "./run.js";
import { RunActions } from "./run_actions.js";

const REFRESH = 2000; // milliseconds between two updates of the list of runs
const MEGABYTE = 1_000_000;
const find = (id) => document.getElementById(id);
const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`).value;

const studio = await ask("api/studio");
let view = null; // of the run that is shown
let tablesAsked = 0;

const columns = new Columns(find("columns"), () => { checkWithColumns(); changeUnits(); }, changeUnits);
const rules = new RulesEditor({
  field: find("rules"), marks: find("rules-marks"), frame: find("editor"), message: find("rules-message"),
  columns: () => ({ ...usable(), order: currentOrder(), implicit: isImplicit() }),
});

const statements = new RulesEditor({
  field: find("statements"), marks: find("statements-marks"), frame: find("statements-editor"), message: find("statements-message"),
  columns: () => ({ ...usable(), target: columns.named("target")[0] ?? null }), route: "api/statements", name: "statements",
});

const form = new RulesEditor({
  field: find("form-text"), marks: find("form-marks"), frame: find("form-editor"), message: find("form-message"),
  columns: () => usable(), route: "api/form", name: "form",
});

const known = new RulesEditor({
  field: find("known"), marks: find("known-marks"), frame: find("known-editor"), message: find("known-message"),
  columns: () => ({ kind: chosen("kind"), ...columns.usable(), ...wholeOf(), order: currentOrder(), discrete: isMap(), units: givenUnits() }),
  route: "api/units", name: "known", onanswer: (answer) => columns.markUnit(answer.of ?? null),
});

// ---- data ----

async function takeFile(file) {
  if (!file) return;
  if (file.size > studio.max_megabytes * MEGABYTE) {
    refuseTable(`'${file.name}' has ${(file.size / MEGABYTE).toFixed(1)} MB; the limit is ${studio.max_megabytes} MB. `
      + "Leave out rows or columns, or start the studio with a higher --max-megabytes.");
    return;
  }
  find("missing").value = "";
  await takeTable(() => ask(`api/data/${encodeURIComponent(file.name)}`, { method: "PUT", body: file }));
  find("file").value = "";
}

// Request a table and show it. If it cannot be read, show none, so that nobody searches the previous one by mistake.
async function takeTable(askForIt) {
  showProblem("data-problem", "");
  tablesAsked += 1;
  const asked = tablesAsked;
  find("drop").setAttribute("aria-busy", "true");
  try {
    const table = await askForIt();
    if (asked === tablesAsked) showTable(table);
    return asked === tablesAsked;
  } catch (error) {
    if (asked === tablesAsked) refuseTable(error.message);
    return false;
  } finally {
    find("drop").removeAttribute("aria-busy");
  }
}

function refuseTable(message) {
  tablesAsked += 1; // ignore an answer that is still on its way
  columns.clear();
  find("data-view").hidden = find("missing-part").hidden = find("rest").hidden = true;
  find("drop").classList.remove("small");
  showProblem("data-problem", message);
}

function showTable(table) {
  showProblem("start-problem", "");
  find("data-view").replaceChildren(showFirstRows(table));
  find("data-view").hidden = find("missing-part").hidden = find("rest").hidden = false;
  find("drop").classList.add("small");
  columns.take(table);
  if (table.time) document.querySelector('input[name="kind"][value="dynamics"]').checked = true;
  changeKind();
  announce(`${table.name}: ${count(table.n_rows, "row")}, ${count(table.columns.length, "column")}.`);
}

// Texts that the user wants to read as missing, besides the usual ones.
function missingTexts() {
  return find("missing").value.split(",").map((text) => text.trim()).filter(Boolean);
}

function missingWords() {
  return new URLSearchParams(missingTexts().map((text) => ["missing", text]));
}

async function readAgain() {
  showProblem("data-problem", "");
  try {
    const table = await ask(`api/data/${encodeURIComponent(columns.table.name)}?${missingWords()}`);
    find("data-view").replaceChildren(showFirstRows(table));
    columns.update(table);
  } catch (error) {
    showProblem("data-problem", error.message);
  }
}

function showProblem(id, message) {
  find(id).textContent = message;
  find(id).hidden = !message;
}

// ---- what to find ----

function currentOrder() {
  return chosen("kind") === "dynamics" ? Number(find("order").value) : 1;
}

function isImplicit() {
  return chosen("kind") === "dynamics" && find("implicit").value !== "no";
}

function changeKind() {
  const isDynamics = chosen("kind") === "dynamics";
  columns.setKind(chosen("kind"), isMap());
  find("dynamics-options").hidden = !isDynamics;
  find("law-options").hidden = find("shapes-part").hidden = find("form-part").hidden = isDynamics;
  if (chosen("allowed") === "rules") rules.check();
  changeUnits();
}

// The columns that formulas may use, and the named constants.
function usable() {
  if (!hasUnits()) return columns.usable();
  const names = lines(known.text, "\n").map((line) => line.split("=")[0].trim()).filter(Boolean);
  const { columns: measured, inputs } = columns.usable();
  return inputs ? { columns: measured, inputs: [...inputs, ...names] } : { columns: [...measured, ...names] };
}

function checkWithColumns() {
  rules.check();
  if (statements.text.trim()) statements.check();
  if (form.text.trim()) form.check();
}

// ---- units ----

// Units count if every column in use has one, and nothing is in the way.
function hasUnits() {
  return areUnitsTyped() && !hasGroups() && !isImplicit() && !columns.withoutUnit().length;
}

function areUnitsTyped() {
  return columns.table !== null && Object.keys(columns.givenUnits()).length > 0;
}

function hasGroups() {
  return chosen("kind") === "law" && columns.named("group").length > 0;
}

function isMap() {
  return chosen("kind") === "dynamics" && find("discrete").checked;
}

// The target of a law, or the times of a system; a map has none.
function wholeOf() {
  if (chosen("kind") === "law") return { target: columns.named("target")[0] ?? null };
  return { time: isMap() ? null : columns.named("time")[0] ?? null };
}

// What keeps the units that are typed from being used.
function whyNoUnits() {
  if (!areUnitsTyped() || hasUnits()) return "";
  if (isImplicit()) return "The units are not used yet: they cannot be combined with rates on both sides.";
  if (hasGroups()) return "The units are not used yet: they cannot be combined with groups. To use them, give the grouping columns another role.";
  return `The units are not used yet, because some are missing: ${columns.withoutUnit().join(", ")}. Write 1 for a pure number.`;
}

// The units of a law or a system; null if there are none.
function givenUnits() {
  if (!hasUnits()) return null;
  const ofColumns = columns.givenUnits();
  const [[role, whole]] = Object.entries(wholeOf());
  const ofWhole = ofColumns[whole] ?? null;
  delete ofColumns[whole];
  return { columns: ofColumns, [role]: ofWhole, known: lines(known.text, "\n"), are_numbers_free: find("number-units").value === "any" };
}

function changeUnits() {
  if (!columns.table) return;
  find("units-part").hidden = !hasUnits();
  showProblem("units-note", whyNoUnits());
  if (!hasUnits()) columns.markUnit(null);
  if (hasUnits()) known.checkSoon();
}

function lines(text, separator) {
  return text.split(separator).map((line) => line.trim()).filter(Boolean);
}

function showOperators() {
  const groups = Object.entries(studio.operators).map(([words, names]) => make("fieldset", {}, make("legend", {}, words),
    names.map((name) => make("label", {}, make("input", { type: "checkbox", name: "operator", value: name, checked: studio.ticked.includes(name) }), ` ${name}`))));
  find("operators").replaceChildren(...groups);
}

function ticked() {
  return [...document.querySelectorAll('input[name="operator"]:checked')].map((box) => box.value);
}

async function writeRules() {
  const { text } = rules;
  try {
    const json = { operators: ticked(), ...usable(), order: currentOrder(), implicit: isImplicit(), constants: find("constants").checked };
    const answer = await ask("api/rules/of-operators", { method: "POST", json });
    if (rules.text === text) rules.text = answer.rules; // otherwise the user has begun to write rules
  } catch (error) {
    rules.show({ is_right: false, message: error.message, line: null });
  }
}

function changeAllowed() {
  const isRules = chosen("allowed") === "rules";
  find("operators-part").hidden = isRules;
  find("rules-part").hidden = !isRules;
  if (!isRules) return;
  if (rules.text.trim()) rules.check();
  else writeRules();
}

// ---- start ----

function wholeRequest() {
  const kind = chosen("kind");
  const one = (role) => columns.named(role)[0] ?? null;
  const sought = kind === "law"
    ? {
      target: one("target"), features: columns.named("feature"), weights: one("weights"), sigma: one("sigma"), sigma_x: columns.errorBars(),
      noise: find("noise").value, groups: columns.named("group"),
      knowledge: lines(statements.text, "\n"), bounds: lines(find("bounds").value, ","),
    }
    : {
      time: one("time"), states: columns.named("state"), inputs: columns.named("input"), group: one("group"),
      order: currentOrder(), weak: find("weak").checked, discrete: find("discrete").checked,
      implicit: find("implicit").value === "auto" ? "auto" : find("implicit").value === "yes",
    };
  const allowed = chosen("allowed") === "rules" ? { rules: rules.text } : { operators: ticked() };
  if (kind === "law") {
    allowed.form = form.text.trim() || null;
    allowed.guesses = lines(find("guesses").value, "\n");
  }
  const constants = find("constants").checked;
  const limits = { timeout: find("timeout").valueAsNumber, jobs: find("jobs").valueAsNumber, seed: find("seed").valueAsNumber };
  return { kind, data: columns.table.name, missing: missingTexts(), ...sought, units: givenUnits(), ...allowed, constants, ...limits };
}

async function start(event) {
  event.preventDefault();
  showProblem("start-problem", "");
  find("start").disabled = true;
  try {
    const { name } = await ask("api/searches", { method: "POST", json: wholeRequest() });
    await showRuns();
    location.hash = `#run=${encodeURIComponent(name)}`;
  } catch (error) {
    showProblem("start-problem", error.message);
  } finally {
    find("start").disabled = false;
  }
}

// ---- search again ----

// Fill the form with the request of an earlier run.
async function fillForm(name) {
  let request;
  const isThere = await takeTable(async () => {
    request = await ask(`api/runs/${encodeURIComponent(name)}/request`);
    find("missing").value = (request.missing ?? []).join(", "); // not stored by older versions
    return ask(`api/data/${encodeURIComponent(request.data)}?${missingWords()}`);
  });
  if (!isThere) return;
  const one = (column) => (column === null ? [] : [column]);
  const roles = request.kind === "law"
    ? { feature: request.features, target: one(request.target), weights: one(request.weights), sigma: one(request.sigma ?? null), group: request.groups ?? [] }
    : { state: request.states, input: request.inputs, time: one(request.time), group: one(request.group) };
  choose("kind", request.kind);
  const units = request.units ?? { columns: {}, known: [], are_numbers_free: false };
  const ofWhole = request.kind === "law" ? { [request.target]: units.target ?? "" } : { [request.time]: units.time ?? "" };
  columns.recall(request.kind, roles, request.sigma_x ?? {}, { ...units.columns, ...ofWhole });
  known.field.value = units.known.join("\n");
  find("number-units").value = units.are_numbers_free ? "any" : "pure";
  find("noise").value = request.noise ?? "auto";
  statements.text = (request.knowledge ?? []).join("\n");
  find("bounds").value = (request.bounds ?? []).join(", ");
  find("shapes-part").open = Boolean(request.knowledge?.length);
  form.text = request.form ?? "";
  find("guesses").value = (request.guesses ?? []).join("\n");
  find("form-part").open = Boolean(request.form || request.guesses?.length);
  find("order").value = String(request.order ?? 1);
  find("weak").checked = Boolean(request.weak);
  find("discrete").checked = Boolean(request.discrete);
  find("implicit").value = request.implicit === "auto" ? "auto" : request.implicit ? "yes" : "no";
  find("constants").checked = request.constants;
  if (request.rules === null) document.querySelectorAll('input[name="operator"]').forEach((box) => { box.checked = request.operators.includes(box.value); });
  else rules.text = request.rules;
  choose("allowed", request.rules === null ? "operators" : "rules");
  for (const limit of ["timeout", "jobs", "seed"]) find(limit).value = request[limit];
  changeKind();
  changeAllowed();
  find("form-note").textContent = `The form has the settings of ${name}. Change what you like: this starts a new run, and ${name} stays as it is.`;
  find("form-note").hidden = false;
  announce(`The form has the settings of ${name}.`);
}

function choose(name, value) {
  document.querySelector(`input[name="${name}"][value="${value}"]`).checked = true;
}

// ---- runs ----

async function showRuns() {
  let runs;
  try {
    ({ runs } = await ask("api/runs"));
  } catch {
    return; // the page of the run says so
  }
  const current = currentRun();
  const focused = document.activeElement?.closest("#runs a")?.hash;
  find("runs").replaceChildren(...runs.map(({ name, status }) => make("li", {}, make("a", {
    href: `#run=${encodeURIComponent(name)}`, "aria-current": name === current ? "page" : null,
  }, name, make("small", {}, STATES[status])))));
  if (focused) [...find("runs").querySelectorAll("a")].find((link) => link.hash === focused)?.focus();
}

function currentRun(kind = "run") {
  const match = new RegExp(`^#${kind}=(.+)$`).exec(location.hash);
  return match ? decodeURIComponent(match[1]) : null;
}

function makeActions(name) {
  return new RunActions(name, {
    onContinued: () => { view.follow(); showRuns(); },
    onRenamed: (newName) => { location.hash = `#run=${encodeURIComponent(newName)}`; },
    onDeleted: () => { location.hash = ""; announce(`${name} was deleted.`); },
  });
}

function showPlace() {
  const name = currentRun();
  view?.close();
  view = name ? new RunView(find("run"), name, makeActions(name)) : null;
  find("form-note").hidden = true;
  if (currentRun("again")) fillForm(currentRun("again"));
  find("form").hidden = Boolean(name);
  find("run").hidden = !name;
  document.title = name ? `${name} – spl studio` : "spl studio";
  window.scrollTo(0, 0);
  find("main").focus({ preventScroll: true });
  showRuns();
}

// ---- start of the page ----

find("folder").textContent = studio.folder;
find("limit").textContent = studio.max_megabytes;
find("jobs").value = studio.jobs;
find("timeout").value = studio.timeout;
showOperators();
find("file").addEventListener("change", (event) => takeFile(event.target.files[0]));
for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, (event) => event.preventDefault()); // a file dropped outside the field must not replace the page
}
find("missing").addEventListener("change", readAgain);
find("drop").addEventListener("dragover", () => find("drop").classList.add("over"));
find("drop").addEventListener("dragleave", () => find("drop").classList.remove("over"));
find("drop").addEventListener("drop", (event) => {
  find("drop").classList.remove("over");
  takeFile(event.dataTransfer.files[0]);
});
document.querySelectorAll('input[name="kind"]').forEach((box) => box.addEventListener("change", changeKind));
document.querySelectorAll('input[name="allowed"]').forEach((box) => box.addEventListener("change", changeAllowed));
find("known").addEventListener("change", checkWithColumns);
find("number-units").addEventListener("change", () => known.check());
find("units-clear").addEventListener("click", () => { columns.clearUnits(); find("columns").querySelector("input.unit")?.focus(); });
for (const id of ["order", "implicit"]) find(id).addEventListener("change", () => { rules.check(); changeUnits(); });
find("discrete").addEventListener("change", changeKind);
find("rules-reset").addEventListener("click", writeRules);
find("form").addEventListener("submit", start);
find("new-search").addEventListener("click", () => { location.hash = ""; });
window.addEventListener("hashchange", showPlace);
showPlace();
takeFile(find("file").files[0]); // chosen before this script was loaded
setInterval(() => { if (!document.hidden) showRuns(); }, REFRESH);
