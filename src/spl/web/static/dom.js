// Shared by all pages: elements, readable numbers, requests to the server.

// Make an element: `make("p", {class: "soft"}, "text", child)`. Handlers are given as `onclick: f`; null and false are left out.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Put MathML or a chart from the server into an element; plain text if there is none.
export function showMarkup(element, markup, text = "") {
  if (element.markup === markup) return;
  element.markup = markup;
  const root = new DOMParser().parseFromString(markup || "", "text/html").body.firstElementChild;
  if (root) element.replaceChildren(document.importNode(root, true));
  else element.textContent = text;
}

export function formatNumber(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(Math.min(digits - 1, 2)).replace("e+", "e").replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(digits)));
}

// Return a number with its noun: "1 row", "1,200 rows".
export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

export function formatSeconds(seconds) {
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 6000) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

// Ask the server; an error response becomes an Error with the server's message.
export async function ask(path, { method = "GET", json, body } = {}) {
  const headers = json === undefined ? {} : { "content-type": "application/json" };
  let response;
  try {
    response = await fetch(path, { method, headers, body: json === undefined ? body : JSON.stringify(json) });
  } catch {
    throw new Error("The server does not respond. Was it stopped in the terminal?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || `The server answered with status ${response.status}.`);
  return answer;
}

export function announce(text) {
  const news = document.getElementById("news");
  if (news && news.textContent !== text) news.textContent = text;
}
