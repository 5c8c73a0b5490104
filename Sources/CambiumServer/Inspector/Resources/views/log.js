// Log: all transactions, the newest last, and one of them with its changes. Without a filter a row's
// place is its number, so that any stretch of the list can be asked for; with one, the list grows
// backwards from its end as one scrolls.

import { h, button, fill, settled, announce } from "../dom.js";
import { lines } from "../api.js";
import { route, link, change, moment, go } from "../router.js";
import { store, onNews, sequenceAt } from "../store.js";
import { windowedList } from "../windowed.js";
import { completing } from "../complete.js";
import { parseFilter, filterOffers, placeOf, markElement } from "../filter.js";
import { sourceLine } from "../pane.js";
import { time, count } from "../format.js";
import { transactionPanel } from "./transaction.js";

const page = 200;
const pagesMax = 60;
/** The shortest and the longest stretch of the log that one request searches. */
const stretchMin = 5000;
const stretchMax = 100_000;

export function logView(element, signal) {
  const pages = new Map();
  const waiting = new Set();
  const known = new Map();
  let filter = { parameters: {}, isEmpty: true };
  let found = [];
  let isComplete = true;
  let isLoading = false;
  let stopLoading = new AbortController();
  let shownFilter;
  let selected;
  let pinned = true;

  // MARK: The field

  const field = h("input", { type: "text", "data-search": "", spellcheck: "false",
    autocomplete: "off", "aria-label": "Filter", "aria-describedby": "filter-mistake",
    placeholder: "actor=anna op=delete path=weather/* since=yesterday" });
  const mistakeLine = h("div", { class: "mistake", id: "filter-mistake", role: "alert" });
  const apply = settled(250, () => {
    if (!parseFilter(field.value).mistake) change({ f: field.value || undefined }, true);
  });
  const check = () => {
    const { mistake } = parseFilter(field.value);
    field.toggleAttribute("aria-invalid", Boolean(mistake));
    fill(mistakeLine, document.activeElement === field && field.value.endsWith("=") ? []
      : markElement(mistake, h));
    apply();
  };
  const fieldBox = completing(field, (text, caret) => filterOffers(text, caret, known),
    { onEnter: () => change({ f: field.value || undefined }), onInput: check });

  // MARK: The list

  const first = () => store.horizon + 1;
  const at = (index) => filter.isEmpty
    ? pages.get(Math.floor(index / page))?.[index % page] : found[index];

  const list = windowedList({
    id: "log-list", label: "Transactions", rowHeight: 24,
    row: rowElement,
    onOpen: (index) => select(at(index)?.sequence),
    onMove: (index) => select(at(index)?.sequence, true),
    onRange: (first, last) => {
      pinned = list.isAtEnd;
      if (filter.isEmpty) loadPages(first, last);
      else if (first < 50 && !isComplete && !isLoading) loadOlder();
    },
    onKey: (event) => event.key === "u" && selected && (detail.undo(), true),
  });

  function rowElement(index) {
    const transaction = at(index);
    const sequence = transaction?.sequence ?? (filter.isEmpty ? index + first() : "");
    const row = h("div", { role: "option", "aria-setsize": filter.isEmpty ? list.total : -1,
      "aria-posinset": index + 1, "aria-selected": String(sequence === selected) });
    if (sequence === selected) row.classList.add("selected");
    if (sequence === moment()) row.classList.add("moment");
    if (sequence > (moment() ?? Infinity)) row.classList.add("later");
    if (transaction?.isNew) row.classList.add("flash-added");
    const metadata = transaction?.metadata ?? {};
    const rest = Object.entries(metadata).filter(([name]) => name !== "actor" && name !== "reason")
      .map(([name, value]) => `${name}=${value}`).join(" ");
    const events = transaction?.events?.map?.((event) => event.name ?? event).join(" ");
    row.append(h("span", { class: "sequence" }, sequence === "" ? "" : count(sequence)),
      h("span", { class: "time" }, transaction ? time(transaction.time) : ""),
      h("span", { class: "actor" }, metadata.actor ?? ""),
      h("span", { class: "operations", title: "operations" },
        transaction ? count(transaction.operations) : ""),
      h("span", { class: "reason" }, metadata.reason ? `“${metadata.reason}” ` : "",
        events ? `! ${events} ` : "", h("span", { class: "note" }, rest)));
    return row;
  }

  /** Keeps the values of fields that were seen, to offer them. */
  function learn(transactions) {
    for (const { metadata = {}, origin } of transactions) {
      for (const [name, value] of [...Object.entries(metadata), ["origin", origin]]) {
        const values = known.get(`${name}=`) ?? new Set();
        if (values.size < 50 && value) values.add(String(value));
        known.set(`${name}=`, values);
      }
    }
  }

  async function loadPages(firstRow, lastRow) {
    for (let number = Math.floor(firstRow / page); number * page < lastRow; number += 1) {
      if (pages.has(number) || waiting.has(number) || waiting.size > 3) continue;
      waiting.add(number);
      const since = store.horizon + number * page;
      const stop = stopLoading.signal;
      try {
        const transactions = await lines("log", {
          since, until: Math.min(since + page, store.head) }, { signal: stop, max: page });
        if (pages.size >= pagesMax) pages.delete(pages.keys().next().value);
        pages.set(number, transactions);
        learn(transactions);
        list.redraw();
      } catch (error) {
        failed(error);
      } finally {
        waiting.delete(number);
      }
    }
  }

  /** Where the search goes on, and where it ends. */
  let search = { at: 0, low: 0 };

  /**
   * Searches backwards, in stretches that get longer, until a page is found: so what is near is
   * seen at once, also where little is found in a long log.
   */
  async function loadOlder(isFirst = false) {
    isLoading = true;
    const { signal } = stopLoading;
    const { since, until, ...conditions } = filter.parameters;
    try {
      if (isFirst) {
        const [low, at] = await Promise.all([since ? sequenceAt(since, signal) : store.horizon,
          until ? sequenceAt(until, signal) : store.head]);
        search = { at, low };
      }
      let wanted = page;
      for (let stretch = stretchMin; wanted > 0 && search.at > search.low && !signal.aborted;) {
        const from = Math.max(search.low, search.at - stretch);
        const older = await lines("log", { ...conditions, since: from, until: search.at,
          reverse: true, limit: wanted }, { signal, max: wanted });
        if (signal.aborted) return;
        search.at = older.length === wanted ? older.at(-1).sequence - 1 : from;
        wanted -= older.length;
        stretch = Math.min(stretchMax, stretch * 2);
        prepend(older.toReversed());
      }
      isComplete = search.at <= search.low;
      showCount();
    } catch (error) {
      if (!signal.aborted) isComplete = true;
      failed(error);
    }
    if (!signal.aborted) isLoading = false;
  }

  function prepend(older) {
    const wasEmpty = found.length === 0;
    found = [...older, ...found];
    learn(older);
    list.resize(found.length, wasEmpty ? 0 : older.length);
    if (wasEmpty || pinned) list.end();
    showCount();
  }

  function failed(error) {
    if (error.name === "AbortError" || stopLoading.signal.aborted) return;
    const place = filter.isEmpty ? { from: 0, to: 1 } : placeOf(error, field.value);
    field.setAttribute("aria-invalid", "");
    fill(mistakeLine, markElement({ ...place,
      message: `${error.message}${error.hint ? ` (${error.hint})` : ""}` }, h));
  }

  function restart() {
    stopLoading.abort();
    stopLoading = new AbortController();
    [found, isComplete, isLoading] = [[], false, false];
    pages.clear();
    waiting.clear();
    fill(mistakeLine);
    field.removeAttribute("aria-invalid");
    if (filter.isEmpty) {
      list.resize(Math.max(0, store.head - store.horizon));
      list.end();
      showCount();
    } else {
      list.resize(0);
      loadOlder(true);
    }
  }

  const total = h("span", { class: "note", role: "status" });
  function showCount() {
    const isPart = !filter.isEmpty && !isComplete;
    const more = isPart ? "+" : "";
    const searched = isPart && isLoading ? `, searching before tx ${count(search.at)}…` : "";
    total.textContent = `${count(list.total)}${more}${searched}`;
    if (!filter.isEmpty) announce(`${list.total}${more} transactions found`);
  }

  onNews((transaction) => {
    if (!transaction) return;
    const wasPinned = pinned;
    transaction.isNew = true;
    setTimeout(() => transaction.isNew = false, 2000);
    learn([transaction]);
    if (filter.isEmpty) {
      const index = transaction.sequence - first();
      const held = pages.get(Math.floor(index / page));
      if (held && held.length === index % page) held.push(transaction);
      else pages.delete(Math.floor(index / page));
      list.resize(store.head - store.horizon);
    } else matchNewer();
    if (wasPinned) list.end();
    showCount();
  }, signal);

  /** Asks whether what came since the last row found passes the filter. */
  const matchNewer = settled(100, async () => {
    const since = found.at(-1)?.sequence ?? filter.parameters.since;
    const wasPinned = pinned;
    const newer = await lines("log", { ...filter.parameters, since, limit: page }, { max: page })
      .catch(() => []);
    if (newer.length === 0) return;
    for (const transaction of newer) transaction.isNew = true;
    found = [...found, ...newer.filter((one) => one.sequence > (found.at(-1)?.sequence ?? 0))];
    list.resize(found.length);
    if (wasPinned) list.end();
    showCount();
  });

  // MARK: One transaction

  const detailElement = h("div", { class: "detail" });
  const detail = transactionPanel(detailElement, signal);

  const chooseSoon = settled(120, (sequence) => change({ tx: sequence }, true));
  function select(sequence, soon = false) {
    if (sequence === undefined || sequence === "") return;
    selected = Number(sequence);
    list.redraw();
    if (soon) chooseSoon(sequence);
    else change({ tx: sequence });
  }

  const source = sourceLine();
  element.append(h("div", { class: "pane-head" }, fieldBox, total,
    button("End", () => list.end(), { class: "quiet", title: "To the newest" })), mistakeLine,
  list.element, source.element, detailElement);

  function reveal(sequence) {
    const index = filter.isEmpty ? sequence - first()
      : found.findIndex((transaction) => transaction.sequence === sequence);
    if (index < 0) return;
    if (list.active !== index || !list.element.contains(document.activeElement)) {
      list.move(index, false);
    }
  }

  return {
    keys: [
      ["u", "undo the transaction, after a look at what it does", () => selected && detail.undo()],
      ["s", "show the state at the transaction", () => selected && change({ at: selected })],
      ["j", "the transaction after", () => (list.element.focus(), list.move(list.active + 1))],
      ["k", "the transaction before", () => (list.element.focus(), list.move(list.active - 1))],
    ],
    update() {
      const text = route.parameters.f ?? "";
      if (text !== shownFilter) {
        shownFilter = text;
        if (document.activeElement !== field) field.value = text;
        filter = parseFilter(text);
        restart();
      }
      const sequence = Number(route.parameters.tx) || undefined;
      if (sequence && sequence !== selected) {
        selected = sequence;
        reveal(sequence);
      }
      element.classList.toggle("has-detail", Boolean(sequence));
      detail.show(sequence);
      list.redraw();
      source.show("log", { ...filter.parameters, reverse: true, limit: page }, ["path"]);
    },
  };
}

/** The address of a transaction in the log. */
export const transactionLink = (sequence) => link("log", { tx: sequence });
export const openTransaction = (sequence) => go(transactionLink(sequence));
