// Actions for a run of the studio that has ended: continue, search again with changes, rename, delete. Each opens a dialog first.

import { ask, formatSeconds, make } from "./dom.js";

const DEFAULT_SECONDS = 60; // where a run had no time limit

export class RunActions {
  constructor(name, { onContinued, onRenamed, onDeleted }) {
    this.name = name;
    this.path = `api/runs/${encodeURIComponent(name)}`;
    const repeat = make("a", { class: "button", href: `#again=${encodeURIComponent(name)}` }, "Search again …");
    this.seconds = make("input", { type: "number", min: 1, step: "any", value: DEFAULT_SECONDS, inputmode: "decimal" });
    this.newName = make("input", { type: "text", value: name, autocomplete: "off", spellcheck: "false" });
    const forward = new Question("Continue the search", "Continue", [
      make("p", {}, "The search continues where it ended, with the same settings."),
      make("label", { class: "field" }, "For another ", this.seconds, " seconds"),
    ], () => ask(`${this.path}/continue`, { method: "POST", json: { seconds: this.seconds.valueAsNumber } }).then(onContinued));
    const rename = new Question("Rename the run", "Rename", [
      make("label", { class: "field" }, "New name ", this.newName),
    ], () => ask(`${this.path}/rename`, { method: "POST", json: { name: this.newName.value } }).then((answer) => onRenamed(answer.name)));
    const remove = new Question("Delete the run?", "Delete", [
      make("p", {}, "This deletes the run file of ", make("strong", {}, name), " with all its results, and cannot be undone. The data file stays."),
    ], () => ask(this.path, { method: "DELETE" }).then(onDeleted), { isDangerous: true });
    this.buttons = {
      forward: forward.makeButton("Continue …"), repeat, rename: rename.makeButton("Rename …"), remove: remove.makeButton("Delete …"),
    };
    this.root = make("div", { class: "actions", hidden: true }, Object.values(this.buttons), forward.dialog, rename.dialog, remove.dialog);
  }

  update(run, hasEnded) {
    this.root.hidden = !hasEnded;
    this.buttons.forward.hidden = !run.can_continue;
    this.buttons.forward.title = run.timeout ? `Its time limit was ${formatSeconds(run.timeout)}.` : "";
    this.buttons.repeat.hidden = !run.can_repeat;
    if (run.timeout && !this.hasSeconds) {
      this.seconds.value = run.timeout; // as long again; never overwrites what the user typed
      this.hasSeconds = true;
    }
  }
}

// A dialog that confirms an action and shows errors of the server.
class Question {
  constructor(title, verb, body, act, { isDangerous = false } = {}) {
    this.act = act;
    this.problem = make("div", { class: "message bad", role: "alert", hidden: true });
    this.submit = make("button", { class: isDangerous ? "stop" : "main", type: "submit" }, verb);
    const cancel = make("button", { type: "button", onclick: () => this.dialog.close() }, "Cancel");
    const form = make("form", { novalidate: true, onsubmit: (event) => this.go(event) },
      make("h3", {}, title), body, this.problem, make("p", { class: "row" }, this.submit, cancel));
    this.dialog = make("dialog", { "aria-label": title }, form);
  }

  makeButton(words) {
    return make("button", { type: "button", onclick: () => { this.problem.hidden = true; this.dialog.showModal(); } }, words);
  }

  async go(event) {
    event.preventDefault();
    this.submit.disabled = true;
    this.problem.hidden = true;
    try {
      await this.act();
      this.dialog.close();
    } catch (error) {
      this.problem.textContent = error.message;
      this.problem.hidden = false;
    } finally {
      this.submit.disabled = false;
    }
  }
}
