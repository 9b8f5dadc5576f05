// Figures as they stand in tables: a rate with its interval, a gap, a dash where nothing was measured.

import { address, count, h, link } from "./dom.js";

export const DASH = "–";
const WIDE = 0.1;

/** A share in per cent, with the digits that its interval deserves; 0 and 100 are said of 0 and 1 alone. */
export function percent(share, interval = null) {
  if (share === null || share === undefined) return DASH;
  if (share === 0 || share === 1) return `${100 * share} %`;
  const digits = interval && interval.high - interval.low > WIDE ? 0 : 1;
  const rounded = (100 * share).toFixed(digits);
  if (Number(rounded) > 0 && Number(rounded) < 100) return `${rounded} %`;
  if (digits === 0) return percent(share);
  return share < 0.5 ? "< 0.1 %" : "> 99.9 %";
}

/** A difference of shares in points, with its sign. */
export function points(difference) {
  if (difference === null || difference === undefined) return DASH;
  const rounded = (100 * difference).toFixed(1);
  return Number(rounded) === 0 ? "0.0" : `${difference > 0 ? "+" : "−"}${rounded.replace("-", "")}`;
}

/** The bounds of an interval of a share, in per cent. */
export const between = ({ low, high }) => `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`;

/** The bounds of an interval of a difference, in points. */
export const betweenPoints = ({ low, high }) => `${points(low)} to ${points(high)}`;

/** A number with one digit behind the point where it is small. */
export const amount = (value, unit = "") =>
  value === null || value === undefined ? DASH : `${value < 10 ? value.toFixed(1) : count(Math.round(value))}${unit}`;

