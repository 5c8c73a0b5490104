// A list that draws only the rows that are seen, whatever their number. A browser's element can be
// some ten million pixels high at most; a longer list moves by rows while one scrolls, and only its
// scroll bar is scaled.

import { h, eachFrame } from "./dom.js";

const heightMax = 6_000_000;
const overscan = 6;

/**
 * `row(index)` gives a row's element; `label` is its name for a screen reader. `role` is "listbox",
 * "tree" or "grid". `onOpen(index)` is called for Enter and a click, `onMove(index)` when the row that
 * the keys act on is another, `onRange(first, last)` with the rows that are seen.
 */
export function windowedList({ row, rowHeight = 24, role = "listbox", label, onOpen = () => {},
  onMove = () => {}, onRange = () => {}, onKey = () => false, id }) {
  const rows = h("div", { class: "rows", role: "presentation" });
  const element = h("div", { class: "windowed", role, "aria-label": label, tabindex: "0", id },
    rows);
  let total = 0;
  let top = 0;
  let active = -1;
  let lastScroll = 0;
  let [drawnFrom, drawnTo] = [0, 0];
  const prefix = id || `list${Math.random().toString(36).slice(2)}`;

  const height = () => element.clientHeight || 400;
  const seen = () => height() / rowHeight;
  const topMax = () => Math.max(0, total - seen());
  const isScaled = () => total * rowHeight > heightMax;
  const full = () => Math.min(total * rowHeight, heightMax);
  const scrollFor = (top) => isScaled()
    ? (topMax() ? top / topMax() : 0) * (full() - height()) : top * rowHeight;

  function draw() {
    rows.style.height = `${full()}px`;
    top = Math.min(Math.max(0, top), topMax());
    const first = Math.max(0, Math.floor(top) - overscan);
    const last = Math.min(total, Math.ceil(top + seen()) + overscan);
    const base = element.scrollTop;
    const drawn = [];
    for (let index = first; index < last; index += 1) {
      const item = row(index);
      item.id = `${prefix}-${index}`;
      item.dataset.index = index;
      item.classList.add("row");
      item.classList.toggle("active", index === active);
      item.style.transform = `translateY(${Math.round(isScaled()
        ? base + (index - top) * rowHeight : index * rowHeight)}px)`;
      drawn.push(item);
    }
    rows.replaceChildren(...drawn);
    if (active >= first && active < last) {
      element.setAttribute("aria-activedescendant", `${prefix}-${active}`);
    } else element.removeAttribute("aria-activedescendant");
    [drawnFrom, drawnTo] = [top, top + seen()];
    onRange(Math.floor(top), Math.min(total, Math.ceil(top + seen())));
  }
  const redraw = eachFrame(draw);

  element.addEventListener("scroll", () => {
    const moved = element.scrollTop - lastScroll;
    lastScroll = element.scrollTop;
    if (!isScaled()) top = element.scrollTop / rowHeight;
    else if (Math.abs(moved) < height() * 2 && element.scrollTop > 0
      && element.scrollTop < full() - height() - 1) top += moved / rowHeight;
    else top = element.scrollTop / (full() - height()) * topMax();
    redraw();
  }, { passive: true });

  function scrollTo(position) {
    top = Math.min(Math.max(0, position), topMax());
    rows.style.height = `${full()}px`;
    element.scrollTop = scrollFor(top);
    lastScroll = element.scrollTop;
    redraw();
  }

  function move(index, tells = true) {
    if (total === 0) return;
    active = Math.min(Math.max(0, index), total - 1);
    if (active < top) scrollTo(active);
    else if (active > top + seen() - 1) scrollTo(active - seen() + 1);
    else redraw();
    if (tells) onMove(active);
  }

  element.addEventListener("keydown", (event) => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(seen()) - 1);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page };
    if (onKey(event, active)) event.preventDefault();
    else if (event.key in steps) move((active < 0 ? Math.floor(top) : active) + steps[event.key]);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(total - 1);
    else if (event.key === "Enter" && active >= 0) onOpen(active, event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  function press(event) {
    const item = event.target.closest(".row");
    if (!item || event.target.closest("a, button, input")) return;
    move(Number(item.dataset.index));
    onOpen(active, event);
  }
  element.addEventListener("click", press);
  // A row that is drawn anew while the button is pressed gets no click.
  let pressed;
  element.addEventListener("pointerdown", (event) => pressed = event.target.closest(".row"));
  element.addEventListener("pointerup", (event) => {
    const item = event.target.closest(".row");
    const isSame = pressed && pressed.dataset.index === item?.dataset.index;
    if (isSame && !pressed.isConnected) press(event);
  });
  new ResizeObserver(() => {
    // What could be seen before the list got smaller can still be seen: its end, or the active row.
    const [wasSeen, wasAtEnd] = [active >= drawnFrom && active < drawnTo, drawnTo >= total];
    if (wasSeen) move(active, false);
    else if (wasAtEnd) scrollTo(total);
    redraw();
  }).observe(element);

  return {
    element,
    redraw,
    move,
    scrollTo,
    get active() { return active; },
    set active(index) {
      active = index;
      redraw();
    },
    get top() { return top; },
    get total() { return total; },
    get isAtEnd() { return top >= topMax() - 1; },
    /** Sets the number of rows; `before` of the new ones stand before those that were there. */
    resize(count, before = 0) {
      const wasAtEnd = this.isAtEnd;
      total = count;
      if (active >= 0) active = Math.min(active + before, total - 1);
      rows.style.height = `${full()}px`;
      if (before) scrollTo(top + before);
      else redraw();
      return wasAtEnd;
    },
    end() { scrollTo(total); },
  };
}
