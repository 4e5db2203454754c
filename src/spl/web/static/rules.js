// The editor for rules, statements, forms and named constants: the server checks them as the user types, and the place of a mistake is marked.

import { ask, make } from "./dom.js";

const PAUSE = 250; // milliseconds without a key before rules are checked

export class RulesEditor {
  constructor({ field, marks, frame, message, columns, route = "api/rules", name = "rules", onanswer = () => {} }) {
    this.route = route;
    this.name = name;
    this.field = field;
    this.marks = marks;
    this.frame = frame;
    this.message = message;
    this.columns = columns; // () => {columns, order}
    this.onanswer = onanswer; // called with what the server says
    this.timer = 0;
    this.asked = 0;
    field.addEventListener("input", () => this.checkSoon());
    field.addEventListener("scroll", () => { marks.scrollTop = field.scrollTop; });
    new ResizeObserver(() => { marks.style.height = `${field.offsetHeight}px`; }).observe(field);
  }

  get text() {
    return this.field.value;
  }

  set text(value) {
    this.field.value = value;
    this.check();
  }

  checkSoon() {
    this.mark(null);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PAUSE);
  }

  async check() {
    clearTimeout(this.timer);
    this.asked += 1;
    const { asked } = this;
    let answer;
    try {
      answer = await ask(this.route, { method: "POST", json: { [this.name]: this.text, ...this.columns() } });
    } catch (error) {
      answer = { is_right: false, message: error.message, line: null };
    }
    if (asked === this.asked) this.show(answer); // otherwise the user kept typing, and a newer answer follows
  }

  show(answer) {
    this.onanswer(answer);
    const isWrong = !answer.is_right && !answer.of; // a mistake of another field is marked there
    this.frame.classList.toggle("wrong", isWrong);
    this.field.setAttribute("aria-invalid", isWrong ? "true" : "false");
    this.message.className = `message ${answer.is_right ? "good" : "bad"}`;
    this.mark(answer.is_right ? null : answer);
    if (answer.is_right) {
      this.message.replaceChildren(make("pre", { class: "small mono" }, answer.explanation));
      return;
    }
    const place = answer.line && make("button", { type: "button", class: "quiet", onclick: () => this.goTo(answer) }, `Line ${answer.line}, column ${answer.column}:`);
    this.message.replaceChildren(...[place, place && " ", answer.message].filter(Boolean));
  }

  // Mark the word at a place of the text behind the field.
  mark(place) {
    const { text } = this;
    if (!place?.line) {
      this.marks.replaceChildren(`${text}\n`);
      return;
    }
    const start = this.offsetOf(place);
    const word = /^[^\s|()+\-*/,]+|^./.exec(text.slice(start))?.[0] ?? "";
    this.marks.replaceChildren(text.slice(0, start), make("mark", {}, word || " "), `${text.slice(start + word.length)}\n`);
  }

  // Columns count code points, as the server does; the field counts UTF-16 units.
  offsetOf({ line, column }) {
    const lines = this.text.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
  }

  goTo(place) {
    const start = this.offsetOf(place);
    this.field.focus();
    this.field.setSelectionRange(start, start);
  }
}
