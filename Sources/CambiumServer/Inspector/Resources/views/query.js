// Query: results as a table, the plan as a drawing, a chart, and a list that follows every change.

import { h, button, fill, announce } from "../dom.js";
import { lines, linesAt, follow, newest } from "../api.js";
import { route, link, change, moment, go } from "../router.js";
import { store } from "../store.js";
import { completing } from "../complete.js";
import { resultTable, columnChoice, csv, jsonLines, save } from "../table.js";
import { queryOffers, sortedBy, sortOf, isGrouped, collectionOf } from "../querytext.js";
import { bars, line, chartColumns, planDrawing, readPlan } from "../charts.js";
import { sourceLine, showProblem } from "../pane.js";
import { placeOf, markElement } from "../filter.js";
import { count } from "../format.js";
import { readChildren } from "./state.js";
import { applyDifference } from "../live.js";

const page = 200;
const planMilliseconds = 60;

export function queryView(element, signal) {
  let asked;
  let rows = [];
  let isComplete = true;
  /** The address of the next page. */
  let next;
  let isLoading = false;
  let stop = new AbortController();
  let hidden = new Set();
  const names = new Map();
  const marks = new Map();

  // MARK: The field

  const field = h("textarea", { rows: 2, "data-search": "", spellcheck: "false",
    "aria-label": "Query", "aria-describedby": "query-mistake",
    placeholder: "flights where dep_delay > 60 sort -dep_delay" });
  const mistakeLine = h("div", { class: "mistake", id: "query-mistake", role: "alert" });
  const run = () => {
    asked = undefined;
    change({ q: field.value.trim() || undefined, live: undefined });
  };
  const fieldBox = completing(field, (text, caret) => queryOffers(text, caret, collections,
    namesOf),
    { onEnter: run });

  let collections = [...store.definitions.keys()];
  readChildren(store.scope, { limit: 100 }).then((children) => {
    const found = children.filter((child) => child.children > 0).map((child) => child.path);
    // A part of the tree may be one collection.
    if (store.scope && found.length === 0) found.push(store.scope);
    collections = [...new Set([...collections, ...found])];
    drawStart();
  }, () => {});

  /** The names of a collection's properties, from its declaration and its first records. */
  async function namesOf(collection) {
    if (!collections.includes(collection)) return [];
    if (!names.has(collection)) {
      const declared = store.definitions.get(collection)?.properties ?? [];
      names.set(collection, declared.map((one) => one.name));
      const seen = await lines("query", { query: `${collection} limit 5` },
        { max: 5 }).catch(() => []);
      names.set(collection, [...new Set([...names.get(collection), "id",
        ...seen.flatMap((row) => Object.keys(row).filter((name) => name !== "v"))])]);
    }
    return names.get(collection);
  }

  // MARK: The parts

  const counter = h("span", { class: "note", role: "status" });
  const liveButton = button("Live", () => change({ live: route.parameters.live ? undefined : "1" }),
    { "aria-pressed": "false", title: "Keep it up to date (l)" });
  const columnBox = h("span", {});
  const tabs = ["Table", "Plan", "Chart"].map((title) => {
    const name = title.toLowerCase();
    return button(title, () => change({ tab: name === "table" ? undefined : name }), {
      role: "tab", "data-tab": name,
      id: `tab-${name}`, "aria-controls": "query-panel" });
  });
  const table = resultTable({ marks, onSort: sortBy, onOpen: openRow, onEnd: loadMore });
  const panel = h("div", { class: "panel", id: "query-panel", role: "tabpanel" });
  const source = sourceLine();
  const exportAs = (kind) => {
    const content = kind === "csv" ? csv(rows, table.shown) : jsonLines(rows, table.shown);
    save(`${collectionOf(asked ?? "query")}.${kind}`, kind === "csv" ? "text/csv"
      : "application/jsonl",
      content);
    announce(`${rows.length} rows are saved.`);
  };
  element.append(h("div", { class: "pane-head query-head" }, fieldBox,
    button("Run", run, { class: "main", title: "Run (Enter)" })), mistakeLine,
  h("div", { class: "tools" }, h("div", { role: "tablist", "aria-label": "Show as" }, tabs),
    counter,
    liveButton, columnBox, button("CSV", () => exportAs("csv"),
      { title: "Save what is seen as CSV (x)" }),
    button("JSON lines", () => exportAs("jsonl"), { title: "Save what is seen as JSON lines" })),
  panel, source.element);

  function openRow(row) {
    const { id } = row;
    if (isGrouped(asked)) openGroup(row);
    else if (id !== undefined) {
      go(link("state", { path: `${collectionOf(asked)}/${id}`, cmp: undefined }));
    }
  }

  /** The records of a group, as a query. */
  function openGroup(row) {
    const base = asked.slice(0, asked.indexOf("|")).trim();
    const by = asked.match(/group by\s+(.*?)\s+select/i)?.[1].split(",").map((name) => name.trim())
      ?? [];
    const tests = by.filter((name) => row[name] !== undefined)
      .map((name) => row[name] === null ? `${name} is null`
        : `${name} = ${JSON.stringify(row[name])}`);
    if (tests.length === 0) return;
    const joint = / where /i.test(base) ? " and " : " where ";
    change({ q: base + joint + tests.join(" and ") });
  }

  function sortBy(name) {
    const [old, descending] = sortOf(asked);
    field.value = sortedBy(asked, name === "id" ? "id" : name, old === name && !descending);
    run();
  }

  // MARK: Asking

  /** True while the list follows what comes: the past does not change, and is asked for instead. */
  const isLive = () => Boolean(route.parameters.live) && moment() === undefined;

  const ask = newest(async (superseded) => {
    if (!asked || isLive()) return;
    stop.abort();
    stop = new AbortController();
    superseded.addEventListener("abort", () => stop.abort());
    [rows, isComplete, isLoading] = [[], false, false];
    fill(mistakeLine);
    field.removeAttribute("aria-invalid");
    await loadMore(true);
  });

  async function loadMore(isFirst = false) {
    if (isComplete || isLoading || !asked || isLive()) return;
    isLoading = true;
    const { signal } = stop;
    const at = moment();
    try {
      const found = isFirst ? await lines("query", { query: asked, at, page }, { signal })
        : await linesAt(next, { signal });
      if (signal.aborted) return;
      next = found.next;
      isComplete = next === undefined;
      rows = isFirst ? found : [...rows, ...found];
      answered = asked;
      show(isFirst);
      if (isFirst) panel.dataset.moment = at ?? "now";
    } catch (error) {
      if (signal.aborted) return;
      isComplete = true;
      failed(error);
    }
    isLoading = false;
  }

  function show(isOther) {
    table.show(rows, sortOf(asked), isOther);
    const waits = route.parameters.live && !isLive() ? " · live again at Now" : "";
    counter.textContent = `${count(rows.length)}${isComplete ? "" : "+"} rows${waits}`;
    if (isOther) {
      announce(counter.textContent);
      fill(columnBox, columnChoice(table, hidden, (names) => {
        change({ hide: [...names].join(",") || undefined }, true);
      }));
      draw();
    }
  }

  function failed(error) {
    rows = [];
    show(true);
    counter.textContent = "";
    field.setAttribute("aria-invalid", "");
    const place = placeOf(error, asked);
    fill(mistakeLine, markElement({ ...place,
      message: `${error.message}${error.hint ? ` (${error.hint})` : ""}` }, h));
  }

  // MARK: Live

  let stopLive = new AbortController();
  function followLive(query) {
    stopLive.abort();
    stop.abort();
    stopLive = new AbortController();
    marks.clear();
    let isFirst = true;
    let sections = [];
    follow("live", { query }, {
      signal: AbortSignal.any([stopLive.signal, signal]), resumes: false,
      onEvent(difference) {
        if (difference.error) return failed(difference.error);
        const applied = applyDifference(isFirst ? [] : rows, isFirst ? [] : sections, difference);
        ({ rows, sections } = applied);
        isComplete = true;
        if (!isFirst) mark(applied.marks);
        show(isFirst);
        if (!isFirst) announce(`${rows.length} rows, ${applied.marks.size} changed`);
        isFirst = false;
        counter.textContent = `${count(rows.length)} rows · live · tx ${count(difference.sequence ?? 0)}`;
      },
      onState(state, error) {
        if (state === "refused") failed(error);
        if (state === "retrying") counter.textContent = "offline, trying again";
        if (state === "live") isFirst = true;
      },
    });
  }

  function mark(changes) {
    for (const [id, kind] of changes) {
      marks.set(id, `flash-${kind}`);
      setTimeout(() => {
        marks.delete(id);
        table.redraw();
      }, 2000);
    }
  }

  // MARK: What is shown

  function draw() {
    const tab = route.parameters.tab ?? "table";
    for (const item of tabs) {
      item.setAttribute("aria-selected", String(item.dataset.tab === tab));
      item.tabIndex = item.dataset.tab === tab ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", `tab-${tab}`);
    if (!asked) return drawStart();
    if (tab === "table") return panel.firstChild === table.element || fill(panel, table.element);
    if (tab === "chart") return drawChart();
    if (tab === "plan") drawPlan();
  }

  function drawStart() {
    if (asked) return;
    fill(panel, h("p", { class: "note" }, "Ask a collection:"), h("ul", { class: "starts" },
      collections.slice(0, 60).map((name) => h("li", {}, h("a", {
        href: link("query", { q: name }, ["at"]) }, name)))));
  }

  /** A plan is shown with what was read in a moment; where that is not all, it is run to its end. */
  const drawPlan = newest(async (superseded) => {
    const query = asked;
    const isShown = () => query === asked && route.parameters.tab === "plan" && !superseded.aborted;
    const parameters = { query, explain: true, at: moment() };
    const options = { max: 200, signal: AbortSignal.any([signal, superseded]) };
    try {
      for (const within of [planMilliseconds, undefined]) {
        const plan = readPlan(await lines("query", { ...parameters, within }, options));
        if (isShown()) fill(panel, planDrawing(plan));
        if (!plan.isPart || !isShown()) return;
      }
    } catch (error) {
      if (isShown()) showProblem(panel, error);
    }
  });

  /** The queries whose rows are here, and whose groups of the past the server was asked for. */
  let answered;
  let prepared;

  /** The server keeps a timeline of groups that it is asked for at two past moments: so a chart that
   * is shown can be dragged through time. It keeps none of extremes. */
  async function prepareDrag() {
    const query = asked;
    if (answered !== query || prepared === query || moment() !== undefined) return;
    if (!isGrouped(query) || /\b(min|max)\(/i.test(query)) return;
    prepared = query;
    for (const share of [0.75, 0.5]) {
      if (asked !== query || route.parameters.tab !== "chart") return;
      const at = store.horizon + Math.floor(share * (store.head - store.horizon));
      await lines("query", { query, at, page }, { signal }).catch(() => {});
    }
  }

  function drawChart() {
    prepareDrag();
    const { numbers, across } = chartColumns(rows, table.columns);
    const value = numbers.includes(route.parameters.y) ? route.parameters.y
      : numbers.find((name) => name !== across);
    const by = table.columns.includes(route.parameters.x) ? route.parameters.x : across;
    if (!value) return fill(panel, h("p", { class: "note" },
      "There is no column of numbers to draw."));
    const choice = (label, name, options, now) => h("label", {}, `${label} `, h("select",
      { onchange: (event) => change({ [name]: event.target.value }) },
      options.map((option) => h("option", { value: option, selected: option === now }, option))));
    const isOverTime = chartColumns(rows, [by]).dates.length > 0 || numbers.includes(by);
    fill(panel, h("div", { class: "tools" }, choice("Draw", "y", numbers, value),
      choice("by", "x", table.columns, by)), isOverTime ? line(rows, by, value) : bars(rows, by,
        value));
  }

  signal.addEventListener("abort", () => {
    stop.abort();
    stopLive.abort();
  });

  let shownAt;
  let shownLive;
  let shownTab;
  return {
    keys: [
      ["l", "live, or not", () => change({ live: route.parameters.live ? undefined : "1" })],
      ["x", "save what is seen as CSV", () => exportAs("csv")],
      ["w", "the plan, and back", () =>
        change({ tab: route.parameters.tab === "plan" ? undefined : "plan" })],
      ["h", "a chart, and back", () =>
        change({ tab: route.parameters.tab === "chart" ? undefined : "chart" })],
    ],
    update() {
      const { q, live, tab, hide } = route.parameters;
      const at = moment();
      const isOtherQuery = q !== asked || live !== shownLive;
      const isOther = isOtherQuery || at !== shownAt;
      if (q !== asked && document.activeElement !== field) field.value = q ?? "";
      if (q && field.value === "") field.value = q;
      [asked, shownAt, shownLive] = [q, at, live];
      liveButton.setAttribute("aria-pressed", String(Boolean(live)));
      hidden = new Set(hide ? hide.split(",") : []);
      table.hide(hidden);
      if (isOther) {
        stopLive.abort();
        if (isOtherQuery) stop.abort();
        if (!q) draw();
        else if (isLive()) followLive(q);
        else ask();
      }
      if (tab !== shownTab || isOther) {
        shownTab = tab;
        draw();
      }
      source.show("query", { query: q, at, explain: tab === "plan" }, ["query"]);
    },
  };
}
