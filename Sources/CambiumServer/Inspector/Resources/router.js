// The address of a view is all of its state: `#/state?path=airlines/UA&at=58`. What can be seen can
// be sent to somebody.

const listeners = [];

/** The view that is shown; `hash` is its address, which the browser's own follows. */
export const route = { view: "log", parameters: {}, hash: "" };

function read() {
  const [view, query] = route.hash.replace(/^#\/?/, "").split("?");
  route.view = view || "log";
  route.parameters = Object.fromEntries(new URLSearchParams(query ?? ""));
}

/** The address with other parameters; those that are undefined are left out. */
export function link(view, changes = {}, keep = ["at", "tx", "path", "f"]) {
  const kept = keep.filter((name) => name in route.parameters);
  const all = { ...Object.fromEntries(kept.map((name) => [name, route.parameters[name]])),
    ...changes };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined && value !== "") query.set(name, value);
  }
  const text = query.toString().replaceAll("%2F", "/");
  return `#/${view}${text ? "?" + text : ""}`;
}

/** Changes parameters of the view that is shown; `replaces` leaves no trace in the history. */
export function change(changes, replaces = false) {
  go(link(route.view, changes, Object.keys(route.parameters)), replaces);
}

export function go(hash, replaces = false) {
  if (hash === route.hash) return;
  if (!replaces) write();
  route.hash = hash;
  if (!replaces) history.pushState(null, "", hash);
  else if (!writing) write();
  tell();
}

/** Browsers refuse more than 100 to 200 changes of the address in ten seconds; a drag makes more. */
const writeMilliseconds = 150;
let writing;

/** Puts the address of the view in the place of the browser's, and waits before the next time. */
function write() {
  clearTimeout(writing);
  writing = undefined;
  if (location.hash === route.hash) return;
  history.replaceState(null, "", route.hash);
  writing = setTimeout(write, writeMilliseconds);
}

export function onRoute(listener) {
  listeners.push(listener);
}

function tell() {
  read();
  for (const listener of listeners) listener();
}

export function startRouting() {
  const follow = () => {
    clearTimeout(writing);
    writing = undefined;
    route.hash = location.hash;
    tell();
  };
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);
  follow();
}

/** The moment that is shown: a sequence number, or undefined for now. */
export function moment() {
  const at = Number(route.parameters.at);
  return Number.isInteger(at) && at >= 0 && route.parameters.at !== undefined ? at : undefined;
}
