// Charts in SVG: bars for groups, a line for what has an order in time.

import { h } from "./dom.js";
import { text, typeOf, count } from "./format.js";

const barsMax = 60;
const pointsMax = 5000;

const isNumber = (value) => typeof value === "number";

/** What can be drawn: the column of names or times, and the columns of numbers. */
export function chartColumns(rows, columns) {
  const numbers = columns.filter((name) => rows.some((row) => isNumber(row[name]))
    && rows.every((row) => isNumber(row[name]) || row[name] === null || row[name] === undefined));
  const dates = columns.filter((name) => rows.length > 0
    && rows.every((row) => typeOf(row[name]) === "date" || !row[name]));
  const names = columns.filter((name) => name !== "id" && rows.some((row) =>
    ["text", "boolean"].includes(typeOf(row[name]))));
  const first = columns.find((name) => name !== "id");
  return { numbers, dates, names, across: dates[0] ?? names[0] ?? first };
}

export function bars(rows, across, value) {
  const shown = rows.slice(0, barsMax).filter((row) => isNumber(row[value]));
  const max = Math.max(0, ...shown.map((row) => row[value]));
  const min = Math.min(0, ...shown.map((row) => row[value]));
  const span = max - min || 1;
  const height = shown.length * 22 + 6;
  const x = (number) => 180 + (number - min) / span * 500;
  return h("svg", { class: "chart", viewBox: `0 0 780 ${height}`, role: "img",
    "aria-label": `${value} by ${across}: ${shown.length} bars` }, shown.map((row, index) => {
    const y = index * 22 + 3;
    const number = row[value];
    return h("g", {}, h("title", {}, `${text(row[across])}: ${number}`),
      h("text", { x: 172, y: y + 13, "text-anchor": "end" }, text(row[across]).slice(0, 24)),
      h("rect", { x: Math.min(x(0), x(number)), y, width: Math.max(1, Math.abs(x(number) - x(0))),
        height: 18 }),
      h("text", { x: Math.max(x(0), x(number)) + 6, y: y + 13, class: "number" }, short(number)));
  }));
}

export function line(rows, across, value) {
  const place = (cell) => typeOf(cell) === "date" ? Date.parse(cell.$date) : Number(cell);
  const points = rows.slice(0, pointsMax).map((row) => [place(row[across]), row[value],
    row[across]])
    .filter(([x, y]) => Number.isFinite(x) && isNumber(y)).sort((one, other) => one[0] - other[0]);
  if (points.length === 0) return h("p", { class: "note" }, "Nothing to draw.");
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  const [left, right] = [xs[0], xs.at(-1)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const x = (number) => 60 + (number - left) / (right - left || 1) * 680;
  const y = (number) => 240 - (number - low) / (high - low || 1) * 220;
  return h("svg", { class: "chart", viewBox: "0 0 780 270", role: "img",
    "aria-label": `${value} over ${across}: ${points.length} points, from ${low} to ${high}` },
  h("line", { x1: 60, x2: 740, y1: 240, y2: 240, class: "axis" }),
  h("text", { x: 54, y: 24, "text-anchor": "end" }, short(high)),
  h("text", { x: 54, y: 240, "text-anchor": "end" }, short(low)),
  h("text", { x: 60, y: 260 }, text(points[0][2])),
  h("text", { x: 740, y: 260, "text-anchor": "end" }, text(points.at(-1)[2])),
  h("polyline", {
    points: points.map((point) => `${x(point[0]).toFixed(1)},${y(point[1]).toFixed(1)}`).join(" "),
  }));
}

const short = (number) => Number.isInteger(number) ? count(number) : number.toPrecision(4);

/** A plan as a drawing: its steps from what is read to what is found, with how many at each. */
export function planDrawing(plan) {
  const all = [plan.estimated, ...Object.values(plan.actual),
    ...plan.steps.flatMap((step) => [step.estimated, step.actual])];
  const max = Math.max(1, ...all.filter((number) => typeof number === "number"));
  const more = plan.isPart ? "+" : "";
  const bar = (label, number, kind) => typeof number === "number" && h("div",
    { class: `plan-bar ${kind}` },
    h("span", { class: "plan-label" }, label),
    h("svg", { viewBox: "0 0 200 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      h("rect", { x: 0, y: 0, height: 10, width: Math.max(1, number / max * 200) })),
    h("span", { class: "plan-number" }, count(number) + (kind === "actual" ? more : "")));
  const isScan = /^(read|scan|go through) (all|the records)/i.test(plan.steps[0]?.words ?? "");
  const looked = Math.max(plan.actual.entries ?? 0, plan.actual.records ?? 0);
  const found = plan.actual.results ?? plan.actual.accepted;
  const wasted = found !== undefined && looked > 20 && looked > found * 5;
  return h("div", { class: "plan" },
    plan.isPart && h("p", { class: "note" }, "It has not ended; so far:"),
    (isScan || wasted) && h("p", { class: "problem" }, `It looked at ${count(looked)}${more} to find `
      + `${count(found ?? 0)}${more}: an index on what it keeps by would spare the rest.`),
    h("ol", { class: "plan-steps" }, plan.steps.map((
      { words, estimated, actual }, index) => h("li", {},
      h("span", { class: "plan-step" }, words),
      bar("estimated", estimated, "estimated"), bar("actual", actual, "actual"), index === 0 && [
        bar("estimated", plan.steps.some((one) => typeof one.estimated === "number") ? undefined
          : plan.estimated, "estimated"), bar("looked at", plan.actual.entries, "actual"),
        bar("records read", plan.actual.records, "actual")],
      index === plan.steps.length - 1 && [bar("accepted", plan.actual.accepted, "actual"),
        bar("results", plan.actual.results, "actual")]))));
}

/** A plan from the answer of `query --explain`: as JSON, or as its lines of text. */
export function readPlan(lines) {
  const [first] = lines;
  if (first?.steps) {
    const steps = first.steps.map((step) => typeof step === "string" ? { words: step } : step);
    return { steps, estimated: first.estimated, actual: first.actual ?? {}, isPart: first.isPart };
  }
  const plan = { steps: [], actual: {} };
  for (const line of lines) {
    const whole = line.line ?? line.step ?? line.text ?? String(line);
    const [, estimate] = whole.match(/^estimated: ([\d,]+)/) ?? [];
    if (estimate) plan.estimated = number(estimate);
    else if (whole.startsWith("actual: ")) {
      for (const [, value, name] of whole.matchAll(/([\d,]+) ([a-z ]+)/g)) {
        plan.actual[name.replace(" read", "").replace(/y$/, "ies").replace(/^(record|result)$/,
          "$1s")]
          = number(value);
      }
    } else plan.steps.push({ words: whole });
  }
  return plan;
}

const number = (text) => Number(text.replaceAll(",", ""));
