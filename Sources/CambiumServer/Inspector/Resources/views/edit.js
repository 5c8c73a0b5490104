// Editing in place: changes are staged, previewed with what the schema makes of them, then saved
// with who and why. Saving says which version was seen, so that nobody's change is lost.

import { h, button, fill, announce } from "../dom.js";
import { post } from "../api.js";
import { store } from "../store.js";
import { moment, change } from "../router.js";
import { openDialog } from "../keyboard.js";
import { changeList } from "../changes.js";
import { problem } from "../pane.js";
import { isRecord, same, text, typeOf, count } from "../format.js";
import { signature } from "./undo.js";

export function editing({ element, read, redraw }) {
  /** Property → {value}; the value of a property that is taken out is undefined. */
  const staged = new Map();
  let open;
  /** The field that is open, kept while the record around it is drawn again. */
  let openField;
  let seen;
  let theirs;

  function forget() {
    staged.clear();
    openAt(undefined);
    seen = undefined;
    theirs = undefined;
    drawBar();
  }

  function openAt(name) {
    open = name;
    openField = undefined;
  }

  /** Opens the field of a property, or of the first one. */
  function edit(name) {
    const { value, version } = read();
    if (!store.canWrite) return announce("This server only reads.");
    if (moment() !== undefined) return announce("The past cannot be changed: go to now first.");
    if (value === undefined) return;
    // Without knowing which version was seen, a change of somebody else could be lost.
    if (version === undefined) return announce("Its versions are still being read; try again.");
    seen ??= version;
    openAt(name ?? (isRecord(value) ? Object.keys(value)[0] : ""));
    redraw();
    drawBar();
  }

  /** The field of the property that is being edited; undefined for others. */
  function field(name, value) {
    if (name !== open) return undefined;
    openField ??= fieldElement(name, value);
    return openField;
  }

  function fieldElement(name, value) {
    const now = staged.has(name) ? staged.get(name).value : value;
    const isText = typeof now === "string";
    const shown = isText ? now : now === undefined ? "" : JSON.stringify(now);
    const isLong = shown.length > 60 || shown.includes("\n");
    const input = h(isLong ? "textarea" : "input", { class: "editor", "aria-label": name || "value",
      rows: isLong ? 4 : null, spellcheck: "false", value: shown });
    const take = (next) => {
      const entered = valueOf(input.value, isText);
      if (entered === undefined) {
        input.setAttribute("aria-invalid", "");
        return announce("This is no value in JSON.");
      }
      stage(name, entered);
      openAt(next);
      redraw();
      if (next === undefined) element.querySelector("button")?.focus();
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        openAt(undefined);
        redraw();
      } else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) {
        const names = Object.keys(isRecord(read().value) ? read().value : { "": 0 });
        const next = names[names.indexOf(name) + (event.shiftKey ? -1 : 1)];
        take(event.key === "Tab" ? next : undefined);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    requestAnimationFrame(() => input.focus());
    const remove = name !== "" && button("Take out", () => {
      staged.set(name, { value: undefined });
      openAt(undefined);
      redraw();
      drawBar();
    }, { class: "quiet" });
    return h("span", { class: "editing" }, input,
      button("Keep", () => take(undefined), { class: "quiet" }), remove,
      h("span", { class: "note" }, isText ? "text" : `${typeOf(now)}, as JSON`));
  }

  function stage(name, value) {
    const { value: whole } = read();
    const before = name === "" ? whole : whole?.[name];
    if (same(before, value)) staged.delete(name);
    else staged.set(name, { value });
    drawBar();
  }

  function operations() {
    const { path } = read();
    const expected = seen ? [{ op: "expect", path, sequence: seen }] : [];
    if (staged.has("")) return [...expected, { op: "set", path, value: staged.get("").value }];
    const set = {};
    const unset = [];
    for (const [name, { value }] of staged) {
      if (value === undefined) unset.push(name);
      else set[name] = value;
    }
    return [...expected, { op: "update", path, set, ...(unset.length > 0 ? { unset } : {}) }];
  }

  function drawBar() {
    fill(element, staged.size > 0 && h("div", { class: "bar-staged", role: "group",
      "aria-label": "Staged changes" },
    h("b", {}, `${count(staged.size)} staged`),
    theirs && h("span", { class: "problem" },
      `tx ${count(theirs)} has changed this record meanwhile`),
    button("Preview and save…", preview, { class: "main", title: "Ctrl+S" }),
    button("Discard", () => {
      forget();
      redraw();
    })));
  }

  /** Shows what saving would do, then does it. */
  async function preview() {
    if (staged.size === 0) return;
    const body = JSON.stringify({ operations: operations() });
    const content = h("div", {}, h("p", { class: "note" }, "Looking at what it would change…"));
    const dialog = openDialog("Save", content);
    try {
      const [made] = await post("apply", { "dry-run": true }, body);
      drawSave(dialog, content, made, body);
    } catch (error) {
      drawFailure(dialog, content, error);
    }
  }

  function drawSave(dialog, content, made, body) {
    const signed = signature();
    const answer = h("div", { role: "alert" });
    const save = button("Save", async () => {
      if (signed.missing) return fill(answer, h("p", { class: "problem" }, signed.missing));
      save.disabled = true;
      try {
        await post("apply", signed.values(), body);
        dialog.close();
        forget();
        announce("Saved.");
        redraw();
      } catch (error) {
        drawFailure(dialog, content, error);
      }
    }, { class: "main" });
    fill(content, changeList(made?.changes ?? []), signed.element, answer,
      h("p", { class: "actions" }, save, button("Not yet", () => dialog.close())));
    content.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input")) save.click();
    });
    signed.focus();
  }

  /** A conflict is shown with what both sides hold; nothing is lost until one chooses. */
  function drawFailure(dialog, content, error) {
    const isConflict = error.status === 409 || error.code === "conflict";
    const { value } = read();
    fill(content, problem(error), isConflict && [
      h("table", { class: "sides" }, h("thead", {}, h("tr", {}, ["", "Now", "Yours"].map(
        (name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, [...staged].map(([name, { value: mine }]) => h("tr", {},
        h("th", { scope: "row" }, name || "value"),
        h("td", { class: "old" }, text(name === "" ? value : value?.[name])),
        h("td", { class: "new" }, mine === undefined ? "taken out" : text(mine)))))),
      h("p", { class: "actions" }, button("Yours on top of it…", () => {
        dialog.close();
        seen = theirs ?? read().version;
        theirs = undefined;
        preview();
      }, { class: "main" }), button("Take theirs", () => {
        dialog.close();
        forget();
        redraw();
      }), button("Look at it", () => {
        dialog.close();
        change({ tx: theirs ?? read().version });
      }))]);
  }

  return {
    element, staged, forget, edit, field, preview,
    /** The record was changed while it is edited: it is said, and saving will say it, too. */
    news(transaction) {
      if (staged.size === 0 && open === undefined) return;
      theirs = transaction.sequence;
      drawBar();
    },
  };
}

/** What was entered: text stays text, anything else is JSON. */
function valueOf(entered, isText) {
  if (isText) return entered;
  try {
    return JSON.parse(entered);
  } catch {
    return undefined;
  }
}
