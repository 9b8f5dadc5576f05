// Elements without markup: every string becomes text, whatever it holds.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (`onclick` etc. are listeners) and children (elements or text). */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a drawing. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A link inside the app. */
export const link = (href, ...children) => h("a", { href }, ...children);

/** A labelled field; `control` is an input or a select. */
export const field = (label, control, attributes = {}) =>
  h("label", { class: "field", ...attributes }, h("span", {}, label), control);

const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollHeight > target.clientHeight || target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

/** A text as it is written; a stop of the Tab key only where it has to be scrolled. */
export function passage(text, attributes = {}) {
  const element = h("pre", attributes, text);
  sizes.observe(element);
  return element;
}

/** Write a text only where it changed, so that a screen reader speaks it once. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const COUNT = new Intl.NumberFormat("en");
/** A whole number with thousands separated. */
export const count = (number) => COUNT.format(number);

/** A duration in the unit that fits. */
export function seconds(value) {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
}

/** A moment as people write it, in the reader's time zone. */
export const moment = (text) =>
  new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** The parameters of the address, without the empty ones. */
export const query = () =>
  Object.fromEntries([...new URLSearchParams(location.search)].filter(([, value]) => value !== ""));

/** An address with parameters; empty ones are left out. */
export function address(path, parameters) {
  const kept = Object.entries(parameters).filter(
    ([, value]) => value !== "" && value !== null && value !== undefined,
  );
  const search = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  return search ? `${path}?${search}` : path;
}
