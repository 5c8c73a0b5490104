// The filter of the log: the command line's conditions in one field.

const fields = {
  "actor=": "who made it", "reason=": "why", "op=": "insert, update or delete",
  "path=": "a node that it changed", "grep=": "found in a path or a value", "event=": "a name",
  "tag=": "a tag at it", "tx=": "a number", "origin=": "a database", "since=": "a moment",
  "until=": "a moment",
};
const operations = ["insert", "update", "delete"];

/** The words of a text, with their places; a word in quotes may have spaces. */
export function words(text) {
  const found = [];
  const pattern = /(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+|["']\S*/g;
  for (const match of text.matchAll(pattern)) {
    const word = match[0].replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, double, single) => (double ?? single).replace(/\\(["\\])/g, "$1"));
    const isOpen = /^[^"']*["'][^"']*$/.test(match[0]);
    found.push({ word, from: match.index, to: match.index + match[0].length, isOpen });
  }
  return found;
}

/** What a filter asks for, as parameters of `log`, and what is wrong with it: {from, to, message}. */
export function parseFilter(text) {
  const parameters = { match: [] };
  let mistake;
  const wrong = (part, message) => mistake ??= { ...part, message };
  const all = words(text);
  all.forEach((part, index) => {
    if (part.isOpen) return wrong(part, "the quotation mark is not closed");
    if (part.word === "+") {
      if (index === 0 || index === all.length - 1) wrong(part, "+ stands between conditions");
      return parameters.match.push("+");
    }
    const [, name, value] = part.word.match(/^([^=]*)=(.*)$/s) ?? [];
    if (name === undefined) {
      if (parameters.path) wrong(part, "only one path; others are written path=…");
      parameters.path = part.word;
    } else if (name === "") wrong(part, "a name stands before the =");
    else if (value === "") wrong(part, `a value stands behind ${name}=`);
    else if (name === "op" && !operations.includes(value)) {
      wrong(part, `op is one of ${operations.join(", ")}`);
    } else if (name === "tx" && !/^\d+$/.test(value)) wrong(part, "tx is a number");
    else if (["grep", "since", "until"].includes(name)) parameters[name] = value;
    else parameters.match.push(part.word);
  });
  if (parameters.match.length === 0) delete parameters.match;
  return { parameters, mistake, isEmpty: all.length === 0 };
}

/** The place of an error that the server found: the word that its message names. */
export function placeOf(error, text) {
  if (error.position !== undefined) return { from: error.position, to: error.position + 1 };
  const found = words(text).find(({ word }) => {
    const value = word.replace(/^[^=]*=/, "");
    return value && error.message.includes(value);
  });
  return found ?? { from: 0, to: text.length };
}

/** What may stand at the cursor; `known` has the values that were seen of each field. */
export function filterOffers(text, caret, known) {
  const word = words(text).find((part) => part.from <= caret && caret <= part.to)
    ?? { word: "", from: caret, to: caret };
  const typed = text.slice(word.from, caret);
  const field = typed.match(/^([^=]+=)(.*)$/);
  const values = field && (field[1] === "op=" ? operations : [...known.get(field[1]) ?? []]);
  const options = field
    ? values.filter((value) => value.toLowerCase().startsWith(field[2].toLowerCase()))
      .map((value) => ({ text: field[1] + (/\s/.test(value) ? `"${value}"` : value) }))
    : Object.entries(fields).filter(([name]) => name.startsWith(typed))
      .map(([text, note]) => ({ text, note }));
  return { from: word.from, to: word.to, options };
}

/** Shows a mistake below the field, under the word that it is about. */
export function markElement(mistake, h) {
  if (!mistake) return [];
  const width = Math.max(1, mistake.to - mistake.from);
  return [h("code", { class: "marks", "aria-hidden": "true" },
    " ".repeat(mistake.from) + "^".repeat(width)), h("span", {}, mistake.message)];
}
