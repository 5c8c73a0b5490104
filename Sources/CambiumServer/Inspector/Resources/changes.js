// Changes of nodes, old and new side by side.

import { h, button } from "./dom.js";
import { link } from "./router.js";
import { propertyChanges, sides } from "./words.js";
import { count } from "./format.js";

const first = 100;

const exists = (value) => value !== undefined && value !== null;

export const kindOf = (change) =>
  !exists(change.old) ? "added" : !exists(change.new) ? "removed" : "changed";

const signs = { added: "+", removed: "−", changed: "~" };

/** One change: its path, and a row for each property that differs. */
export function changeElement(change, { toPath } = {}) {
  const kind = kindOf(change);
  const target = toPath ? toPath(change.path) : link("state", { path: change.path,
    cmp: undefined });
  const rows = propertyChanges(change.old ?? undefined, change.new ?? undefined).slice(0, 200);
  return h("article", { class: `change ${kind}`, "aria-label": `${kind}: ${change.path}` },
    h("h4", {}, h("span", { class: "sign", "aria-hidden": "true" }, signs[kind]),
      h("a", { href: target, class: "path" }, change.path || "/"),
      h("span", { class: "hidden" }, ` ${kind}`)),
    h("table", { class: "sides" },
      h("thead", { class: "hidden" }, h("tr", {}, ["property", "old", "new"].map(
        (name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map(([name, old, new_]) => {
        const [left, right] = sides(old, new_);
        return h("tr", {}, h("th", { scope: "row" }, name || "value"),
          h("td", { class: "old" }, left), h("td", { class: "new" }, right));
      }))));
}

/** A list of changes that shows more of itself when asked to. */
export function changeList(changes, options = {}) {
  const list = h("div", { class: "changes" });
  let shown = 0;
  const more = button("", show, { class: "more" });
  function show() {
    more.remove();
    const next = changes.slice(shown, shown + first);
    list.append(...next.map((change) => changeElement(change, options)));
    shown += next.length;
    if (shown < changes.length) {
      more.textContent = `${count(changes.length - shown)} more changes`;
      list.append(more);
    } else if (changes.more) list.append(h("p", { class: "note" }, "more than can be shown here"));
  }
  if (changes.length === 0) list.append(h("p", { class: "note" }, "No node has another value."));
  show();
  return list;
}
