// Checkpoint against opponent, as a table whose cells are coloured by their rate.

import { address, field, h, link, query } from "./dom.js";
import { between, column, counted, DASH, gamesOf, percent, scroll, short } from "./numbers.js";

const SEATS = { replying: "Replying", opening: "Opening", mean: "Even mean of both" };

/** The heat map of a leaderboard; `onSeat(name)` is told which seat was chosen. */
export function heatMap({ checkpoints, references, opponents }, onSeat) {
  const asked = query().seat;
  const body = h("tbody");
  const choose = h(
    "select",
    {
      name: "seat",
      onchange: (event) => {
        onSeat(event.target.value === "replying" ? null : event.target.value);
        paint(event.target.value);
      },
    },
    Object.entries(SEATS).map(([value, label]) => h("option", { value, selected: value === asked }, label)),
  );

  function paint(seat) {
    body.replaceChildren(
      ...[...checkpoints, ...references].map((row) =>
        h(
          "tr",
          { class: row.reference ? "reference" : null },
          h("th", { scope: "row" }, row.player ? link(address("/checkpoint", { id: row.player.id }), row.name) : row.name === "minimax" ? "Perfect player" : "Random player", row.player?.detail && h("small", {}, row.player.detail)),
          row.versus.map((versus) => cell(row, versus, seat)),
        ),
      ),
    );
  }

  paint(asked in SEATS ? asked : "replying");
  return h(
    "section",
    {},
    h("div", { class: "row" }, h("h2", {}, "Checkpoint against opponent, share not lost"), field("Checkpoint is", choose)),
    scroll("Checkpoint against opponent", h("table", { class: "heat" }, h("thead", {}, h("tr", {}, column("Checkpoint"), opponents.map((name) => column(short(name), { class: "number", title: name })))), body)),
    h("p", { class: "hint scale" }, "0 %", h("span", { class: "ramp", "aria-hidden": "true" }), "100 % not lost. A cell opens its games; a dash was not measured."),
  );
}

function cell(row, versus, seat) {
  const rate = seat === "mean" ? versus.mean : versus[seat].rate;
  const title = seat === "mean" ? "The mean of both seats, each counting one half" : counted(versus[seat]);
  if (!rate) return h("td", { class: "number", title }, DASH);
  const href = seat === "mean" ? null : gamesOf(row.player, versus, seat === "opening");
  const share = percent(rate.share, rate.interval);
  return h("td", { class: "number shade", title, style: `--share:${rate.share.toFixed(3)}` }, href ? link(href, share) : share, h("small", {}, rate.interval ? between(rate.interval) : rate.bounds ? between(rate.bounds) : "exact"));
}
