// The page: one bar, one slider, and the view that the address names. Log and state stand side by
// side where there is room, and light up each other.

import { h, button, fill, append } from "./dom.js";
import { route, link, go, onRoute, startRouting, change } from "./router.js";
import { store, load, onNews, followChanges } from "./store.js";
import { buildSlider, step, goNow, play } from "./slider.js";
import { addKeys, setViewKeys, startKeys, showHelp } from "./keyboard.js";
import { problem } from "./pane.js";
import { plural } from "./format.js";
import { logView } from "./views/log.js";
import { stateView } from "./views/state.js";
import { queryView } from "./views/query.js";
import { sizesView } from "./views/sizes.js";
import { schemaView } from "./views/schema.js";
import { healthView } from "./views/health.js";
import { undoNewest } from "./views/undo.js";

const views = [
  { name: "log", title: "Log", open: logView }, { name: "state", title: "State", open: stateView },
  { name: "query", title: "Query", open: queryView },
  { name: "sizes", title: "Sizes", open: sizesView },
  { name: "schema", title: "Schema", open: schemaView },
  { name: "health", title: "Health", open: healthView },
];

const main = document.getElementById("main");
const panes = new Map();
const isWide = matchMedia("(min-width: 1000px)");

/** The panes that an address shows: a view of its own, or log and state together. */
function shownNames() {
  if (route.view !== "log" && route.view !== "state") return [route.view];
  return isWide.matches ? ["log", "state"] : [route.view];
}

function show() {
  if (!views.some((view) => view.name === route.view)) route.view = "log";
  const names = shownNames();
  for (const [name, pane] of panes) {
    if (names.includes(name)) continue;
    pane.close();
    pane.element.remove();
    panes.delete(name);
  }
  for (const name of names) {
    if (panes.has(name)) continue;
    const view = views.find((view) => view.name === name);
    const closing = new AbortController();
    const element = h("section", { class: `pane ${name}`, "aria-label": view.title });
    const controls = view.open(element, closing.signal);
    panes.set(name, { element, close: () => closing.abort(), ...controls });
    main[name === "log" ? "prepend" : "append"](element);
  }
  main.classList.toggle("two", names.length === 2);
  for (const [name, pane] of panes) pane.element.classList.toggle("current", name === route.view);
  setViewKeys(panes.get(route.view).keys ?? []);
  const title = views.find((view) => view.name === route.view).title;
  const subject = { state: route.parameters.path, query: route.parameters.q }[route.view];
  document.title = [subject, title, store.database].filter(Boolean).join(" · ");
  for (const item of document.querySelectorAll("#views a")) {
    const isCurrent = item.dataset.view === route.view;
    item.href = link(item.dataset.view);
    if (isCurrent) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
  }
}

function showStatus() {
  const words = { live: "live", retrying: "offline, trying again", refused: "not live",
    connecting: "connecting" };
  const status = document.getElementById("status");
  const text = `${words[store.connection]} · ${plural(store.head, "transaction")}`
    + (store.canWrite ? "" : " · read only");
  if (status.textContent !== text) status.textContent = text;
  status.className = store.connection;
}

function focusField() {
  const field = main.querySelector(".pane.current [data-search]")
    ?? main.querySelector("[data-search]");
  field?.focus();
  field?.select();
}

function otherPane() {
  go(link(route.view === "log" ? "state" : "log"));
  main.querySelector(".pane.current [tabindex='0']")?.focus();
}

async function start() {
  fill(document.getElementById("views"), views.map((view, index) =>
    h("a", { href: `#/${view.name}`, "data-view": view.name,
      title: `${view.title} (${index + 1})` },
      view.title)));
  document.getElementById("help").addEventListener("click", showHelp);
  try {
    await load();
  } catch (error) {
    document.getElementById("status").textContent = "no answer";
    return append(main, [problem(error), button("Try again", () => location.reload())]);
  }
  fill(document.getElementById("brand"), "cambium ", h("span", {}, store.database));
  buildSlider(document.getElementById("time"));
  addKeys([
    ["?", "this list", showHelp], ["/", "to the field of the view", focusField],
    ...views.map((view, index) => [String(index + 1), view.title, () => go(link(view.name))]),
    ["[", "one transaction back", () => step(-1)], ["]", "one transaction on", () => step(1)],
    ["n", "now, and follow", goNow], ["p", "play, pause", play],
    ["t", "jump to a moment", () => document.getElementById("jump").focus()],
    [".", "to the slider", () => document.getElementById("slider").focus()],
    ["o", "to the other pane", otherPane], ["Ctrl+z", "undo the newest change", undoNewest],
    ["y", "copy the command of the view", () => main.querySelector(".current .copy")?.click()],
  ]);
  startKeys();
  const draw = () => {
    show();
    for (const pane of panes.values()) pane.update();
  };
  onRoute(draw);
  isWide.addEventListener("change", draw);
  onNews(showStatus);
  startRouting();
  followChanges();
  showStatus();
  if (route.parameters.at > store.head) change({ at: undefined }, true);
}

start();
