// Values, times and sizes as text.

import { h } from "./dom.js";

const numbers = new Intl.NumberFormat("en-GB");
export const count = (number) => numbers.format(number);

/** A number with its noun. */
export const plural = (number, noun) =>
  `${count(number)} ${noun}${Number(number) === 1 ? "" : "s"}`;

export function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (Math.abs(number) >= 1000 && unit < 4) {
    number /= 1000;
    unit += 1;
  }
  return `${unit ? number.toFixed(1) : number} ${units[unit]}`;
}

const two = (number) => String(number).padStart(2, "0");

/** Local time, to the second. */
export function time(text) {
  const date = new Date(text);
  if (Number.isNaN(date.valueOf())) return text ?? "";
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `
    + `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const wrappers = {
  $date: "date", $data: "data", $uuid: "uuid", $blob: "blob", $decimal: "decimal", $int: "integer",
  $double: "double", $set: "set",
};

/** The type of a value in JSON, in which types that JSON lacks are objects like {"$date": …}. */
export function typeOf(value) {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "object") {
    const names = Object.keys(value);
    return (names.length === 1 && wrappers[names[0]]) || "record";
  }
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "double";
  return typeof value === "string" ? "text" : typeof value;
}

export const isRecord = (value) => typeOf(value) === "record";

/** Where counting would take long, the number of a node's children is the least that there are. */
export const hasChildren = (node) => node.children > 0 || node.childrenAtLeast === true;
export const childCount = (node) => count(node.children) + (node.childrenAtLeast ? "+" : "");

/** A value in one line. */
export function text(value) {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  const type = typeOf(value);
  if (type === "date") return value.$date;
  if (wrappers["$" + type] && typeof Object.values(value)[0] === "string") {
    return Object.values(value)[0];
  }
  return JSON.stringify(value);
}

/** A value as an element: monospace, cut where it is long. */
export function valueElement(value, max = 400) {
  const whole = text(value);
  const cut = whole.length > max ? whole.slice(0, max) + "…" : whole;
  const title = whole.length > max ? whole.slice(0, 4000) : null;
  return h("span", { class: `value ${typeOf(value)}`, title },
    cut);
}

/** A word as a shell takes it. */
export function quoted(word) {
  return /^[A-Za-z0-9_./,:=@%+~-]+$/.test(word) ? word
    : `'${String(word).replaceAll("'", "'\\''")}'`;
}

export const same = (one, other) => one === other || JSON.stringify(one) === JSON.stringify(other);
