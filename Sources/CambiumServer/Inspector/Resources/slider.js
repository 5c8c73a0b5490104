// The slider for time, above everything. Its places are transactions, so that each has the same
// room; the labels say when they were. Dragging changes the address for each frame at most, and the
// views ask for the newest place only.

import { h, button, fill, eachFrame, announce } from "./dom.js";
import { lines, newest } from "./api.js";
import { change, moment, onRoute } from "./router.js";
import { store, onNews, sequenceAt } from "./store.js";
import { time, count } from "./format.js";
import { completing } from "./complete.js";

let track, ticks, thumb, past, label, field, playing, problemLine, nowButton, playButton;
let from = 0;
let to = 0;
let ticksDrawn = "";

export const place = () => moment() ?? store.head;

export function buildSlider(section) {
  ticks = h("svg", { class: "ticks", "aria-hidden": "true", preserveAspectRatio: "none" });
  past = h("div", { class: "past", "aria-hidden": "true" });
  thumb = h("div", { class: "thumb", role: "slider", tabindex: "0", "aria-label": "Moment",
    "aria-orientation": "horizontal", id: "slider", onkeydown: key });
  track = h("div", { class: "track", onpointerdown: press, onwheel: zoom }, past, ticks,
    h("div", { class: "flags" }), thumb);
  label = h("div", { class: "moment" });
  problemLine = h("span", { class: "problem", role: "alert" });
  field = h("input", { type: "text", id: "jump", size: 16, placeholder: "58, yesterday, tag:…",
    "aria-label": "Jump to a moment", spellcheck: "false", autocomplete: "off" });
  const jumpField = completing(field, offers, { onEnter: () => jump(field.value) });
  playButton = button("▶", play, { "aria-label": "Play", title: "Play (p)" });
  nowButton = button("Now", goNow, { title: "Follow what comes (n)", "aria-pressed": "true" });
  fill(section,
    h("div", { class: "controls" },
      button("◀", () => step(-1), { "aria-label": "One transaction back", title: "Back ([)" }),
      playButton,
      button("▶|", () => step(1), { "aria-label": "One transaction on", title: "On (])" }),
      nowButton, jumpField, problemLine, label), track);
  onRoute(() => {
    ask(place());
    redraw();
  });
  onNews((transaction) => {
    if (transaction?.time) keep(transaction.sequence, transaction);
    redraw();
  });
  new ResizeObserver(redraw).observe(track);
}

const offers = (text) => ({
  from: 0, to: text.length,
  options: [...store.tags.map((tag) => ({ text: `tag:${tag.name}`, note: `tx ${tag.sequence}` })),
    { text: "HEAD~10" }, { text: "yesterday" }, { text: "-10m", note: "ten minutes ago" },
    { text: "today 09:00" }].filter((option) => option.text.startsWith(text)),
});

// MARK: Moving

/** Shows the state after a transaction. */
export function goTo(sequence, replaces = false) {
  const place = Math.min(Math.max(store.horizon, Math.round(sequence)), store.head);
  change({ at: place }, replaces);
}

export function goNow() {
  stop();
  change({ at: undefined });
  announce("Now: what comes is shown.");
}

export function step(difference) {
  stop();
  const next = place() + difference;
  if (next > store.head) return goNow();
  goTo(next, true);
}

/** Shows a moment that is written as in the command line. */
export async function jump(text) {
  problemLine.textContent = "";
  const word = text.trim();
  if (word === "" || word === "now") return goNow();
  try {
    const sequence = await sequenceAt(word);
    goTo(sequence);
    announce(`Transaction ${sequence}`);
  } catch (error) {
    problemLine.textContent = `${error.message} ${error.hint ?? ""}`;
  }
}

/** Plays from here to the end of what the track shows, in twenty seconds at least. */
export function play() {
  if (playing) return stop();
  let at = moment() === undefined || moment() >= to ? from : moment();
  const stepSize = Math.max(1, Math.ceil((to - from) / 600));
  const wait = stepSize > 1 ? 33 : Math.min(500, Math.max(33, 20000 / Math.max(1, to - from)));
  playing = setInterval(() => {
    at += stepSize;
    if (at >= to) stop();
    goTo(Math.min(at, to), true);
  }, wait);
  playButton.textContent = "❚❚";
  playButton.setAttribute("aria-label", "Pause");
}

function stop() {
  clearInterval(playing);
  playing = undefined;
  playButton.textContent = "▶";
  playButton.setAttribute("aria-label", "Play");
}

function key(event) {
  const page = Math.max(1, Math.round((to - from) / 20));
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page,
    PageUp: page };
  if (event.key in steps) step(steps[event.key]);
  else if (event.key === "Home") goTo(store.horizon);
  else if (event.key === "End") goNow();
  else if (event.key === "+") narrow(0.5, place());
  else if (event.key === "-") narrow(2, place());
  else return;
  event.preventDefault();
  event.stopPropagation();
}

const placeAt = (event) => {
  const box = track.getBoundingClientRect();
  const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  return Math.round(from + share * (to - from));
};

function press(event) {
  if (event.button !== 0 || event.target.closest("button")) return;
  stop();
  const drag = eachFrame((event) => goTo(placeAt(event), true));
  const end = () => {
    track.removeEventListener("pointermove", drag);
    track.removeEventListener("pointerup", end);
  };
  track.setPointerCapture(event.pointerId);
  track.addEventListener("pointermove", drag);
  track.addEventListener("pointerup", end);
  goTo(placeAt(event));
  thumb.focus();
}

