// State: the tree of nodes at the moment of the slider, and the record that is chosen in it.

import { h, button, fill, settled } from "../dom.js";
import { lines, newest } from "../api.js";
import { route, link, go, change, moment } from "../router.js";
import { store, onNews } from "../store.js";
import { windowedList } from "../windowed.js";
import { completing } from "../complete.js";
import { sourceLine, showProblem } from "../pane.js";
import { count, text, isRecord, hasChildren, childCount } from "../format.js";
import { recordPanel } from "./record.js";
import { kindOf } from "../changes.js";

const page = 200;

export const join = (parent, key) => parent ? `${parent}/${key}` : key;
export const parentOf = (path) => path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
const keyOf = (path) => path.slice(path.lastIndexOf("/") + 1);

/** A key behind which keys that begin with `prefix` come next; no key is like it. */
function before(prefix) {
  const last = prefix.codePointAt(prefix.length - 1);
  const lower = last === 0x30 ? "." : String.fromCodePoint(last === 0xe000 ? 0xd7ff : last - 1);
  return `${prefix.slice(0, -1)}${lower}\u{10fffd}`;
}

/** The children of a node after a key: an array of {path, value, children}; `more` if not all. */
export async function readChildren(path, { at, after, prefix, limit = page, signal } = {}) {
  const found = await lines("tree",
    { path, depth: 1, limit, after: after ?? (prefix ? before(prefix) : undefined), at },
    { signal, max: limit + 1 });
  const children = found.filter((node) => node.path !== path
    && parentOf(node.path) === path && keyOf(node.path).startsWith(prefix ?? ""));
  // The first line is the node itself, which says how many children there are.
  const own = found.find((node) => node.path === path);
  children.total = own?.children;
  children.isAtLeast = own?.childrenAtLeast === true;
  children.more = found.length >= limit && children.length >= found.length - 1;
  return children;
}

