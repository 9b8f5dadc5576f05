// How often each reward was given: bars, and a table with the same numbers.

import { count, h } from "./dom.js";
import { common, figureOf, hue } from "./figure.js";
import { column, number, percent, scroll } from "./numbers.js";
import { figure } from "./rewards.js";

const TOLD = 8;
const LABELLED = 12;
const NARROW = 420;

/** The figure of a distribution: [{low, high, rollouts}], in which both ends of a single reward are the same. */
export function histogram(title, bins) {
  const plot = (width) => ({ traces: [bars(bins)], layout: layout(bins, width) });
  const whole = bins.reduce((sum, { rollouts }) => sum + rollouts, 0);
  const grouped = bins.length === 0 || alone(bins) ? "" : `, in intervals of ${figure(bins[0].high - bins[0].low)}, each without its upper end`;
  const about = `Of ${whole === 1 ? "one rollout that counts" : `${count(whole)} rollouts that count`}${grouped}.`;
  return figureOf({ title, about, plot: bins.length ? plot : null, table: table(title, bins, whole) });
}

const alone = (bins) => bins[0].low === bins[0].high;
const span = ({ low, high }) => (low === high ? figure(low) : `${figure(low)} to ${figure(high)}`);
const middle = ({ low, high }) => (low + high) / 2;

/** As wide as the intervals; single rewards stand where they are, as wide as there is room for. */
function thickness(bins) {
  if (!alone(bins)) return 0.94 * (bins[0].high - bins[0].low);
  const values = bins.map(({ low }) => low);
  const reach = values.at(-1) - values[0];
  const nearest = Math.min(...values.slice(1).map((value, index) => value - values[index]));
  return reach ? Math.max(reach / 150, Math.min(0.9 * nearest, reach / 12)) : Math.max(0.1, 0.1 * Math.abs(values[0]));
}

function bars(bins) {
  const some = bins.filter(({ rollouts }) => rollouts > 0);
  return {
    type: "bar",
    x: bins.map(middle),
    y: bins.map(({ rollouts }) => rollouts),
    width: thickness(bins),
    marker: { color: hue("--accent") },
    text: some.length <= LABELLED ? bins.map(({ rollouts }) => (rollouts ? count(rollouts) : "")) : undefined,
    textposition: "outside",
    cliponaxis: false,
    textfont: { color: hue("--ink") },
    customdata: bins.map((bin) => `${span(bin)}: ${count(bin.rollouts)}`),
    hovertemplate: "%{customdata}<extra></extra>",
  };
}

function layout(bins, width) {
  const shared = common();
  const values = bins.map(({ low }) => low);
  const room = alone(bins) && bins.length === 1 ? 1 : thickness(bins);
  const told = alone(bins) && bins.length <= TOLD && width > NARROW;
  return {
    ...shared.layout,
    margin: { l: 8, r: 8, t: 24, b: 8 },
    bargap: 0,
    xaxis: { ...shared.axis, title: { text: "reward", standoff: 8 }, range: [bins[0].low - room, bins.at(-1).high + room], tickangle: 0, nticks: width < NARROW ? 4 : 8, showgrid: false, ...(told && { tickvals: values, ticktext: values.map(figure) }) },
    yaxis: { ...shared.axis, title: { text: "rollouts", standoff: 8 }, rangemode: "tozero", tickformat: ",d", nticks: 5 },
  };
}

function table(title, bins, whole) {
  return h(
    "details",
    {},
    h("summary", {}, "Table"),
    scroll(
      title,
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ["Reward", "Rollouts", "Share"].map((text) => column(text, { class: "number" })))),
        h("tbody", {}, bins.map((bin) => h("tr", {}, h("th", { scope: "row", class: "number" }, span(bin)), number(bin.rollouts), number(percent(bin.rollouts / whole))))),
      ),
    ),
  );
}
