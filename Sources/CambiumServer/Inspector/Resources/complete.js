// A field that offers what may stand at its cursor.

import { h, fill, settled } from "./dom.js";

let fields = 0;

/**
 * Wraps an input or a text area. `offers(text, caret)` gives, or promises, `{from, to, options}`,
 * where each option is `{text, note}` and takes the place from `from` to `to`.
 */
export function completing(input, offers, { onEnter = () => {}, onInput = () => {} } = {}) {
  const id = `offers${fields += 1}`;
  const box = h("ul", { class: "offers", role: "listbox", id, hidden: true,
    "aria-label": "Offers" });
  let shown = { options: [] };
  let chosen = -1;
  let turn = 0;
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list",
    "aria-controls": id, "aria-expanded": "false" })) input.setAttribute(name, value);

  async function update() {
    const mine = turn += 1;
    const found = await offers(input.value, input.selectionStart ?? input.value.length);
    if (mine !== turn || document.activeElement !== input) return;
    shown = { ...found, options: (found?.options ?? []).slice(0, 12) };
    chosen = -1;
    draw();
  }

  function draw() {
    box.hidden = shown.options.length === 0;
    input.setAttribute("aria-expanded", !box.hidden);
    input.removeAttribute("aria-activedescendant");
    fill(box, shown.options.map((option, index) => {
      const isChosen = index === chosen;
      if (isChosen) input.setAttribute("aria-activedescendant", `${id}-${index}`);
      return h("li", { role: "option", id: `${id}-${index}`, "aria-selected": String(isChosen),
        onpointerdown: (event) => {
          event.preventDefault();
          take(index);
        } }, option.text, option.note && h("span", { class: "note" }, option.note));
    }));
  }

  function close() {
    turn += 1;
    shown = { options: [] };
    chosen = -1;
    draw();
  }

  function take(index) {
    const option = shown.options[index];
    input.setRangeText(option.text, shown.from, shown.to, "end");
    close();
    onInput();
    if (/[=. ]$/.test(option.text)) update();
  }

  // A word that is typed quickly asks once.
  const updateSoon = settled(40, update);
  input.addEventListener("input", () => {
    // What was offered was for another text.
    close();
    onInput();
    updateSoon();
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const isOpen = shown.options.length > 0;
    if (isOpen && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const count = shown.options.length;
      chosen = event.key === "ArrowDown" ? (chosen + 1) % count
        : (Math.max(chosen, 0) + count - 1) % count;
      draw();
    } else if (isOpen && event.key === "Tab" && !event.shiftKey && input.value) {
      take(Math.max(chosen, 0));
    } else if (isOpen && event.key === "Escape") close();
    else if (event.key === "Enter" && !event.shiftKey) {
      if (chosen >= 0) take(chosen);
      else {
        close();
        onEnter(input.value);
      }
    } else if (event.key === " " && event.ctrlKey) update();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return h("span", { class: "completing" }, input, box);
}
