// Sizes: every byte as a treemap, by collection and property or age, and what compaction would save.

import { h, button, fill, eachFrame } from "../dom.js";
import { lines, one } from "../api.js";
import { route, change, link } from "../router.js";
import { store } from "../store.js";
import { squarify } from "../treemap.js";
import { sourceLine, showProblem } from "../pane.js";
import { bytes, count, plural } from "../format.js";
import { readChildren } from "./state.js";

const ways = { "collection,property": "by property", "collection,age": "by age",
  collection: "by collection", "environment,table": "by table" };
const groupsMax = 1000;

export function sizesView(element, signal) {
  let groups = [];
  let asked;
  let isCounting = false;
  const map = h("div", { class: "treemap", role: "group", "aria-label": "Treemap of bytes" });
  const listBox = h("div", { class: "sizes-list" });
  const saving = h("div", { class: "saving", role: "status" });
  const source = sourceLine();
  const choice = h("select", { "aria-label": "Sizes", "data-search": "",
    onchange: () => change({ by: choice.value, in: undefined }) },
  Object.entries(ways).map(([value, label]) => h("option", { value }, label)));
  const keep = h("input", { type: "text", size: 8, value: "1000", id: "keep",
    "aria-label": "Keep the newest so many transactions, or a time such as 90d" });
  const look = button("What would compaction save?", save, { title: "A dry run (m)" });
  const total = h("b", {});
  const back = button("All", () => change({ in: undefined }));
  element.append(h("div", { class: "pane-head" }, choice, total, back,
    h("span", { class: "note of-now" }, "of the files as they are now"),
    h("span", { class: "compaction" }, h("label", {}, "Keep ", keep), look)), saving,
  h("div", { class: "halves" }, map, listBox), source.element);

  async function load(by) {
    try {
      if (by.startsWith("collection")) loadCounts(by);
      const found = await lines("info", { by, limit: groupsMax }, { max: groupsMax + 100, signal });
      groups = found.map((line) => ({ ...line, size: line.bytes }));
      isCounting = false;
      draw();
    } catch (error) {
      showProblem(map, error);
    }
  }

  /** Counting bytes reads the whole database; numbers of records are there at once. */
  async function loadCounts(by) {
    isCounting = true;
    const children = await readChildren("", { limit: 200, signal }).catch(() => []);
    if (!isCounting || by !== asked) return;
    groups = children.map((node) => ({ collection: node.path, use: "records",
      size: Math.max(1, node.children) }));
    draw();
  }

  const size = (number) => isCounting ? plural(number, "record") : bytes(number);

  const first = () => (asked ?? "").split(",")[0];
  const second = () => (asked ?? "").split(",")[1];
  const topName = (group) => group[first()] ?? `(${group.use ?? "other"})`;
  const lowName = (group) => second() ? group[second()] ?? `(${group.use ?? "other"})` : group.use;

  function tops() {
    const found = new Map();
    for (const group of groups) {
      const name = topName(group);
      const top = found.get(name) ?? { name, size: 0, members: [] };
      top.size += group.size;
      top.members.push(group);
      found.set(name, top);
    }
    return [...found.values()].sort((one, other) => other.size - one.size);
  }

  const draw = eachFrame(() => {
    const all = tops();
    const inside = all.find((top) => top.name === route.parameters.in);
    const shown = inside ? [inside] : all;
    const sum = shown.reduce((sum, top) => sum + top.size, 0);
    total.textContent = isCounting ? `${size(sum)}; bytes are being counted…` : bytes(sum);
    back.hidden = !inside;
    drawMap(shown);
    drawList(inside ? members(inside) : shown, sum, inside);
  });

  const members = (top) => {
    const found = new Map();
    for (const group of top.members) {
      const name = lowName(group) ?? "";
      found.set(name, (found.get(name) ?? 0) + group.size);
    }
    return [...found].map(([name, size]) => ({ name, size }))
      .sort((one, other) => other.size - one.size);
  };

  function drawMap(shown) {
    const { clientWidth: width, clientHeight: height } = map;
    const tiles = [];
    for (const box of squarify(shown, 0, 0, width, height)) {
      const top = box.item;
      const open = () => change({ in: route.parameters.in ? undefined : top.name });
      const tile = h("div", { class: "tile top", onclick: open });
      place(tile, box);
      const label = box.width > 50 && box.height > 18;
      // A click on the button is one on the tile, too.
      tile.append(h("button", { type: "button", class: "tile-name",
        "aria-label": `${top.name}, ${size(top.size)}`, title: `${top.name}: ${size(top.size)}` },
      label ? `${top.name} ${size(top.size)}` : ""));
      if (second() && !isCounting) {
        for (const low of squarify(members(top), 0, 20, box.width - 2, box.height - 22)) {
          const { name, size } = low.item;
          const part = h("div", { class: "tile low",
            title: `${top.name} · ${name}: ${bytes(size)}` },
            low.width > 44 && low.height > 15 ? name : "");
          place(part, low);
          tile.append(part);
        }
      }
      tiles.push(tile);
    }
    fill(map, tiles);
  }

  function place(tile, { x, y, width, height }) {
    tile.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    tile.style.width = `${Math.max(1, width - 1).toFixed(1)}px`;
    tile.style.height = `${Math.max(1, height - 1).toFixed(1)}px`;
  }

  function drawList(items, sum, inside) {
    fill(listBox, h("table", {}, h("thead", {}, h("tr", {}, ["", isCounting ? "Records" : "Bytes",
      "Share"].map(
      (name) => h("th", { scope: "col" }, name || "Name")))),
    h("tbody", {}, items.slice(0, 200).map((item) => h("tr", {},
      h("th", { scope: "row" }, !inside && item.members
        ? h("a", { href: link("sizes", { by: asked, in: item.name }) }, item.name) : item.name),
      h("td", { class: "number" }, size(item.size)),
      h("td", { class: "number" }, `${(item.size / (sum || 1) * 100).toFixed(1)} %`))))));
  }

  /** A dry run: nothing is dropped. */
  async function save() {
    const word = keep.value.trim();
    fill(saving, h("p", {}, estimate(word), h("span", { class: "note" },
      " Counting what it would be…")));
    const parameters = /^\d+$/.test(word) ? { "keep-last": word } : { keep: word };
    try {
      const plan = await one("compact", parameters, { signal });
      const line = sourceLine();
      line.show("compact", parameters, [], { "dry-run": true });
      const saved = plan.bytesBefore - plan.bytesAfter;
      fill(saving, h("p", {}, `It would drop ${count(plan.transactions)} of ${count(plan.head)} `
        + `transactions: ${bytes(plan.bytesBefore)} → ${bytes(plan.bytesAfter)}, `,
      h("b", {}, saved > 0 ? `${bytes(saved)} less` : "nothing saved"), "."), line.element);
    } catch (error) {
      showProblem(saving, error);
    }
  }

  /** What the log's average says at once; the dry run reads all that would be dropped. */
  function estimate(word) {
    if (!/^\d+$/.test(word)) return "";
    const { head, horizon = 0, logBytes } = store.info;
    const dropped = Math.max(0, head - horizon - Number(word));
    const saved = logBytes * dropped / Math.max(1, head - horizon);
    return `It would drop ${plural(dropped, "transaction")}: about ${bytes(Math.round(saved))} of the `
      + `log's ${bytes(logBytes)}.`;
  }

  new ResizeObserver(draw).observe(map);
  return {
    keys: [["m", "what compaction would save", save]],
    update() {
      const by = route.parameters.by in ways ? route.parameters.by : "collection,property";
      choice.value = by;
      if (by !== asked) {
        asked = by;
        load(by);
      } else draw();
      source.show("info", { by, limit: groupsMax });
    },
  };
}
