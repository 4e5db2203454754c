"use strict";
// A formula of a front is shown by a click, by the arrow keys or by its row of the table. Without this script all are shown.

function show(search, point, takeFocus) {
  for (const other of search.querySelectorAll('[role="radio"]')) {
    const isShown = other === point;
    other.setAttribute("aria-checked", String(isShown));
    other.setAttribute("tabindex", isShown ? "0" : "-1");
    document.getElementById(other.dataset.panel).hidden = !isShown;
  }
  for (const row of search.querySelectorAll("tr[data-panel]")) {
    const isShown = row.dataset.panel === point.dataset.panel;
    row.classList.toggle("is-shown", isShown);
    row.querySelector("button").setAttribute("aria-pressed", String(isShown));
  }
  search.querySelector('[role="status"]').textContent = "Shown: " + point.getAttribute("aria-label");
  if (takeFocus) point.focus();
}

function neighbour(points, at, key) {
  const last = points.length - 1;
  if (key === "ArrowRight" || key === "ArrowDown") return points[Math.min(at + 1, last)];
  if (key === "ArrowLeft" || key === "ArrowUp") return points[Math.max(at - 1, 0)];
  if (key === "Home") return points[0];
  if (key === "End") return points[last];
  if (key === " " || key === "Enter") return points[at];
  return null;
}

for (const search of document.querySelectorAll("[data-search]")) {
  const points = [...search.querySelectorAll('[role="radio"]')];
  points.forEach((point, at) => {
    point.addEventListener("click", () => show(search, point, true));
    point.addEventListener("keydown", (event) => {
      const next = event.altKey || event.ctrlKey || event.metaKey ? null : neighbour(points, at, event.key);
      if (!next) return;
      event.preventDefault();
      show(search, next, true);
    });
  });
  for (const row of search.querySelectorAll("tr[data-panel]")) {
    row.addEventListener("click", () => {
      if (String(getSelection())) return; // somebody copies a formula
      show(search, points.find((point) => point.dataset.panel === row.dataset.panel), false);
    });
  }
}

async function copy(button) {
  const text = document.getElementById(button.dataset.copies).textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

for (const button of document.querySelectorAll("button[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
