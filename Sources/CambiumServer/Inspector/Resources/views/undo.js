// Writing: who and why are asked for, and what would change is shown before anything is.

import { h, button, fill, announce } from "../dom.js";
import { post, lines } from "../api.js";
import { link, go } from "../router.js";
import { store } from "../store.js";
import { openDialog } from "../keyboard.js";
import { changeList } from "../changes.js";
import { problem } from "../pane.js";
import { count } from "../format.js";

/** The fields for who and why; the last who is remembered. */
export function signature() {
  const who = h("input", { type: "text", value: localStorage.getItem("actor") ?? "", size: 12,
    name: "actor", autocomplete: "off" });
  const why = h("input", { type: "text", size: 30, name: "reason", autocomplete: "off" });
  return {
    element: h("div", { class: "signature" }, h("label", {}, "Who ", who), h("label", {}, "Why ",
      why)),
    focus: () => (who.value ? why : who).focus(),
    values() {
      localStorage.setItem("actor", who.value);
      return { actor: who.value || undefined, reason: why.value || undefined };
    },
    /** Says what is missing; nothing is written without a name. */
    get missing() { return who.value ? undefined : "Say who makes the change."; },
  };
}

/** Shows what undoing a transaction would change, and does it when told to. */
export async function undoDialog(sequence, options = {}) {
  const content = h("div", {}, h("p", { class: "note" }, "Looking at what it would change…"));
  const dialog = openDialog(`Undo transaction ${count(sequence)}`, content);
  try {
    const [preview] = await post("undo", { rev: sequence, "dry-run": true, ...options });
    draw(preview);
  } catch (error) {
    fill(content, problem(error), ways());
  }

  function ways() {
    return h("p", {}, button("Undo only what nobody changed since",
      () => again({ "skip-conflicts": true })), " ",
    button("Undo it all", () => again({ overwrite: true })));
  }

  function again(options) {
    dialog.close();
    undoDialog(sequence, options);
  }

  function draw(preview) {
    const signed = signature();
    const answer = h("div", { role: "alert" });
    const conflicts = preview.conflicts ?? [];
    const save = button("Undo", async () => {
      if (signed.missing) return fill(answer, h("p", { class: "problem" }, signed.missing));
      save.disabled = true;
      try {
        const [made] = await post("undo", { rev: sequence, ...options, ...signed.values() });
        dialog.close();
        announce(`Transaction ${made.sequence} undoes ${sequence}.`);
        go(link("log", { tx: made.sequence, at: undefined }));
      } catch (error) {
        save.disabled = false;
        fill(answer, problem(error));
      }
    }, { class: "main" });
    fill(content, conflicts.length > 0 && [
      h("p", { class: "problem" }, `Changed since: ${conflicts.map(conflictText).join(", ")}`),
        ways()],
    changeList(preview.changes ?? []), signed.element, answer,
    h("p", { class: "actions" }, save, button("Leave it", () => dialog.close())));
    signed.focus();
    content.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input")) save.click();
    });
  }
}

const conflictText = (conflict) => typeof conflict === "string" ? conflict
  : `${conflict.path ?? ""}${conflict.property ? "/" + conflict.property : ""}`
    + (conflict.sequence ? ` (tx ${conflict.sequence})` : "");

/** Undoes the newest transaction. */
export async function undoNewest() {
  if (!store.canWrite) return announce("This server only reads.");
  const [newest] = await lines("log", { reverse: true, limit: 1 }, { max: 1 });
  if (newest) undoDialog(newest.sequence);
}
