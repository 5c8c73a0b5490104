// One transaction: who, when and why, what it changed, and what it has to do with others.

import { h, button, fill, append } from "../dom.js";
import { lines, one } from "../api.js";
import { link, change, route } from "../router.js";
import { store } from "../store.js";
import { sourceLine, showProblem } from "../pane.js";
import { changeList } from "../changes.js";
import { time, count, plural } from "../format.js";
import { undoDialog } from "./undo.js";

/** `show` has all changes in one object, so that larger ones are read as lines, and cut. */
const operationsMax = 2000;
const changesMax = 1000;
/** So far back it is looked for what undid a transaction without being asked to. */
const lookMax = 20000;

/** What a transaction changed: [its head, its changes]. */
export async function readTransaction(sequence, signal) {
  const [head] = await lines("log", { since: sequence - 1, until: sequence }, { signal, max: 1 });
  if (!head) return [undefined, []];
  if (head.operations <= operationsMax) {
    const whole = await one("show", { rev: sequence }, { signal });
    return [whole, whole?.changes ?? whole?.operations ?? []];
  }
  const changes = await lines("diff", { range: `${sequence - 1}..${sequence}` },
    { signal, max: changesMax });
  return [head, changes];
}

const linked = /^(undoes|redoes|reverts|retries|retry-of|cause|causes|merges|merged)$/;

export function transactionPanel(element, signal) {
  let shown;
  let stop = new AbortController();
  const source = sourceLine();

  async function show(sequence) {
    if (sequence === shown) return;
    shown = sequence;
    stop.abort();
    stop = new AbortController();
    if (!sequence) return fill(element);
    try {
      const [transaction, changes] = await readTransaction(sequence, stop.signal);
      if (shown !== sequence) return;
      if (!transaction) {
        return fill(element, h("p", { class: "note" }, `There is no transaction ${sequence}.`));
      }
      draw(transaction, changes);
    } catch (error) {
      if (shown === sequence) showProblem(element, error);
    }
  }

  function draw(transaction, changes) {
    const { sequence, metadata = {} } = transaction;
    const relations = h("span", { class: "relations" });
    const about = Object.entries(metadata).filter(([name]) => name !== "reason"
      && name !== "actor");
    source.show("show", { rev: sequence }, ["rev"]);
    fill(element,
      h("header", { class: "transaction" },
        h("h3", {}, `tx ${count(sequence)}`),
        h("span", {}, time(transaction.time)),
        metadata.actor && h("a", { href: link("log", { f: `actor=${quotedWord(metadata.actor)}` }),
          title: "All of theirs" }, metadata.actor),
        metadata.reason && h("q", {}, metadata.reason),
        h("span", { class: "note" }, plural(transaction.operations, "operation")),
        about.map(([name, value]) => h("span", { class: "metadata" }, `${name}=`,
          linked.test(name) ? numbers(value) : h("b", {}, String(value)))), relations,
        h("span", { class: "actions" },
          button("State then", () => change({ at: sequence }), { title: "Show the state (s)" }),
          button("Undo…", undo, { disabled: !store.canWrite, title: "Undo it (u)" }),
          button("✕", () => change({ tx: undefined }), { class: "quiet",
            "aria-label": "Close the transaction" }))),
      eventsOf(transaction), changeList(changes), source.element);
    if (store.head - sequence < lookMax) lookForEffects(sequence, relations);
    else append(relations, [button("What undid it?", () => lookForEffects(sequence, relations),
      { class: "quiet" })]);
    document.dispatchEvent(new CustomEvent("lit", { detail: changes.map((one) => one.path) }));
  }

  /** Looks for later transactions that say that they undo this one. */
  async function lookForEffects(sequence, relations) {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(10000)]);
    const found = await lines("log",
      { match: [`undoes=${sequence}`], since: sequence, limit: 3 }, { signal, max: 3 })
      .catch(() => []);
    fill(relations, found.map((other) => h("span", { class: "metadata" }, "undone by ",
      h("a", { href: link("log", { tx: other.sequence }) }, `tx ${count(other.sequence)}`))));
  }

  function undo() {
    const sequence = Number(route.parameters.tx);
    if (sequence && store.canWrite) undoDialog(sequence);
  }

  signal.addEventListener("abort", () => stop.abort());
  return { show, undo };
}

const quotedWord = (word) => /[\s"']/.test(word) ? JSON.stringify(word) : word;

const numbers = (value) => String(value).split(/(\d+)/).map((part) => /^\d+$/.test(part)
  ? h("a", { href: link("log", { tx: part }) }, part) : part);

function eventsOf(transaction) {
  const events = transaction.events ?? [];
  return events.length > 0 && h("ul", { class: "events", "aria-label": "Events" },
    events.slice(0, 50).map((event) => h("li", {}, h("b", {}, `! ${event.name ?? event} `),
      h("span", { class: "value" }, JSON.stringify(event.payload ?? "")))));
}
