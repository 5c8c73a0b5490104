// A live query's list, from the differences that the server tells. Places are counted from 0; with
// sections they are [section, row].

/** Applies one difference: {rows, sections, marks}; marks say what happened to which id. */
export function applyDifference(rows, sections, difference) {
  const marks = new Map();
  const isSectioned = difference.sections !== undefined;
  let groups = isSectioned ? split(rows, sections) : [{ rows: [...rows] }];
  const group = (at) => groups[Array.isArray(at) ? at[0] : 0];
  const place = (at) => Array.isArray(at) ? at[1] : at;
  const { deletions = [], insertions = [], moves = [], updates = [] } = difference;

  // By their places before: the last ones first, so that the others keep theirs.
  const moved = moves.map((move) => group(move.from)?.rows[place(move.from)]);
  const gone = [...deletions.map((one) => one.at), ...moves.map((move) => move.from)];
  for (const at of gone.sort(later)) group(at)?.rows.splice(place(at), 1);
  if (isSectioned) groups = changeSections(groups, difference.sections);

  const come = [
    ...insertions.map((one) => ({ at: one.at, row: { id: one.id, ...one.values }, mark: "added" })),
    ...moves.map((move, index) => ({ at: move.to, row: moved[index],
      mark: later(move.to, move.from) > 0 ? "up" : "down" })),
  ].filter((one) => one.row);
  for (const { at, row, mark } of come.sort((one, other) => later(other.at, one.at))) {
    group(at)?.rows.splice(place(at), 0, row);
    marks.set(row.id, mark);
  }
  for (const update of updates) {
    const held = group(update.after)?.rows;
    const index = place(update.after);
    if (!held?.[index]) continue;
    const row = { ...held[index] };
    for (const [name, change] of Object.entries(update.values)) {
      if (change.new === undefined) delete row[name];
      else row[name] = change.new;
    }
    held[index] = row;
    if (!marks.has(row.id)) marks.set(row.id, "changed");
  }
  return {
    rows: groups.flatMap((one) => one.rows),
    sections: isSectioned ? groups.map((one) => ({ value: one.value, count: one.rows.length }))
      : [],
    marks,
  };
}

function changeSections(groups, { deletions = [], insertions = [], moves = [] }) {
  const left = groups.filter((_, index) => !deletions.some((one) => one.at === index)
    && !moves.some((move) => move.from === index));
  const come = [...insertions.map((one) => [one.at, { value: one.value, rows: [] }]),
    ...moves.map((move) => [move.to, groups[move.from]])];
  come.sort((one, other) => one[0] - other[0]);
  for (const [at, section] of come) left.splice(at, 0, section);
  return left;
}

function split(rows, sections) {
  let from = 0;
  return sections.map(({ value, count }) => ({ value, rows: rows.slice(from, from += count) }));
}

const numbers = (at) => Array.isArray(at) ? at : [0, at];

/** Sorts the later place first. */
function later(one, other) {
  const [a, b] = [numbers(one), numbers(other)];
  return b[0] - a[0] || b[1] - a[1];
}
