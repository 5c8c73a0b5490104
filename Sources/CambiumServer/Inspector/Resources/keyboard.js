// The keys. Views add theirs while they are shown; `?` lists all that are in force.

import { h, button, fill } from "./dom.js";

const always = [];
let ofView = [];

/** Keys as [key, what it does, action]; `key` is as in an event, with "Ctrl+" before it. */
export function addKeys(keys) {
  always.push(...keys);
}

export function setViewKeys(keys) {
  ofView = keys;
}

const isField = (element) => element.matches("input, textarea, select, [contenteditable]");

export function startKeys() {
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const dialog = document.querySelector("dialog[open]");
      if (dialog) return;
      if (isField(event.target)) event.target.blur();
    }
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const name = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + event.key;
    if (isField(event.target) && !name.startsWith("Ctrl+")) return;
    if (event.altKey) return;
    const found = [...ofView, ...always].find(([key]) => key === name);
    if (!found) return;
    event.preventDefault();
    found[2](event);
  });
}

export function showHelp() {
  const list = (title, keys) => keys.length > 0 && [h("h3", {}, title), h("dl", { class: "keys" },
    keys.map(([key, does]) => [h("dt", {}, h("kbd", {}, key === " " ? "Space" : key)),
      h("dd", {}, does)]))];
  const fixed = [["↑ ↓ j k", "the row before, after"], ["PgUp PgDn Home End", "a page, the ends"],
    ["Enter", "opens the row"], ["← →", "closes and opens a node of the tree"],
    ["Tab", "takes the first offer in a field"], ["Esc", "leaves a field or a dialog"],
    ["+ −", "on the slider: a shorter, a longer stretch"]];
  openDialog("Keys", list("Here", ofView), list("Everywhere", always), list("In lists", fixed));
}

/** Opens a dialog; the promise ends with the value of the button that closed it. */
export function openDialog(title, ...content) {
  const id = `dialog${Math.random().toString(36).slice(2)}`;
  const dialog = h("dialog", { "aria-labelledby": id });
  dialog.append(h("header", {}, h("h2", { id }, title),
    button("✕", () => dialog.close(), { class: "quiet", "aria-label": "Close" })));
  const body = h("div", { class: "body", tabindex: "0", role: "group", "aria-label": title });
  fill(body, ...content);
  dialog.append(body);
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.showModal();
  return dialog;
}
