// Elements as expressions: h("a", { href: "#" }, "text"). Listeners are properties that begin
// with "on"; a property that is undefined, null or false is left out.

const svgTags = new Set(["svg", "g", "path", "rect", "line", "circle", "text", "title",
  "polyline"]);
const svgSpace = "http://www.w3.org/2000/svg";

export function h(tag, properties = {}, ...children) {
  const isSVG = svgTags.has(tag);
  const element = isSVG ? document.createElementNS(svgSpace, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Puts children in the place of what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** A button that does one thing. */
export function button(label, action, properties = {}) {
  return h("button", { type: "button", onclick: action, ...properties }, label);
}

/** Calls a function at most once for each frame, with the newest arguments. */
export function eachFrame(action) {
  let newest;
  return (...values) => {
    if (!newest) requestAnimationFrame(() => {
      const values = newest;
      newest = undefined;
      action(...values);
    });
    newest = values;
  };
}

/** Calls a function when nothing more has been asked for so many milliseconds. */
export function settled(milliseconds, action) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

export const announce = settled(300, (text) => {
  document.getElementById("announce").textContent = text;
});
