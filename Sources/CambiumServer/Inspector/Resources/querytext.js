// The query language as far as the page needs it: its words, to complete them, and to sort by a
// column.

const keywords = ["where", "select", "distinct", "sort", "section by", "limit", "offset", "join",
  "left join", "and", "or", "not", "in", "between", "like", "prefix", "suffix", "contains",
    "matches",
  "is null", "| count", "| group by", "count", "sum(", "avg(", "min(", "max(", "having"];

const clauses = new Set(["join", "left", "where", "select", "section", "sort", "limit", "offset",
  "after", "having"]);

/** The words of a query with their places; what is in quotes is one word. */
export function tokens(query) {
  const pattern = /"(?:[^"\\]|\\.)*"?|'[^']*'?|\/(?:[^/\\\s]|\\.)+\/|[\w.$/-]+|[^\s]/g;
  return [...query.matchAll(pattern)].map((match) => ({
    word: match[0], from: match.index, to: match.index + match[0].length }));
}

/** The collection that a query asks. */
export const collectionOf = (query) => tokens(query)[0]?.word ?? "";

export const isGrouped = (query) => tokens(query).some(({ word }) => word === "|");

/** The clauses at the end of a query as {name: [from, to]}: only those that stand outside brackets. */
function clauseRanges(query) {
  const all = tokens(query);
  const found = {};
  let depth = 0;
  let open;
  let isBehindBar = false;
  for (const [index, { word, from }] of all.entries()) {
    if (word === "(" || word === "[") depth += 1;
    if (word === ")" || word === "]") depth -= 1;
    if (depth > 0 || index === 0) continue;
    const isClause = clauses.has(word.toLowerCase()) || word === "|";
    if (!isClause) continue;
    if (open) found[open][1] = from;
    open = word.toLowerCase();
    if (word === "|") isBehindBar = true;
    if (isBehindBar && word !== "|") open = `|${open}`;
    found[open] = [from, query.length];
  }
  return found;
}

/** The query sorted by a property. */
export function sortedBy(query, property, descending) {
  const ranges = clauseRanges(query);
  const clause = `sort ${descending ? "-" : ""}${property}`;
  const bar = ranges["|"] ? "|" : "";
  const old = ranges[`${bar}sort`];
  if (old) return `${query.slice(0, old[0])}${clause} ${query.slice(old[1])}`.trim();
  const before = ["limit", "offset", "after"].map((name) => ranges[bar + name]?.[0])
    .filter((from) => from !== undefined);
  const at = !bar && ranges["|"] ? ranges["|"][0] : Math.min(query.length, ...before);
  return `${query.slice(0, at).trim()} ${clause} ${query.slice(at)}`.trim();
}

/** What a query is sorted by first: [property, descending]. */
export function sortOf(query) {
  const ranges = clauseRanges(query);
  const range = ranges[ranges["|"] ? "|sort" : "sort"];
  if (!range) return [];
  const [, sign, property] = query.slice(...range).match(/^sort\s+(-?)\s*([^\s,]+)/i) ?? [];
  return [property, sign === "-"];
}

/** What may stand at the cursor; `names(collection)` promises the names of its properties. */
export async function queryOffers(query, caret, collections, names) {
  const before = query.slice(0, caret);
  const typed = before.match(/[\w.$/-]*$/)[0];
  const from = caret - typed.length;
  if (before.match(/["'][^"']*$/) && (before.match(/"/g) ?? []).length % 2) return { options: [] };
  const isFirst = before.trim() === typed;
  const all = isFirst ? collections.map((text) => ({ text, note: "collection" })) : [
    ...(await names(collectionOf(query))).map((name) => ({ text: name, note: "property" })),
    ...keywords.map((text) => ({ text }))];
  if (typed === "" && !isFirst) return { options: [] };
  const options = all.filter(({ text }) => text.startsWith(typed) && text !== typed);
  return { from, to: caret, options };
}
