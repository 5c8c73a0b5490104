// A table of results: columns to sort by and to choose, and only the rows that are seen are drawn.

import { h, button, fill } from "./dom.js";
import { windowedList } from "./windowed.js";
import { text, typeOf, count } from "./format.js";

const columnsMax = 40;

/**
 * `onSort(column)` is called for a click on a heading, `onOpen(row)` for a row, `onEnd()` when the
 * last rows are seen. `marks` maps a row's id to the class of a mark.
 */
export function resultTable({ onSort, onOpen, onEnd, marks = new Map() }) {
  let columns = [];
  let hidden = new Set();
  let rows = [];
  let sort = [];
  let shown = [];
  const header = h("div", { class: "table-head", role: "row" });
  const list = windowedList({
    id: "results", role: "grid", label: "Results", rowHeight: 24, row: rowElement,
    onOpen: (index) => onOpen(rows[index]),
    onRange: (_, last) => last >= rows.length - 20 && onEnd(),
  });
  const scroller = h("div", { class: "table", role: "presentation" }, header, list.element);

  function rowElement(index) {
    const row = rows[index];
    const item = h("div", { role: "row", "aria-rowindex": index + 2, class: marks.get(row.id) },
      shown.map((name) => h("span", { role: "gridcell", class: `value ${typeOf(row[name])}` },
        text(row[name]).slice(0, 200))));
    return item;
  }

  function draw() {
    shown = columns.filter((name) => !hidden.has(name)).slice(0, columnsMax);
    scroller.style.setProperty("--columns",
      shown.map((name) => `minmax(${width(name)}ch, 1fr)`).join(" "));
    scroller.style.setProperty("--width",
      `${shown.reduce((sum, name) => sum + width(name) + 2, 0)}ch`);
    fill(header, shown.map((name) => h("span", { role: "columnheader",
      class: typeOf(rows[0]?.[name]),
      "aria-sort": sort[0] === name ? (sort[1] ? "descending" : "ascending") : "none" },
    button([name, sort[0] === name ? (sort[1] ? " ↓" : " ↑") : ""].join(""), () => onSort(name),
      { class: "quiet", title: `Sort by ${name}` }))));
    list.resize(rows.length);
    list.redraw();
  }

  /** Wide enough for the first rows, and no wider than 40 characters. */
  const widths = new Map();
  function width(name) {
    if (!widths.has(name)) {
      const lengths = rows.slice(0, 50).map((row) => text(row[name]).length);
      const longest = Math.max(name.length + 2, ...lengths);
      widths.set(name, Math.min(40, longest + 1));
    }
    return widths.get(name);
  }

  return {
    element: scroller, list,
    get columns() { return columns; },
    get shown() { return shown; },
    get rows() { return rows; },
    /** Shows rows; columns are those that the first rows have, in their order. */
    show(newRows, newSort, isOther) {
      rows = newRows;
      sort = newSort;
      if (isOther) {
        columns = [];
        widths.clear();
      }
      const known = new Set(columns);
      for (const row of rows.slice(isOther ? 0 : -200).slice(0, 200)) {
        for (const name of Object.keys(row)) {
          if (known.has(name) || name === "v") continue;
          known.add(name);
          columns.push(name);
        }
      }
      if (isOther) list.scrollTo(0);
      draw();
    },
    hide(names) {
      hidden = new Set(names);
      draw();
    },
    redraw: () => list.redraw(),
  };
}

/** Rows as text, to be saved: what is seen, in its columns. */
export function csv(rows, columns) {
  const cell = (value) => {
    const whole = text(value);
    return /[",\n\r]/.test(whole) ? `"${whole.replaceAll('"', '""')}"` : whole;
  };
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
    .map((cells) => cells.map(cell).join(",")).join("\r\n") + "\r\n";
}

export const jsonLines = (rows, columns) => rows.map((row) => JSON.stringify(
  Object.fromEntries(columns.filter((name) => row[name] !== undefined)
    .map((name) => [name, row[name]])))).join("\n") + "\n";

export function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** The columns to choose from. */
export function columnChoice(table, hidden, onChange) {
  return h("details", { class: "columns" }, h("summary", {},
    `Columns ${count(table.shown.length)}`),
    h("div", { class: "choice" }, table.columns.slice(0, 200).map((name) => h("label", {},
      h("input", { type: "checkbox", checked: !hidden.has(name), onchange: (event) => {
        if (event.target.checked) hidden.delete(name);
        else hidden.add(name);
        onChange(hidden);
      } }), name))));
}