let window_;

function zoom(event) {
  event.preventDefault();
  narrow(event.deltaY > 0 ? 1.25 : 0.8, placeAt(event));
}

/** Shows a shorter or longer stretch, in which a place stays where it is. */
function narrow(factor, around) {
  const length = Math.max(20, (to - from) * factor);
  if (length >= store.head) window_ = undefined;
  else {
    const share = (around - from) / Math.max(1, to - from);
    const start = Math.min(Math.max(0, Math.round(around - share * length)), store.head - length);
    window_ = [Math.round(start), Math.round(start + length)];
  }
  // The next step may come before the next frame.
  [from, to] = window_ ?? [0, store.head];
  redraw();
}

// MARK: Drawing

const share = (sequence) => (sequence - from) / Math.max(1, to - from);
const percent = (sequence) => `${(Math.min(1, Math.max(0, share(sequence))) * 100).toFixed(3)}%`;

const redraw = eachFrame(() => {
  const at = place();
  [from, to] = window_ ?? [0, store.head];
  if (window_ && (at < from || at > to)) {
    const length = to - from;
    from = Math.min(Math.max(0, at - Math.round(length / 2)), store.head - length);
    to = from + length;
    window_ = [from, to];
  }
  const isNow = moment() === undefined;
  thumb.style.left = percent(at);
  thumb.setAttribute("aria-valuemin", store.horizon);
  thumb.setAttribute("aria-valuemax", store.head);
  thumb.setAttribute("aria-valuenow", at);
  nowButton.setAttribute("aria-pressed", isNow);
  document.body.classList.toggle("in-past", !isNow);
  drawFlags();
  drawPast();
  drawTicks();
  ask(at);
  if (isKnown(at)) describe(at);
});

function drawFlags() {
  const shown = store.tags.filter((tag) => tag.sequence >= from && tag.sequence <= to).slice(-100);
  fill(track.querySelector(".flags"), shown.map((tag) => {
    const flag = button(tag.name, () => goTo(tag.sequence), {
      class: "flag", title: `tag ${tag.name}: transaction ${tag.sequence}, ${time(tag.time)}` });
    flag.style.left = percent(tag.sequence);
    if (share(tag.sequence) > 0.8) flag.classList.add("left");
    return flag;
  }));
}

/** What compaction has taken away cannot be shown: it is hatched. */
function drawPast() {
  past.hidden = store.horizon <= from;
  past.style.width = percent(store.horizon);
  past.title = `Compaction has dropped what was before transaction ${count(store.horizon)}.`;
}

function drawTicks() {
  const width = track.clientWidth;
  const key = `${from} ${to} ${width} ${store.horizon}`;
  if (key === ticksDrawn || width === 0) return;
  ticksDrawn = key;
  const room = Math.max(1, Math.floor(width / 3));
  let step = 1;
  for (let next = 10; (to - from) / step > room; next = step * 10) {
    step = [2, 5, 10].map((by) => next / 10 * by).find((size) => (to - from) / size <= room)
      ?? next;
  }
  const lines = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    if (at <= store.horizon && store.horizon > 0) continue;
    const isLong = at % (step * 10) === 0;
    lines.push(h("line", { x1: (share(at) * width).toFixed(1), x2: (share(at) * width).toFixed(1),
      y1: isLong ? 8 : 15, y2: 24, class: isLong ? "long" : "" }));
  }
  ticks.setAttribute("viewBox", `0 0 ${width} 24`);
  fill(ticks, lines);
}

// The label names one transaction, with its time and author, and is drawn when all of that is here.
// While one drags, it is the last that the server has told of.

/** Transactions by their numbers; undefined for one that may not be seen. */
const named = new Map();

/** The one that is asked for. */
let asked;

function keep(sequence, transaction) {
  if (named.size > 5000) named.clear();
  named.set(sequence, transaction);
}

const isKnown = (at) => named.has(at) || at <= store.horizon;

function ask(at) {
  if (isKnown(at) || at === asked) return;
  asked = at;
  askServer(at);
}

const askServer = newest(async (at, signal) => {
  try {
    const around = store.head > 200 ? 1 : store.head;
    const found = await lines("log", { since: Math.max(store.horizon, at - around), until: at },
      { signal });
    for (const transaction of found) keep(transaction.sequence, transaction);
    if (!named.has(at)) keep(at, undefined);
  } catch {
    if (signal.aborted || place() !== at) return;
  } finally {
    if (asked === at) asked = undefined;
  }
  describe(isKnown(place()) ? place() : at);
});

function describe(at) {
  const transaction = named.get(at);
  const isNow = moment() === undefined && at === store.head;
  const when = transaction ? time(transaction.time) : "";
  const who = transaction?.metadata?.actor ?? "";
  const why = transaction?.metadata?.reason ?? "";
  if (isKnown(at)) label.dataset.moment = isNow ? "now" : at;
  fill(label, h("b", {}, isNow ? "now" : `tx ${count(at)}`), " ",
    isNow && at > 0 ? `tx ${count(at)} ` : "", h("span", { class: "when" }, when), " ", who,
    why && h("span", { class: "why" }, ` “${why}”`));
  if (at !== place()) return;
  thumb.setAttribute("aria-valuetext",
    `${isNow ? "now, " : ""}transaction ${at}${when ? `, ${when}` : ""}${who ? `, by ${who}` : ""}`);
}