export function stateView(element, signal) {
  /** What is open: path → {nodes, more, total}. */
  const open = new Map();
  const flashes = new Map();
  const lit = new Set();
  let rows = [];
  /** The rows up to this one are seen, or were. */
  let seenTo = 0;
  let chosen;
  let shownMoment;
  let filter = "";
  let problemShown;

  const path = () => route.parameters.path ?? "";
  /** The node at and below which one may look. */
  const root = () => store.scope;

  // MARK: The head

  const crumbs = h("nav", { class: "crumbs", "aria-label": "Path" });
  const field = h("input", { type: "text", "data-search": "", spellcheck: "false",
    autocomplete: "off", "aria-label": "Filter keys, or go to a path",
      placeholder: "key or path/" });
  const filterSoon = settled(120, () => {
    if (field.value.includes("/") && filter === "") return;
    filter = field.value.includes("/") ? "" : field.value;
    refresh();
  });
  const fieldBox = completing(field, pathOffers, { onInput: filterSoon, onEnter: goToField });

  async function pathOffers(text) {
    if (!text.includes("/")) return { options: [] };
    const parent = text.slice(0, text.lastIndexOf("/"));
    const prefix = text.slice(text.lastIndexOf("/") + 1);
    const children = await readChildren(parent, { at: moment(), prefix,
      limit: 12 }).catch(() => []);
    return { from: 0, to: text.length, options: children
      .filter((node) => keyOf(node.path).startsWith(prefix))
      .map((node) => ({ text: node.path, note: hasChildren(node) ? childCount(node) : "" })) };
  }

  function goToField() {
    const first = rows.find((row) => row.node && matches(row.node));
    const target = field.value.includes("/") ? field.value.replace(/\/$/, "") : first?.path;
    field.value = "";
    filter = "";
    if (target !== undefined) choose(target);
    refresh();
  }

  const matches = (node) => !filter || filter.includes("/")
    || keyOf(node.path).toLowerCase().startsWith(filter.toLowerCase());

  // MARK: The tree

  const list = windowedList({
    id: "tree-list", role: "tree", label: "Nodes", rowHeight: 24, row: rowElement,
    onOpen: (index) => act(rows[index]),
    onMove: (index) => rows[index]?.node && chooseSoon(rows[index].path, route.hash),
    onRange: (first, last) => {
      seenTo = last;
      for (const row of rows.slice(first, last)) if (row.isMore) loadMore(row.parent);
    },
    onKey: treeKey,
  });

  function act(row) {
    if (!row) return;
    if (row.isMore) return loadMore(row.parent);
    if (hasChildren(row.node)) toggle(row.path);
    choose(row.path);
  }

  function treeKey(event, index) {
    const row = rows[index];
    if (!row?.node) return false;
    if (event.key === "ArrowRight" && hasChildren(row.node)) {
      if (!open.has(row.path)) toggle(row.path);
      else list.move(index + 1);
      return true;
    }
    if (event.key === "ArrowLeft") {
      if (open.has(row.path)) toggle(row.path);
      else list.move(Math.max(0, rows.findIndex((other) => other.path === parentOf(row.path))));
      return true;
    }
    if (event.key === "e") {
      record.edit();
      return true;
    }
    return false;
  }

  function rowElement(index) {
    const row = rows[index];
    if (row.isMore) {
      return h("div", { role: "treeitem", class: "more", "aria-level": row.level },
        indent(row.level),
        row.total > row.shown
          ? `${count(row.total - row.shown)}${row.isAtLeast ? "+" : ""} more` : "more");
    }
    const { node } = row;
    const isOpen = open.has(row.path);
    const item = h("div", { role: "treeitem", "aria-level": row.level, title: row.path,
      "aria-expanded": hasChildren(node) ? String(isOpen) : undefined,
      "aria-selected": String(row.path === chosen) }, indent(row.level),
    h("span", { class: "twist", "aria-hidden": "true" }, hasChildren(node) ? (isOpen ? "▾" : "▸")
      : ""),
    h("span", { class: "key" }, keyOf(row.path)),
    hasChildren(node) && h("span", { class: "count" }, childCount(node)),
    node.value !== undefined && h("span", { class: "summary" }, summary(node.value)));
    if (row.path === chosen) item.classList.add("selected");
    if (lit.has(row.path)) item.classList.add("lit");
    const flash = flashes.get(row.path);
    if (flash) item.classList.add(`flash-${flash}`);
    return item;
  }

  const indent = (level) => h("span", { class: `indent i${Math.min(12, level - 1)}` });

  const summary = (value) => isRecord(value)
    ? Object.entries(value).slice(0, 6).map(([name, one]) => `${name} ${text(one).slice(0, 30)}`)
      .join("  ") : text(value).slice(0, 120);

  function flatten() {
    rows = [];
    const add = (parent, level) => {
      const held = open.get(parent);
      if (!held) return;
      for (const node of held.nodes) {
        if (parent === filterParent() && !matches(node)) continue;
        rows.push({ path: node.path, node, level });
        if (hasChildren(node)) add(node.path, level + 1);
      }
      if (held.more) {
        rows.push({ isMore: true, parent, level, shown: held.nodes.length, total: held.total,
          isAtLeast: held.nodes.isAtLeast });
      }
    };
    add(root(), 1);
    list.resize(rows.length);
    const index = rows.findIndex((row) => row.path === chosen);
    if (index >= 0 && list.active !== index) list.active = index;
  }

  /** The filter holds for the children of the node that is chosen, if it is open; else of the root. */
  const filterParent = () => chosen && open.has(chosen) ? chosen
    : chosen && open.has(parentOf(chosen)) ? parentOf(chosen) : root();

  async function readOpen(path, count = page, signal = undefined) {
    const prefix = path === filterParent() && filter && !filter.includes("/") ? filter : undefined;
    const children = await readChildren(path, { at: moment(), limit: count, prefix, signal });
    if (signal?.aborted) return;
    open.set(path, { nodes: children, more: children.more, total: prefix ? undefined
      : children.total });
  }

  /** Opens a node, also while the slider goes on. */
  async function openNode(path) {
    let at;
    do {
      at = moment();
      await readOpen(path);
    } while (at !== moment());
  }

  async function toggle(path) {
    if (open.has(path)) {
      for (const other of [...open.keys()]) {
        if (other === path || other.startsWith(`${path}/`)) open.delete(other);
      }
      return flatten();
    }
    await openNode(path).catch(failed);
    flatten();
  }

  const loadingMore = new Set();
  async function loadMore(parent) {
    const held = open.get(parent);
    if (!held?.more || loadingMore.has(parent)) return;
    loadingMore.add(parent);
    try {
      const after = held.nodes.at(-1) && keyOf(held.nodes.at(-1).path);
      const next = await readChildren(parent, { at: moment(), after,
        prefix: parent === filterParent() && !filter.includes("/") ? filter : undefined });
      const known = new Set(held.nodes.map((node) => node.path));
      const fresh = next.filter((node) => !known.has(node.path));
      held.nodes.push(...fresh);
      held.more = fresh.length > 0 && next.more;
    } catch (error) {
      held.more = false;
      failed(error);
    }
    loadingMore.delete(parent);
    flatten();
  }

  /** So many children are read again as are seen, and a few: others are read as one scrolls. */
  const needed = (path) => open.get(path)?.nodes.length > 0 ? 20 + rows.slice(0, seenTo)
    .filter((row) => row.node && parentOf(row.path) === path).length : page;

  /** Reads again what is open, at the moment of the slider. */
  const refresh = newest(async (stop) => {
    const at = moment();
    try {
      const paths = [...open.keys()].slice(0, 40);
      await Promise.all(paths.map(async (path) => {
        try {
          await readOpen(path, Math.min(1000, needed(path)), stop);
        } catch (error) {
          if (stop.aborted) throw error;
          if (path === root() && error.status !== 404) throw error;
          if (path !== root()) open.delete(path);
          else open.set(path, { nodes: [], more: false });
        }
      }));
      if (stop.aborted) return;
      if (problemShown) fill(problemShown);
      list.element.dataset.moment = at ?? "now";
    } catch (error) {
      if (stop.aborted) return;
      failed(error);
    }
    flatten();
  });

  const refreshSoon = settled(250, refresh);

  function failed(error) {
    problemShown = problemLine;
    showProblem(problemLine, error);
  }

  // MARK: Choosing

  function choose(path) {
    go(link("state", { path: path || undefined, cmp: undefined },
      ["at", "tx", "f"]));
  }
  // Whoever has gone elsewhere meanwhile stays there.
  const chooseSoon = settled(100, (path, hash) => {
    if (route.hash === hash) go(link(route.view, { path, cmp: undefined }, ["at", "tx", "f"]), true);
  });

  /** Opens what is above a path, so that it can be seen. */
  async function reveal(path) {
    const above = [];
    let parent = path && parentOf(path);
    while (parent) {
      above.unshift(parent);
      parent = parentOf(parent);
    }
    const seen = above.filter((one) => one !== root() && one.startsWith(root()));
    for (const parent of [root(), ...seen]) {
      if (!open.has(parent)) await openNode(parent).catch(() => {});
    }
    const held = open.get(parentOf(path));
    if (held && path && !held.nodes.some((node) => node.path === path)) {
      const [node] = await readChildren(parentOf(path), { at: moment(), prefix: keyOf(path),
        limit: 1 })
        .catch(() => []);
      if (node?.path === path) {
        const next = held.nodes.findIndex((other) => other.path > path);
        held.nodes.splice(next < 0 ? held.nodes.length : next, 0, node);
      }
    }
    flatten();
    const index = rows.findIndex((row) => row.path === path);
    if (index >= 0) list.move(index, false);
  }

  function drawCrumbs() {
    const keys = path() ? path().split("/") : [];
    fill(crumbs, h("a", { href: link("state", { path: undefined, cmp: undefined }) }, "/"),
      keys.map((key, index) => {
        const to = keys.slice(0, index + 1).join("/");
        return [index > 0 ? " / " : " ", h("a", { href: link("state", { path: to, cmp: undefined }),
          "aria-current": index === keys.length - 1 ? "location" : undefined }, key)];
      }));
  }

  // MARK: Changes

  onNews((transaction) => {
    if (!transaction || moment() !== undefined) return;
    for (const change of (transaction.changes ?? []).slice(0, 500)) {
      flashes.set(change.path, kindOf(change));
      setTimeout(() => {
        flashes.delete(change.path);
        list.redraw();
      }, 2000);
    }
    refreshSoon();
    record.news(transaction);
  }, signal);

  document.addEventListener("lit", (event) => {
    lit.clear();
    for (const path of event.detail.slice(0, 5000)) lit.add(path);
    list.redraw();
  }, { signal });

  // MARK: Parts

  const recordElement = h("div", { class: "record" });
  const record = recordPanel(recordElement, signal);
  const source = sourceLine();
  const problemLine = h("div", {});
  element.append(h("div", { class: "pane-head" }, crumbs, fieldBox), problemLine,
    h("div", { class: "halves" }, h("div", { class: "tree" }, list.element, source.element),
      recordElement));

  return {
    keys: [
      ["e", "edit the record", () => record.edit()],
      ["b", "the version before", () => record.version(-1)],
      ["a", "the version after", () => record.version(1)],
      ["c", "compare with the version before", () => record.compare()],
      ["Ctrl+s", "look at what is changed, and save", () => record.preview()],
      ["Backspace", "the node above", () => choose(parentOf(path()))],
    ],
    update() {
      drawCrumbs();
      const at = moment();
      if (at !== shownMoment || open.size === 0) {
        shownMoment = at;
        if (open.size === 0) open.set(root(), { nodes: [], more: false });
        refresh();
      }
      if (path() !== chosen) {
        chosen = path();
        if (chosen) reveal(chosen);
        else list.redraw();
      }
      record.show(path(), at, route.parameters.cmp);
      source.show("tree", { path: path() || undefined, depth: 1, limit: page, at }, ["path"]);
    },
  };
}
