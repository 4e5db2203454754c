// Equations that fit the page: a sum breaks into lines between its terms; what is still too wide shrinks, and what is too wide even
// then scrolls sideways, with a hint.

import { make } from "./dom.js";

const SMALLEST = 0.75; // of the usual size
const SUM = ["+", "−", "-", "="];
const PRODUCT = ["·", "×", "\u2062"]; // the last is the invisible times sign
const MATHML = "http://www.w3.org/1998/Math/MathML";

export class Equation {
  constructor(label) {
    this.formula = make("div", { class: "equation", tabindex: 0, role: "region", "aria-label": label });
    this.hint = make("p", { class: "soft small hint", hidden: true }, "The formula continues: scroll sideways →");
    this.root = make("div", {}, this.formula, this.hint);
    this.width = 0;
    new ResizeObserver(() => { if (this.formula.clientWidth !== this.width) this.fit(); }).observe(this.formula);
  }

  // Show MathML from the server; plain text if there is none.
  show(markup, text) {
    if (this.markup === markup) return;
    this.markup = markup;
    const math = new DOMParser().parseFromString(markup || "", "text/html").body.firstElementChild;
    this.formula.replaceChildren(...(math ? breakLines(math) : [text]));
    this.fit();
  }

  fit() {
    const { formula } = this;
    this.width = formula.clientWidth;
    formula.style.fontSize = "";
    formula.classList.remove("loose");
    if (!this.width) return; // it is not on the page
    if (this.width < SMALLEST * formula.scrollWidth) formula.classList.add("loose"); // lines may end inside terms
    if (formula.scrollWidth > this.width) formula.style.fontSize = `${Math.max(SMALLEST, (0.98 * this.width) / formula.scrollWidth)}em`;
    this.hint.hidden = formula.scrollWidth <= this.width + 1;
  }
}

// Return an equation as pieces between which a line may break: `y =`, the first term, and each further term with its sign. A term that
// is too long for one line breaks between two factors.
function breakLines(math) {
  const terms = [[]];
  for (const element of flatten([...math.children], SUM)) {
    const sign = signOf(element);
    if (SUM.includes(sign) && sign !== "=" && terms.at(-1).length) terms.push([]);
    terms.at(-1).push(element);
    if (sign === "=") terms.push([]);
  }
  const all = terms.filter((term) => term.length);
  return all.flatMap((term, k) => {
    const isFirst = k === 0 || signOf(all[k - 1].at(-1)) === "=";
    return [make("span", { class: "term" }, breakTerm(term, !isFirst)), " "];
  });
}

function breakTerm(elements, hasSign) {
  const pieces = [[]];
  for (const element of flatten(elements, PRODUCT)) {
    if (PRODUCT.includes(signOf(element))) pieces.push([]);
    pieces.at(-1).push(element);
  }
  return pieces.map((piece, k) => wrap(piece, k > 0 || hasSign));
}

function signOf(element) {
  return element.localName === "mo" ? element.textContent.trim() : "";
}

// Return the elements of rows with one of these signs as a flat list, however they are nested; brackets and powers of ten stay intact.
function flatten(elements, signs) {
  return elements.flatMap((element) => {
    const inner = [...element.children];
    const isRow = element.localName === "mrow" && inner.some((child) => signs.includes(signOf(child)));
    const isWhole = inner[0]?.textContent === "(" || inner.some((child) => child.localName === "msup" && child.textContent.startsWith("10"));
    return isRow && !isWhole ? flatten(inner, signs) : [element];
  });
}

function wrap(elements, beginsWithSign) {
  const math = document.createElementNS(MATHML, "math");
  math.setAttribute("displaystyle", "true");
  const copies = elements.map((element) => document.importNode(element, true));
  if (beginsWithSign) copies[0].setAttribute("form", "infix"); // keeps the space around a leading sign
  math.append(...copies);
  return math;
}
