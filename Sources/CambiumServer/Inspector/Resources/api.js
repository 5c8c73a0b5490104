// The server's interface. It is the command line over HTTP: a command's JSON lines are read as they
// come, and a request ends once enough of them are here.

let token = sessionStorage.getItem("token");

export class ServerError extends Error {
  constructor(status, error) {
    super(error.message || `the server answered ${status}`);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
    this.position = error.position;
  }
}

/** The address of a command's JSON: parameters that are true are flags, arrays are repeated. */
export function address(command, parameters = {}) {
  const parts = [];
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === undefined || one === null || one === false || one === "") continue;
      const encoded = encodeURIComponent(one).replaceAll("%2F", "/");
      parts.push(one === true ? name : `${name}=${encoded}`);
    }
  }
  return `/v1/${command}${parts.length ? "?" + parts.join("&") : ""}`;
}

async function send(path, options = {}) {
  const headers = { ...options.headers };
  const used = token;
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { ...options, headers });
  // Another request may have asked for the token meanwhile.
  if (response.status === 401 && (token !== used || askForToken())) return send(path, options);
  if (response.ok) return response;
  let error = {};
  try {
    error = (await response.json()).error || {};
  } catch { /* Not in JSON: the status has to do. */ }
  throw new ServerError(response.status, error);
}

let asked = false;

/** Asks once; a token that is refused is asked for again when the page is loaded again. */
function askForToken() {
  if (asked) return false;
  asked = true;
  token = prompt("This server asks for a token:") || "";
  sessionStorage.setItem("token", token);
  return token !== "";
}

async function* texts(response, signal) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const cancel = () => reader.cancel().catch(() => {});
  signal?.addEventListener("abort", cancel);
  let rest = "";
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      yield lines;
    }
    if (rest) yield [rest];
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}

/**
 * The first `max` lines of a command's answer; `more` is true where there would be others. `onPart`
 * gets what is there so far each time that something comes, also while a long search goes on.
 */
export const lines = (command, parameters, options) =>
  linesAt(address(command, parameters), options);

/**
 * The lines at an address. A command that is asked for a `page` ends with the address of the next
 * one, which is the property `next` of the array.
 */
export async function linesAt(path, { signal, max = 1000, onPart } = {}) {
  const found = [];
  found.more = false;
  const response = await send(path, { signal });
  for await (const batch of texts(response, signal)) {
    for (const line of batch) {
      if (!line) continue;
      const value = parsed(line);
      if (typeof value?.next === "string" && Object.keys(value).every((name) => name === "next"
        || name === "v")) {
        found.next = value.next;
        continue;
      }
      if (found.length === max) {
        found.more = true;
        return found;
      }
      if (value?.error?.code) throw new ServerError(500, value.error);
      found.push(value);
    }
    onPart?.(found);
  }
  return found;
}

const parsed = (line) => {
  try {
    return JSON.parse(line);
  } catch {
    return { line };
  }
};

/** An answer that is longer cannot be shown; it can still be had as JSON. */
const charactersMax = 8_000_000;

/** A command's only line; undefined where it finds nothing. */
export async function one(command, parameters, options = {}) {
  try {
    const response = await send(address(command, parameters), options);
    let text = "";
    for await (const lines of texts(response, options.signal)) {
      text += lines.join("\n");
      if (text.length > charactersMax) throw new ServerError(200, { code: "too_long",
        message: "It is too long to be shown.",
          hint: "The link and the command below give all of it." });
    }
    const value = text.trim() ? JSON.parse(text) : undefined;
    return value?.found === false ? undefined : value;
  } catch (error) {
    if (error.code === "not_found" || error.code === "no_value") return undefined;
    throw error;
  }
}

/** Sends a change, or the request for a job. */
export async function post(command, parameters, body = "") {
  const headers = { "Content-Type": "application/jsonl" };
  if (!parameters?.["dry-run"]) headers["Idempotency-Key"] = crypto.randomUUID?.() ?? unique();
  const response = await send(address(command, parameters), { method: "POST", body, headers });
  const answer = await response.text();
  return answer.split("\n").filter(Boolean).map(parsed);
}

// randomUUID is only there in a secure context.
const unique = () => [...crypto.getRandomValues(new Uint32Array(4))].join("-");

/**
 * Follows a stream of events until the signal ends it. A broken one is asked for again after the
 * last event, so that none is missed, or from its beginning where it does not resume. `onState` gets
 * "live", "retrying" and "refused".
 */
export async function follow(command, parameters,
  { signal, onEvent, onState = () => {}, resumes = true }) {
  let last;
  let wait = 500;
  while (!signal.aborted) {
    await visible();
    const seen = whileVisible();
    const all = AbortSignal.any([signal, seen.signal]);
    try {
      const headers = { Accept: "text/event-stream" };
      if (resumes && last !== undefined) headers["Last-Event-ID"] = last;
      const response = await send(address(command, parameters), { signal: all, headers });
      onState("live");
      wait = 500;
      await readEvents(response, all, (event) => {
        last = event.id ?? last;
        if (event.data && event.data !== "null") onEvent(parsed(event.data), event.name);
      });
    } catch (error) {
      if (error instanceof ServerError && error.status < 500) return onState("refused", error);
    } finally {
      seen.end();
    }
    if (signal.aborted) return;
    if (seen.signal.aborted) continue;
    onState("retrying");
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 2, 10000);
  }
}

async function readEvents(response, signal, onEvent) {
  let event = {};
  for await (const batch of texts(response, signal)) {
    for (const raw of batch) {
      const line = raw.replace(/\r$/, "");
      const [, name, value] = line.match(/^(id|event|data): ?(.*)$/) ?? [];
      if (name) event[name === "event" ? "name" : name] = value;
      else if (line === "") {
        onEvent(event);
        event = {};
      }
    }
  }
}

// A browser has six connections for a server. Pages that nobody sees leave theirs to others, and
// get what they missed when they are seen again.

const visible = () => new Promise((done) => {
  const look = () => {
    if (document.hidden) return;
    document.removeEventListener("visibilitychange", look);
    done();
  };
  document.addEventListener("visibilitychange", look);
  look();
});

function whileVisible() {
  const controller = new AbortController();
  const look = () => document.hidden && controller.abort();
  const leave = () => controller.abort();
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", leave);
  return {
    signal: controller.signal,
    end() {
      document.removeEventListener("visibilitychange", look);
      removeEventListener("pagehide", leave);
    },
  };
}

/** What runs for so long after something newer was asked for is not waited for. */
const patienceMilliseconds = 250;

/**
 * Runs what is asked for, one at a time: the newest wins, and what was asked for in between is left
 * out. So a slider can be dragged faster than the server answers, and each answer is shown. A slow
 * one does not delay the newest for long, but of two in turn one is waited for, so that something is
 * shown however often is asked. The last argument of `action` is the signal that ends it.
 */
export function newest(action) {
  let running;
  let patience;
  let next;
  const run = async () => {
    while (next) {
      const values = next;
      next = undefined;
      const wasEnded = running?.signal.aborted;
      running = new AbortController();
      patience = wasEnded ? 0 : undefined;
      await action(...values, running.signal).catch(() => {});
      clearTimeout(patience);
    }
    running = undefined;
  };
  return (...values) => {
    next = values;
    if (!running) run();
    else patience ??= setTimeout(() => running.abort(), patienceMilliseconds);
  };
}
