// Lines over the training step, drawn by plotly; the same numbers stand in a table behind each.

import { h, link, svg } from "./dom.js";
import { common, figureOf, HEIGHT, hue, isDark } from "./figure.js";
import { DASH, scroll, short } from "./numbers.js";

/** Told apart without colour too: by dash and symbol, and by the label at the line's end. */
const STYLES = {
  light: ["#2f5fd0", "#b4540a", "#00785a", "#9a3d7e", "#6b5b00", "#4a4f59", "#0077a8", "#a3262f"],
  dark: ["#86a8ff", "#f0a15c", "#4fc9a2", "#e39acb", "#d8c64a", "#b9bfca", "#62c4ee", "#ff9a92"],
};
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star"];
const MOST = 8;
const ROW = 15;
const NARROW = 420;

/**
 * A chart with a title, a table and, once it is drawn, `data-drawn`.
 *
 * `series`: [{name, points: [{x, y, low, high, told, href}]}]; a `y` of null is a gap in the line.
 * `format(y)` writes a value; `range` is that of the axis, `zero` draws a line at 0.
 */
export function chart({ title, about, axis, series, format, range = null, zero = false, onopen }) {
  const measured = series.filter((each) => each.points.some(({ y }) => y !== null));
  const plot = (width) => ({ traces: traces(measured), layout: layout(measured, { axis, range, zero, width }) });
  const open = ({ customdata }) => customdata?.[1] && onopen(customdata[1]);
  return figureOf({ title, about, plot: measured.length ? plot : null, table: table(title, series, format), onopen: open });
}

function style(index, many) {
  const colours = STYLES[isDark() ? "dark" : "light"];
  if (many) return { colour: hue("--field"), dash: "solid", symbol: "circle" };
  return { colour: colours[index % MOST], dash: DASHES[index % MOST], symbol: SYMBOLS[index % MOST] };
}

function traces(series) {
  const many = series.length > MOST;
  return series.flatMap(({ name, points }, index) => {
    const { colour, dash, symbol } = style(index, many);
    const common = { x: points.map(({ x }) => x), connectgaps: false, showlegend: false };
    const line = {
      ...common,
      name,
      type: "scatter",
      mode: "lines+markers",
      y: points.map(({ y }) => y),
      line: { color: colour, dash, width: many ? 1 : 2 },
      marker: { color: colour, symbol, size: many ? 4 : 8 },
      customdata: points.map(({ told, href }) => [told, href]),
      hovertemplate: "%{customdata[0]}<extra></extra>",
    };
    if (many) return [line];
    return [...bands(points, common, colour), line];
  });
}

/** A band for each stretch of points with an interval. */
function bands(points, common, colour) {
  const found = points.filter(({ low }) => low !== null && low !== undefined);
  if (found.length === 0) return [];
  if (found.length === 1) {
    const [{ x, y, low, high }] = found;
    return [{ ...common, type: "scatter", mode: "markers", x: [x], y: [y], marker: { size: 1, color: colour }, hoverinfo: "skip", error_y: { type: "data", symmetric: false, array: [high - y], arrayminus: [y - low], color: colour, thickness: 1 } }];
  }
  const x = found.map((point) => point.x);
  return [{ ...common, type: "scatter", mode: "lines", x: [...x, ...x.slice().reverse()], y: [...found.map(({ high }) => high), ...found.map(({ low }) => low).reverse()], fill: "toself", fillcolor: `${colour}18`, line: { width: 0 }, hoverinfo: "skip" }];
}