export const column = (text, attributes = {}) => h("th", { scope: "col", ...attributes }, text);
export const number = (value, attributes = {}) => h("td", { class: "number", ...attributes }, value === null || value === undefined ? DASH : typeof value === "number" ? count(value) : value);
export const scroll = (label, ...children) => h("div", { class: "card scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);

/** A quiet bar from 0 to 1: an interval, and a mark at the share. */
export function bar(share, interval) {
  const { low, high } = interval ?? { low: share, high: share };
  return h(
    "span",
    { class: "bar", "aria-hidden": "true" },
    h("b", { style: `left:${100 * low}%;width:${Math.max(1, 100 * (high - low))}%` }),
    h("i", { style: `left:${100 * share}%` }),
  );
}

/** What was counted for a seat, as a sentence to hover over. */
export function counted(seat) {
  if (!seat.rate) return seat.void ? `No game counts; ${count(seat.void)} void` : "Not measured";
  const share = percent(seat.rate.share, seat.rate.interval);
  if (!seat.games) return `${share} not lost, computed exactly over the whole game tree`;
  const void_ = seat.void ? `; ${count(seat.void)} void, which count for nobody` : "";
  const bounds = seat.rate.bounds ? `; ${between(seat.rate.bounds)} %, as ${count(seat.context_exceeded)} games that outgrew the context were all lost or all drawn` : "";
  const record = `${count(seat.wins)} won, ${count(seat.draws)} drawn, ${count(seat.losses)} lost${seat.forfeits ? `, ${count(seat.forfeits)} of them forfeits` : ""}`;
  const distinct = `${count(seat.distinct)} distinct of ${count(seat.games + seat.repeats)}`;
  if (seat.exact) return `${share} not lost, exact: both sides always answer a board alike. ${record}; ${distinct}${void_}`;
  return `${share} of ${count(seat.games)} games not lost, 95 % interval ${between(seat.rate.interval)} %. ${record}; ${distinct}${bounds}${void_}`;
}

/** An opponent's name without what most of them share. */
export const short = (spec) => (spec === "minimax" ? "uniform ties" : spec.replace(/^minimax:/, "").replaceAll(",", ", "));

/** A spec that may break after its commas, and nowhere else if it can. */
export const spec = (name) => name.split(/(?<=,)/).flatMap((part, index) => (index ? [h("wbr"), part] : [part]));

/** The games behind a seat of a checkpoint against an opponent; null where there are none. */
export function gamesOf(player, versus, opening) {
  const seat = opening ? versus.opening : versus.replying;
  if (!player || versus.opponent_id === null || seat.games + seat.void + seat.repeats === 0) return null;
  return address("/games", { player: player.name, player_id: player.id, opponent: versus.opponent, opponent_id: versus.opponent_id, opening, rated: true });
}

const spread = (rate, exact) => (rate.bounds ? `${between(rate.bounds)} known` : exact || !rate.interval ? "exact" : between(rate.interval));

/** A cell with a rate: the share, its interval as a bar, n and distinct. */
export function rateCell(seat, href = null) {
  const { rate } = seat;
  if (!rate) return h("td", { class: "number rate", title: counted(seat) }, href ? link(href, DASH) : DASH, seat.void > 0 && h("small", {}, `${count(seat.void)} void`));
  const share = percent(rate.share, rate.interval);
  return h(
    "td",
    { class: "number rate", title: counted(seat) },
    h("span", {}, href ? link(href, share) : share),
    bar(rate.share, rate.interval ?? rate.bounds),
    h("small", {}, spread(rate, seat.exact)),
    seat.games > 0 && h("small", {}, `${count(seat.distinct)}/${count(seat.games + seat.repeats)} distinct`),
    seat.void > 0 && h("small", {}, `${count(seat.void)} void`),
  );
}

/** A cell with a share of its own, of both seats or of a lowest rate. */
export function shareCell(share, interval, small, title) {
  if (share === null || share === undefined) return h("td", { class: "number rate", title }, DASH);
  return h("td", { class: "number rate", title }, h("span", {}, percent(share, interval)), bar(share, interval), h("small", {}, interval ? between(interval) : "exact"), small && h("small", { class: "whom" }, small));
}

/** A cell with the lowest of several rates, and whose it is. */
export function lowestCell(lowest) {
  if (!lowest) return h("td", { class: "number rate", title: "Not measured" }, DASH);
  const [first, ...others] = lowest.opponents;
  const whose = others.length + 1 === lowest.of && others.length ? `all ${lowest.of} alike` : others.length ? `${short(first)} and ${others.length} more` : short(first);
  const missing = lowest.missing.length ? `${lowest.missing.length} of ${lowest.of} not measured` : null;
  const title = `The lowest of ${lowest.of} rates: ${lowest.opponents.join(", ")}. Its interval is at 1 − 0.05/${lowest.of}.${missing ? ` Without games that count: ${lowest.missing.join(", ")}.` : ""}`;
  const cell = shareCell(lowest.share, lowest.interval, whose, title);
  if (missing) cell.append(h("small", { class: "note" }, missing));
  return cell;
}

const LARGE = 0.2;

/** A cell with a memorisation gap, or the reason why there is none. */
export function gapCell({ gap, interval, opponent, own, relatives, reason }) {
  if (gap === null) return h("td", { class: "number", title: reason }, DASH);
  const surely = (interval ? interval.low : gap) > LARGE;
  const title = `Replying, ${percent(own)} not lost against ${opponent}, ${percent(relatives)} against the seven that differ from it by a symmetry alone`;
  return h("td", { class: "number", title }, h("span", { class: surely ? "danger" : null }, points(gap)), h("small", {}, interval ? betweenPoints(interval) : "exact"));
}

/** Wins, draws and losses in per cent. */
export function sharesText(shares) {
  return shares ? [shares.wins, shares.draws, shares.losses].map((share) => percent(share).replace(" %", "")).join(" · ") : DASH;
}

/** A text as a file to take away; a link that looks like a button. */
export function download(label, name, type, make) {
  const anchor = h("a", { class: "button", href: "#", download: name }, label);
  anchor.addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([make()], { type }));
    anchor.href = url;
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  });
  return anchor;
}

/** Rows as comma-separated values; every row has the same keys. */
export function csv(rows) {
  const quoted = (value) => (value === null || value === undefined ? "" : /[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const keys = Object.keys(rows[0] ?? {});
  return [keys, ...rows.map((row) => keys.map((key) => row[key]))].map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
}
