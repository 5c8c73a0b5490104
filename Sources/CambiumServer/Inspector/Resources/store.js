// What all views know: the database, how far its log goes, its tags and declarations, and whoever
// wants to hear of new transactions.

import { one, lines, follow } from "./api.js";

export const store = {
  database: "", scope: "", canWrite: false, head: 0, horizon: 0, tags: [], definitions: new Map(),
  info: undefined, connection: "connecting",
};

const listeners = new Set();

/** Calls `listener` with each new transaction, and with undefined when something else changed. */
export function onNews(listener, signal) {
  listeners.add(listener);
  signal?.addEventListener("abort", () => listeners.delete(listener));
}

function tell(transaction) {
  for (const listener of [...listeners]) listener(transaction);
}

export async function load() {
  const [server, overview] = await Promise.all([one("server"), one("").catch(() => undefined)]);
  // Whoever may see a part only is not told the numbers of the whole.
  const info = await one("info").catch((error) => {
    if (error.status === 403) return { head: server.head };
    throw error;
  });
  store.scope = server.scope ?? "";
  // The commands that the server offers, by their names.
  store.commands = overview?.commands && new Set(overview.commands.map((command) => command.name));
  store.info = info;
  store.head = info.head;
  store.horizon = info.horizon ?? 0;
  store.first = info.first;
  store.last = info.last;
  store.database = server.database ?? "";
  store.canWrite = server.write === true;
  loadTags();
  await loadDefinitions();
}

/** The number of the last transaction at a moment, which is written as in the command line. */
export async function sequenceAt(word, signal) {
  const [found] = await lines("log", { until: word, reverse: true, limit: 1 }, { max: 1, signal });
  return found ? found.sequence : store.horizon;
}

export async function loadTags() {
  try {
    store.tags = await lines("tag", {}, { max: 500 });
  } catch {
    store.tags = [];
  }
  tell();
}

/** The declarations of collections, by their paths. */
export async function loadDefinitions() {
  try {
    const found = await lines("schema", { declared: true }, { max: 2000 });
    store.definitions = new Map(found.filter((line) => line.definition)
      .map((line) => [line.collection, line.definition]));
  } catch {
    store.definitions = new Map();
  }
}

export function followChanges() {
  const parameters = { after: store.head };
  follow("changes", parameters, {
    signal: new AbortController().signal,
    onEvent(transaction) {
      if (!(transaction.sequence > 0)) return;
      store.head = Math.max(store.head, transaction.sequence);
      store.last = transaction.time ?? store.last;
      tell(transaction);
    },
    onState(state) {
      store.connection = state;
      tell();
    },
  });
}
