// The address of a view is all of its state: `#/state?path=airlines/UA&at=58`. What can be seen can
// be sent to somebody.

const listeners = [];

export const route = { view: "log", parameters: {} };

function read() {
  const [view, query] = location.hash.replace(/^#\/?/, "").split("?");
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
  if (hash === location.hash) return;
  if (replaces) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  tell();
}

export function onRoute(listener) {
  listeners.push(listener);
}

function tell() {
  read();
  for (const listener of listeners) listener();
}

export function startRouting() {
  addEventListener("popstate", tell);
  addEventListener("hashchange", tell);
  read();
  tell();
}

/** The moment that is shown: a sequence number, or undefined for now. */
export function moment() {
  const at = Number(route.parameters.at);
  return Number.isInteger(at) && at >= 0 && route.parameters.at !== undefined ? at : undefined;
}
