// Schema: collections with their properties, indexes and views, and references between them as a
// drawing.

import { h, fill, eachFrame } from "../dom.js";
import { lines } from "../api.js";
import { link, moment } from "../router.js";
import { store, loadDefinitions } from "../store.js";
import { sourceLine, showProblem } from "../pane.js";
import { count, text } from "../format.js";
import { targetOf } from "./record.js";

const collectionsMax = 200;
const propertiesMax = 60;

export function schemaView(element, signal) {
  let collections = [];
  let shownAt = null;
  const drawing = h("svg", { class: "edges", "aria-hidden": "true" });
  const boxes = h("div", { class: "boxes" });
  const stage = h("div", { class: "stage" }, drawing, boxes);
  const source = sourceLine();
  element.append(h("div", { class: "pane-head" }, h("h2", {}, "Collections")), stage,
    source.element);

  async function load(at) {
    try {
      const [seen] = await Promise.all([
        lines("schema", { at }, { max: 10000, signal }), loadDefinitions()]);
      const found = new Map();
      for (const line of seen) {
        if (!line.collection || line.definition) continue;
        const one = found.get(line.collection)
          ?? { name: line.collection, children: line.children, properties: new Map() };
        if (line.property) one.properties.set(line.property, { seen: line.types,
          present: line.present,
          of: line.seen });
        found.set(line.collection, one);
      }
      for (const [name, definition] of store.definitions) {
        const one = found.get(name) ?? { name, properties: new Map() };
        one.definition = definition;
        for (const property of definition.properties ?? []) {
          one.properties.set(property.name, { ...one.properties.get(property.name),
            declared: property });
        }
        found.set(name, one);
      }
      collections = [...found.values()].slice(0, collectionsMax);
      draw();
    } catch (error) {
      showProblem(boxes, error);
    }
  }

  function draw() {
    const columns = layered(collections);
    fill(boxes, columns.map((column) => h("div", { class: "layer" }, column.map(boxOf))));
    drawEdges();
  }

  function boxOf(collection) {
    const { name, definition, properties } = collection;
    const all = [...properties];
    return h("article", { class: "collection", "data-collection": name, "aria-label": name },
      h("h3", {}, h("a", { href: link("query", { q: name }, ["at"]) }, name),
        h("span", { class: "note" }, collection.children === undefined ? ""
          : count(collection.children),
          definition ? ` ${definition.model ?? "declared"} v${definition.version ?? 1}`
            : " not declared")),
      h("table", {}, h("tbody", {}, all.slice(0, propertiesMax).map(([property, known]) => {
        const to = targetOf(known.declared?.type);
        return h("tr", { "data-to": to, "data-property": property },
          h("th", { scope: "row" }, property, known.declared?.required && h("abbr",
            { title: "required" }, "*")),
          h("td", {}, to ? h("a", { href: link("schema", { show: to }) }, `→ ${to}`)
            : typeText(known)));
      }))),
      all.length > propertiesMax && h("p", { class: "note" }, `${all.length - propertiesMax} more`),
      h("ul", { class: "declared" }, definition && [
        (definition.indexes ?? []).map((index) => h("li", {}, h("b", {}, index.unique ? "unique "
          : "index "),
          (index.terms ?? []).map(termText).join(", "), index.where && ` where ${index.where}`)),
        (definition.views ?? []).map((view) => h("li", {}, h("b", {}, "view "), viewText(view))),
        (definition.rules ?? []).map((rule) => h("li", {}, h("b", {}, "rule "), text(rule)))]));
  }

  /** Lines from each reference to what it refers to. */
  const drawEdges = eachFrame(() => {
    const outer = stage.getBoundingClientRect();
    const [dx, dy] = [stage.scrollLeft - outer.left, stage.scrollTop - outer.top];
    drawing.setAttribute("width", boxes.scrollWidth);
    drawing.setAttribute("height", boxes.scrollHeight);
    const paths = [];
    for (const row of boxes.querySelectorAll("tr[data-to]")) {
      const target = boxes.querySelector(`[data-collection="${CSS.escape(row.dataset.to)}"] h3`);
      if (!target) continue;
      const { top, height } = row.getBoundingClientRect();
      const from = row.closest(".collection").getBoundingClientRect();
      const to = target.getBoundingClientRect();
      const isRight = to.left > from.right;
      const isLeft = to.right < from.left;
      const x1 = (isLeft ? from.left : from.right) + dx;
      const x2 = (isRight ? to.left : isLeft ? to.right : to.right) + dx;
      const [y1, y2] = [top + height / 2 + dy, to.top + to.height / 2 + dy];
      const bend = Math.max(30, Math.abs(x2 - x1) / 2);
      const end = isRight ? x2 - bend : x2 + bend;
      paths.push(h("path", { d: `M${x1},${y1} C${isLeft ? x1 - bend : x1 + bend},${y1} ${end},${y2} `
        + `${x2},${y2}` }), h("circle", { cx: x2, cy: y2, r: 3 }));
    }
    fill(drawing, paths);
  });
  new ResizeObserver(drawEdges).observe(stage);

  return {
    keys: [],
    update() {
      const at = moment();
      if (at !== shownAt) {
        shownAt = at;
        load(at);
      }
      source.show("schema", { at });
    },
  };
}

/** Collections in layers, so that most references lead to the right. */
function layered(collections) {
  const targets = new Map(collections.map((one) => [one.name, new Set([...one.properties.values()]
    .map((property) => targetOf(property.declared?.type)).filter(Boolean))]));
  const depth = (name, above = new Set()) => above.has(name) ? 0 : Math.max(0,
    ...[...targets.get(name) ?? []].filter((to) => to !== name && targets.has(to))
      .map((to) => depth(to, new Set([...above, name])) + 1));
  const layers = [];
  for (const collection of collections) {
    const level = depth(collection.name);
    (layers[level] ??= []).push(collection);
  }
  return layers.filter(Boolean).reverse();
}

const typeText = ({ declared, seen, present, of }) => [
  declared ? (typeof declared.type === "string" ? declared.type : text(declared.type))
    : (seen ?? []).join(" or "),
  !declared && present < of ? `in ${count(present)} of ${count(of)}`
    : ""].filter(Boolean).join(" ");

const termText = (term) => typeof term === "string" ? term
  : `${term.descending ? "-" : ""}${term.property ?? text(term)}`;

const measureText = (measure) => typeof measure === "string" ? measure
  : Object.entries(measure).map(([name, of]) => `${name}(${text(of)})`).join(" ");

function viewText(view) {
  if (view.groups) {
    const by = view.groups.by?.length ? ` by ${view.groups.by.map(termText).join(", ")}` : "";
    return view.groups.measures.map(measureText).join(", ") + by;
  }
  if (view.text) return `words of ${view.text.properties.join(", ")}`;
  if (view.top) return `first by ${view.top.terms.map(termText).join(", ")}`;
  return text(view);
}