function layout(series, { axis, range, zero, width }) {
  const muted = hue("--muted");
  const shared = common();
  const many = series.length > MOST;
  const labels = series.length > 1 && !many ? ends(series, range) : [];
  const longest = Math.max(0, ...labels.map(({ text }) => text.length));
  const right = labels.length ? Math.min(6.4 * longest + 16, Math.max(90, width * 0.42)) : 16;
  return {
    ...shared.layout,
    margin: { l: 8, r: right, t: 12, b: 8 },
    xaxis: { ...shared.axis, range: reach(series), title: { text: "training step", standoff: 8 }, nticks: width < NARROW ? 4 : 6, tickangle: 0 },
    yaxis: { ...shared.axis, title: { text: axis, standoff: 8 }, range: range ?? undefined, rangemode: range ? undefined : "tozero", ticksuffix: "" },
    shapes: zero ? [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: 0, y1: 0, line: { color: muted, width: 1 } }] : [],
    annotations: labels.map(({ text, x, y, at, index }) => ({ text, x, y, ax: 10, ay: at, xanchor: "left", showarrow: true, arrowhead: 0, arrowwidth: 1, arrowcolor: style(index, many).colour, standoff: 5, font: { color: style(index, many).colour, size: 12 } })),
  };
}

/** The steps from first to last, with room for the symbols at the ends. */
function reach(series) {
  const steps = series.flatMap(({ points }) => points.map(({ x }) => x));
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const room = (last - first || 1) * 0.05;
  return [first - room, last + room];
}

/** The label of each line at its last point, moved apart where they would cover each other. */
function ends(series, range) {
  const all = series.flatMap(({ points }) => points.flatMap(({ y, low, high }) => [y, low, high])).filter((y) => y !== null && y !== undefined);
  const [least, most] = range ?? [Math.min(0, ...all), Math.max(...all)];
  const pixel = (y) => ((most - y) / (most - least || 1)) * (HEIGHT - 70);
  const labels = series
    .map(({ name, points }, index) => ({ ...points.filter(({ y }) => y !== null).at(-1), text: plain(short(name)), index }))
    .sort((a, b) => b.y - a.y);
  let free = -Infinity;
  for (const label of labels) {
    label.top = Math.max(pixel(label.y), free);
    free = label.top + ROW;
  }
  // What ran out below moves up again.
  let limit = HEIGHT - 64;
  for (const label of labels.toReversed()) {
    label.top = Math.min(label.top, limit);
    limit = label.top - ROW;
    label.at = label.top - pixel(label.y);
  }
  return labels;
}

/** A text for plotly, which reads a little markup in labels. */
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
export const toldText = plain;

function table(title, series, format) {
  const steps = [...new Map(series.flatMap(({ points }) => points.map((point) => [`${point.x} ${point.href}`, point]))).values()];
  const at = ({ points }, { x, href }) => points.find((point) => point.x === x && point.href === href);
  return h(
    "details",
    {},
    h("summary", {}, "Table"),
    scroll(
      title,
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ["Step", "Checkpoint", ...series.map(({ name }) => name)].map((text, index) => h("th", { scope: "col", class: index === 1 ? null : "number" }, text)))),
        h(
          "tbody",
          {},
          steps.map((step) =>
            h(
              "tr",
              {},
              h("td", { class: "number" }, step.x === null ? DASH : String(step.x)),
              h("th", { scope: "row" }, link(step.href, step.who)),
              series.map((each) => {
                const point = at(each, step);
                const band = point && point.low !== null && point.low !== undefined ? `${format(point.low)} to ${format(point.high)}` : null;
                return h("td", { class: "number" }, point && point.y !== null ? format(point.y) : DASH, band && h("small", {}, band));
              }),
            ),
          ),
        ),
      ),
    ),
  );
}

/** A light drawing: bars of parts of a whole, with its numbers beside it. */
export function stacked(parts, label) {
  const whole = parts.reduce((sum, { value }) => sum + value, 0);
  let from = 0;
  return svg(
    "svg",
    { viewBox: "0 0 100 8", class: "stacked", preserveAspectRatio: "none", role: "img", "aria-label": label },
    parts.map(({ value, kind }) => {
      const width = whole ? (100 * value) / whole : 0;
      const part = svg("rect", { x: from, y: 0, width, height: 8, class: kind });
      from += width;
      return part;
    }),
  );
}
