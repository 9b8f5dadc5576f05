// A figure that plotly draws: a title, the drawing, and below it a table with the same numbers.

import { h } from "./dom.js";

const PLOTLY = "/ui/plotly/plotly.min.js";
export const HEIGHT = 300;

let loading = null;

/** plotly, fetched from this server the first time that something is drawn. */
function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src: PLOTLY });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error("The chart could not be loaded; the table holds its numbers."));
    };
    document.head.append(script);
  });
  return loading;
}

/** A colour of the style sheet, as it is now. */
export const hue = (name) => getComputedStyle(document.querySelector(".arena")).getPropertyValue(name).trim();
export const isDark = () => document.body.classList.contains("dark");

/** What all drawings share of plotly's layout, and of each of its axes. */
export function common() {
  return {
    layout: {
      height: HEIGHT,
      paper_bgcolor: "transparent",
      plot_bgcolor: "transparent",
      font: { family: "system-ui, sans-serif", size: 12, color: hue("--ink") },
      hoverlabel: { bgcolor: hue("--card"), bordercolor: hue("--field"), font: { color: hue("--ink") }, align: "left" },
      hovermode: "closest",
    },
    axis: { color: hue("--muted"), gridcolor: hue("--hair"), linecolor: hue("--hair"), zeroline: false, automargin: true, fixedrange: true },
  };
}

/**
 * The figure; `draw()` of it draws, and once that is done it has `data-drawn`.
 *
 * `plot(width)` gives {traces, layout}; null instead of it says that nothing was measured.
 * `onopen(point)` is called for a click on a point.
 */
export function figureOf({ title, about, plot, table, onopen = () => {} }) {
  const canvas = h("div", { class: "canvas", role: "img", "aria-label": `${title}: a chart; its numbers are in the table below` });
  const figure = h("figure", { class: "card chart" }, h("figcaption", {}, h("h2", {}, title), about && h("p", { class: "hint" }, about)), canvas, table);
  if (plot === null) {
    canvas.replaceChildren(h("p", { class: "hint none" }, "Not measured yet."));
    figure.dataset.drawn = "nothing";
    return figure;
  }
  const draw = async () => {
    try {
      const library = await plotly();
      if (!canvas.isConnected) return;
      const { traces, layout } = plot(canvas.clientWidth);
      await library.react(canvas, traces, layout, { displayModeBar: false, responsive: true, scrollZoom: false });
      // What is drawn is for the eye: the table says the same to others.
      canvas.querySelectorAll("svg").forEach((each) => each.setAttribute("aria-hidden", "true"));
      if (!figure.dataset.drawn) canvas.on("plotly_click", ({ points: [point] }) => onopen(point));
      figure.dataset.drawn = "1";
    } catch (error) {
      canvas.replaceChildren(h("p", { class: "problem" }, error.message));
      figure.dataset.drawn = "failed";
    }
  };
  figure.draw = draw;
  // The scheme is a class of the body's; a figure that has left the page is not redrawn.
  const scheme = new MutationObserver(() => (figure.isConnected ? draw() : scheme.disconnect()));
  scheme.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  return figure;
}
