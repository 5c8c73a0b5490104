// The difference of two texts, word by word: the longest common subsequence of their words, after
// what they have in common at both ends is taken away.

import { h } from "./dom.js";
import { text, same, typeOf, valueElement } from "./format.js";

const wordsMax = 2000;

/** Stretches of [kind, text], where kind is "same", "old" or "new". */
export function difference(old, new_) {
  const split = (text) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  let a = split(old);
  let b = split(new_);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) {
    end += 1;
  }
  const head = a.slice(0, start).join("");
  const tail = a.slice(a.length - end).join("");
  a = a.slice(start, a.length - end);
  b = b.slice(start, b.length - end);
  const middle = a.length > wordsMax || b.length > wordsMax
    ? [["old", a.join("")], ["new", b.join("")]] : common(a, b);
  return [["same", head], ...middle, ["same", tail]].filter((part) => part[1]);
}

function common(a, b) {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const parts = [];
  const add = (kind, word) => {
    if (parts.at(-1)?.[0] === kind) parts.at(-1)[1] += word;
    else parts.push([kind, word]);
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i]);
      i += 1;
      j += 1;
    } else if (j === b.length
      || (i < a.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      add("old", a[i]);
      i += 1;
    } else {
      add("new", b[j]);
      j += 1;
    }
  }
  return parts;
}

/** Two values side by side: [old, new], in which the words of texts that differ are marked. */
export function sides(old, new_) {
  if (typeof old !== "string" || typeof new_ !== "string" || (old.length < 12
    && new_.length < 12)) {
    return [old, new_].map((value) => value === undefined ? "" : valueElement(value));
  }
  const parts = difference(old, new_);
  return ["old", "new"].map((side) => h("span", { class: "value text" },
    parts.filter(([kind]) => kind === "same" || kind === side)
      .map(([kind, part]) => kind === "same" ? part : h(side === "old" ? "del" : "ins", {},
        part))));
}

/** The properties in which two records differ: [name, old, new]; name is "" for other values. */
export function propertyChanges(old, new_) {
  const records = [old, new_].map((value) => typeOf(value) === "record" ? value : undefined);
  if ((old !== undefined && old !== null && !records[0])
    || (new_ !== undefined && new_ !== null && !records[1])) return [["", old, new_]];
  const names = new Set(records.flatMap((record) => Object.keys(record ?? {})));
  return [...names].sort().map((name) => [name, records[0]?.[name], records[1]?.[name]])
    .filter(([, before, after]) => !same(before, after));
}

export const short = (value, max = 80) => {
  const whole = text(value);
  return whole.length > max ? whole.slice(0, max) + "…" : whole;
};
