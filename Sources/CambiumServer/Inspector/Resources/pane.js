// The head that each view has: its name, a link to the same as JSON, and the command that gives it.

import { h, button, fill, announce } from "./dom.js";
import { address } from "./api.js";
import { quoted } from "./format.js";
import { store } from "./store.js";

/**
 * The `cambium …` command of a request. `operands` are the names of parameters that are words of
 * their own; the others are options, of which those of one letter, and `match`, are the same.
 */
export function commandLine(command, parameters, operands = []) {
  const words = ["cambium", command, store.database || "DB"];
  for (const name of operands) {
    if (parameters[name] !== undefined) words.push(quoted(parameters[name]));
  }
  for (const [name, value] of Object.entries(parameters)) {
    if (operands.includes(name) || value === undefined || value === false || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      if (name === "match") words.push(quoted(one));
      else if (one === true) words.push(`--${name}`);
      else words.push(`--${name}`, quoted(one));
    }
  }
  return words.join(" ");
}

/** The line with which a view can be had elsewhere. */
export function sourceLine() {
  const json = h("a", { class: "json", target: "_blank", rel: "noopener" }, "JSON");
  const code = h("code", { class: "command", tabindex: "0", role: "note",
    "aria-label": "The command that gives this view" });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      announce("The command is copied.");
    } catch {
      getSelection().selectAllChildren(code);
    }
  }, { class: "quiet copy", "aria-label": "Copy the command" });
  const element = h("div", { class: "source" }, json, code, copy);
  return {
    element,
    /** `extra` are options that the command needs, and the server gives by itself; `name` is the
     * command's, if it is offered under another one. */
    show(command, parameters, operands, extra = {}, name = command) {
      json.href = address(command, parameters);
      code.textContent = commandLine(name, { ...parameters, ...extra }, operands);
      code.title = code.textContent;
    },
  };
}

/** What went wrong, and what to do. */
export function problem(error) {
  return h("p", { class: "problem", role: "alert" }, error.message,
    error.hint && h("span", { class: "hint" }, ` ${error.hint}`));
}

export function showProblem(element, error) {
  if (error?.name === "AbortError") return;
  fill(element, problem(error));
}
