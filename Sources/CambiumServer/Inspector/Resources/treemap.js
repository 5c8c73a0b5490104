// A treemap: rectangles whose areas are as the numbers, as near to squares as may be (Bruls, Huizing
// and van Wijk, "Squarified Treemaps", 2000).

/** Places items of {size} in a rectangle: each gets {x, y, width, height}. Largest first. */
export function squarify(items, x, y, width, height) {
  const total = items.reduce((sum, item) => sum + item.size, 0);
  const placed = [];
  if (total <= 0 || width <= 0 || height <= 0) return placed;
  const scale = width * height / total;
  let rest = items.filter((item) => item.size > 0).sort((one, other) => other.size - one.size);
  let box = { x, y, width, height };
  while (rest.length > 0) {
    const side = Math.min(box.width, box.height);
    let count = 1;
    while (count < rest.length
      && worst(rest.slice(0, count + 1), side, scale) <= worst(rest.slice(0, count), side, scale)) {
      count += 1;
    }
    box = layRow(rest.slice(0, count), box, scale, placed);
    rest = rest.slice(count);
  }
  return placed;
}

/** The longest shape in a row along a side. */
function worst(row, side, scale) {
  const area = row.reduce((sum, item) => sum + item.size, 0) * scale;
  const [large, small] = [row[0].size * scale, row.at(-1).size * scale];
  return Math.max(side * side * large / (area * area), area * area / (side * side * small));
}

function layRow(row, box, scale, placed) {
  const area = row.reduce((sum, item) => sum + item.size, 0) * scale;
  const isColumn = box.width >= box.height;
  const depth = area / (isColumn ? box.height : box.width);
  let at = isColumn ? box.y : box.x;
  for (const item of row) {
    const length = item.size * scale / depth;
    placed.push(isColumn ? { item, x: box.x, y: at, width: depth, height: length }
      : { item, x: at, y: box.y, width: length, height: depth });
    at += length;
  }
  return isColumn
    ? { x: box.x + depth, y: box.y, width: box.width - depth, height: box.height }
    : { x: box.x, y: box.y + depth, width: box.width, height: box.height - depth };
}
