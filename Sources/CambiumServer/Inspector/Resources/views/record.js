// Record: the properties of a node with their types, who set each, its versions as a strip, what
// refers to it, and the difference of two moments. Editing is in edit.js.

import { h, button, fill, settled, announce } from "../dom.js";
import { one, lines, newest } from "../api.js";
import { link, change, route, moment } from "../router.js";
import { store } from "../store.js";
import { sourceLine, showProblem } from "../pane.js";
import { changeList } from "../changes.js";
import { typeOf, isRecord, valueElement, hasChildren, childCount, time, count, plural, text }
  from "../format.js";
import { editing } from "./edit.js";

const versionsMax = 200;

export function recordPanel(element, signal) {
  let shown = {};
  let state = {};
  /** The versions of the node; undefined until they are here. */
  let versions;
  const head = h("h3", {});
  const body = h("div", { class: "properties" });
  const versionBox = h("div", { class: "versions" });
  const compareBox = h("div", { class: "compare" });
  const referenceBox = h("div", { class: "references" });
  const source = sourceLine();
  const edits = editing({ element: h("div", { class: "edits" }), read: () => ({ ...state,
    version: seenVersion() }), redraw: drawBody });
  element.append(head, body, edits.element, source.element, versionBox, compareBox, referenceBox);

  /** The version whose value is shown: what came while it was read is not taken for seen. */
  const seenVersion = () => versions?.findLast((one) => one.sequence <= state.head)?.sequence;

  // A record that is shown already is asked for together with its authors, and drawn once, so that a
  // moment that the slider passes never has the authors of another. Of one that is new the values
  // come first: it may have none, and then it has no authors.
  const load = newest(async (path, at, stop) => {
    if (path === "") return drawBody();
    const isCurrent = () => path === shown.path && !stop.aborted;
    const askBlame = () => lines("blame", { path, at }, { max: 2000, signal: stop }).catch(() => []);
    const { head } = store;
    const early = state.path === path && state.value !== undefined && askBlame();
    try {
      // Unlike `get`, `tree` has an answer for a node that only has children.
      const node = await one("tree", { path, depth: 0, at }, { signal: stop });
      if (!isCurrent()) return;
      const next = { path, at, head, value: node?.value, node };
      if (!early) {
        state = next;
        drawBody();
      }
      const blame = node?.value === undefined ? [] : await (early || askBlame());
      if (!isCurrent()) return;
      state = { ...next, blame: new Map(blame.map((line) => [line.property ?? "", line])) };
      drawBody();
      body.dataset.moment = at ?? "now";
    } catch (error) {
      if (isCurrent()) showProblem(body, error);
    }
  });

  const loadVersions = newest(async (path) => {
    if (path === "") return fill(versionBox);
    const found = await lines("history", { path, limit: versionsMax, reverse: true },
      { max: versionsMax }).catch(() => undefined);
    if (path !== shown.path || !found) return;
    versions = found.reverse();
    drawVersions();
    drawCompare(shown.compare);
  });

  function show(path, at, compare) {
    const isOther = path !== shown.path;
    const isMoved = isOther || at !== shown.at;
    const isCompared = compare !== shown.compare || isOther;
    shown = { path, at, compare };
    if (isOther) {
      edits.forget();
      state = {};
      versions = undefined;
      fill(referenceBox);
      loadVersions(path);
      loadReferences(path);
    }
    if (isMoved) {
      load(path, at);
      if (!isOther) drawVersions();
    }
    if (isCompared) drawCompare(compare);
    source.show("get", { path: path || undefined, at }, ["path"]);
    element.hidden = path === "";
  }

  // MARK: Properties

  const definition = () => store.definitions.get(collectionOf(shown.path));

  function drawBody() {
    const { path, value } = state;
    fill(head, path, h("span", { class: "actions" },
      value !== undefined && store.canWrite && shown.at === undefined
        && button("Edit", () => edits.edit(), { title: "Edit (e)" })));
    if (value === undefined) {
      return fill(body, h("p", { class: "note" }, state.node && hasChildren(state.node)
        ? `It has no value of its own, but ${childCount(state.node)} below it.`
        : shown.at === undefined ? "Nothing is stored at this path."
          : "Nothing is here at this moment."));
    }
    const entries = isRecord(value) ? Object.entries(value) : [["", value]];
    const staged = edits.staged;
    const names = new Set([...entries.map(([name]) => name), ...staged.keys()]);
    const held = Object.fromEntries(entries);
    fill(body, h("table", {}, h("thead", {}, h("tr", {}, [["Property"], ["Value"],
      ["Type", "type"], ["Set by"]].map(([name, kind]) => h("th", { scope: "col", class: kind },
        name)))),
    h("tbody", {}, [...names].slice(0, 1000).map((name) => row(name, held[name])))));
  }

  function row(name, value) {
    const staged = edits.staged.get(name);
    const blamed = state.blame?.get(name);
    return h("tr", { class: staged ? "staged" : null, "data-property": name },
      h("th", { scope: "row" }, name || "value"),
      h("td", { class: "cell", ondblclick: () => edits.edit(name) }, edits.field(name, value)
        ?? [staged && h("del", {}, text(value)), staged && " ",
          staged ? valueElement(staged.value) : linkedValue(name, value)]),
      h("td", { class: "type" }, declaredType(name) ?? typeOf(value)),
      h("td", { class: "blame" }, blamed && [h("a", { href: link("log", { tx: blamed.sequence }),
        title: `${time(blamed.time)} ${blamed.metadata?.reason ?? ""}` },
      `tx ${count(blamed.sequence)}`), " ", blamed.metadata?.actor ?? "", " ",
      h("span", { class: "note" }, time(blamed.time))]));
  }

  const property = (name) => definition()?.properties?.find((one) => one.name === name);
  const target = (name) => targetOf(property(name)?.type);

  function declaredType(name) {
    const type = property(name)?.type;
    if (!type) return undefined;
    return typeof type === "string" ? type : targetOf(type) ? `→ ${targetOf(type)}` : text(type);
  }

  /** A value; a reference is a link to what it refers to. */
  function linkedValue(name, value) {
    const to = target(name);
    if (!to || value === null || value === undefined) return valueElement(value);
    const keys = Array.isArray(value) ? value : [value];
    return keys.slice(0, 50).map((key) => [h("a", { class: "value reference",
      href: link("state", { path: `${to}/${text(key)}`, cmp: undefined }) }, text(key)), " "]);
  }

  // MARK: What refers to it

  async function loadReferences(path) {
    const to = collectionOf(path);
    const key = path.slice(to.length + 1);
    const found = to && key ? [...store.definitions].flatMap(([collection, definition]) =>
      (definition.properties ?? []).filter((one) => targetOf(one.type) === to)
        .map((one) => ({ collection, name: one.name }))) : [];
    if (found.length === 0) return fill(referenceBox);
    fill(referenceBox, h("h4", {}, "Referred to by"), found.slice(0, 20).map(({ collection,
      name }) => {
      const query = `${collection} where ${name} = ${JSON.stringify(key)}`;
      const list = h("div", { class: "referring" });
      const details = h("details", { ontoggle: () => details.open && list.childElementCount === 0
        && listReferring(query, collection, list) },
      h("summary", {}, `${collection} `, h("span", { class: "note" }, `by ${name}`)), list);
      return details;
    }));
  }

  async function listReferring(query, collection, list) {
    fill(list, h("p", { class: "note" }, "Looking…"));
    try {
      const found = await lines("query", { query: `${query} limit 50`, at: moment() },
        { max: 50, signal: AbortSignal.any([signal, AbortSignal.timeout(10000)]) });
      fill(list, found.length === 0 && h("p", { class: "note" }, "none"),
        found.map((record) => h("a", { href: link("state", { path: `${collection}/${record.id}` }),
          class: "value" }, `${record.id}`)),
        found.length === 50 && h("a", { href: link("query", { q: query }) }, "all as a query"));
    } catch (error) {
      showProblem(list, error);
    }
  }

  // MARK: Versions

  const current = () => {
    const at = shown.at ?? Infinity;
    return (versions ?? []).findLastIndex((version) => version.sequence <= at);
  };

  function drawVersions() {
    if (!versions) return fill(versionBox);
    const now = current();
    const marks = versions.map((version, index) => {
      const mark = button("", (event) => event.shiftKey ? compareWith(version) : to(version), {
        class: `mark ${kindOfVersion(version)}`, "aria-pressed": String(index === now),
        "aria-label": versionText(version), title: `${versionText(version)}\nShift: compare` });
      // Evenly, since versions often come close together, and long after the first.
      mark.style.left = `${index / Math.max(1, versions.length - 1) * 100}%`;
      return mark;
    });
    fill(versionBox, h("h4", {}, versions.length === versionsMax
      ? `The newest ${count(versionsMax)} versions` : plural(versions.length, "version"), h("span",
        { class: "actions" },
    button("◀", () => version(-1), { "aria-label": "Version before", title: "Before (b)" }),
    button("▶", () => version(1), { "aria-label": "Version after", title: "After (a)" }),
    button("Compare", compare, { title: "With the version before (c)" }))),
    h("div", { class: "strip", role: "group", "aria-label": "Versions" }, marks),
    h("ol", { class: "version-list" }, versions.slice(-12).reverse().map((version) => h("li",
      { class: version === versions[now] ? "selected" : null },
      h("a", { href: link("state", { at: version.sequence }) }, `tx ${count(version.sequence)}`),
        " ",
      time(version.time), " ", version.metadata?.actor ?? "",
      version.metadata?.reason && h("q", {}, version.metadata.reason),
      " ", h("span", { class: "note" }, kindOfVersion(version))))));
  }

  const kindOfVersion = (version) => version.exists === false || version.new === undefined
    ? "removed"
    : version.old === undefined ? "added" : "changed";
  const versionText = (version) =>
    `tx ${version.sequence}, ${time(version.time)} ${version.metadata?.actor ?? ""}`;

  const to = (version) => change({ at: version.sequence });

  function version(by) {
    const next = versions?.[Math.max(0, current() + by)];
    if (!next) return;
    to(next);
    announce(versionText(next));
  }

  // MARK: Two moments

  function compare() {
    const index = current();
    const newer = versions?.[index]?.sequence ?? shown.at ?? store.head;
    const older = versions?.[index - 1]?.sequence ?? Math.max(0, newer - 1);
    change({ cmp: shown.compare ? undefined : `${older}..${newer}` });
  }

  const compareWith = (version) =>
    change({ cmp: `${version.sequence}..${shown.at ?? store.head}` });

  const moments = settled(400, (form) => {
    const [older, newer] = [...form.querySelectorAll("input")].map((input) => input.value.trim());
    if (older || newer) change({ cmp: `${older}..${newer}` }, true);
  });

  async function drawCompare(range) {
    if (!range) return fill(compareBox);
    const [older, newer] = range.split("..");
    const line = sourceLine();
    line.show("diff", { range, path: shown.path }, ["range", "path"]);
    const result = h("div", {});
    const form = h("div", { class: "moments" },
      h("label", {}, "From ", h("input", { type: "text", value: older, size: 16 })),
      h("label", {}, "to ", h("input", { type: "text", value: newer, size: 16 })),
      button("Close", () => change({ cmp: undefined })));
    form.addEventListener("input", () => moments(form));
    const isTyping = compareBox.contains(document.activeElement)
      && document.activeElement.matches("input");
    if (isTyping) compareBox.lastElementChild.replaceWith(h("div", {}, result, line.element));
    else fill(compareBox, h("h4", {}, "Two moments"), form, h("div", {}, result, line.element));
    try {
      const changes = await lines("diff", { range, path: shown.path }, { max: 500 });
      fill(result, changes.length === 0 ? h("p", { class: "note" }, "The same at both.")
        : changeList(changes));
    } catch (error) {
      showProblem(result, error);
    }
  }

  return {
    show, version, compare,
    edit: () => edits.edit(),
    preview: () => edits.preview(),
    /** A transaction has come: what is shown is read again, and what is being edited is kept. */
    news(transaction) {
      const isTouched = transaction.changes?.some((one) => one.path === shown.path);
      if (transaction.changes && !isTouched) return;
      if (shown.path === "") return;
      load(shown.path, shown.at);
      loadVersions(shown.path);
      if (isTouched) edits.news(transaction);
    },
  };
}

/** The collection that a path is in: the longest declared one above it, else its first key. */
export function collectionOf(path) {
  let above = path;
  while (above.includes("/")) {
    above = above.slice(0, above.lastIndexOf("/"));
    if (store.definitions.has(above)) return above;
  }
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
}

/** The collection that a type refers to, also of an array of references. */
export const targetOf = (type) => type && typeof type === "object"
  ? type.reference ?? targetOf(type.array) ?? targetOf(type.set) : undefined;
