// Leaderboard: every player's results, and player against opponent.

import { persist, request } from "./api.js";
import { address, count, field, h, link, query, say } from "./dom.js";
import { footer } from "./frame.js";

/** Fill the page. */
export async function mount(root) {
  const title = h("h1", {}, "Leaderboard");
  const about = h("p", { class: "about" });
  const problem = h("p", { class: "problem", role: "alert" });
  const body = h("div", { class: "tables" });
  root.append(h("div", { class: "head" }, title, about, problem), body, footer());
  try {
    const data = await persist(() => request("/leaderboard"), () => say(problem, "The server does not answer. Trying again."));
    say(problem, "");
    say(title, headline(data));
    say(about, data.players.length ? "Rates come from evaluations and stored games; games from the browser stand apart and move none. A bar is a 95 % Wilson interval." : "");
    body.append(...(data.players.length || data.people.length ? tables(data) : [empty()]));
  } catch (error) {
    say(problem, error.message);
  }
  root.dataset.ready = "1";
}

function headline({ players }) {
  const rated = players.filter((player) => player.opening.games + player.replying.games > 0);
  if (rated.length === 0) return "Nobody has a rate yet";
  const unbeaten = rated.filter((player) => player.opening.losses + player.replying.losses === 0);
  const these = (list) => (list.length === 1 ? list[0].player.name : `${list.length} of ${rated.length} players`);
  if (unbeaten.length === 0) return `No player of ${rated.length} is unbeaten`;
  return `${these(unbeaten)} never lost`;
}

function empty() {
  return h(
    "div",
    { class: "card empty" },
    h("p", {}, "No games are stored yet."),
    h("p", {}, link("/", "Play one"), ", or store a series from a terminal:"),
    h("pre", { tabindex: 0 }, "arena play minimax:tie=first minimax --games 200 --seed 1 --store"),
  );
}

function tables(data) {
  const parts = [];
  if (data.players.length) {
    parts.push(results(data.players));
    if (data.matrix.length) parts.push(matrix(data));
  }
  if (data.people.length) parts.push(people(data.people));
  return parts;
}

const column = (text, attributes = {}) => h("th", { scope: "col", ...attributes }, text);
const number = (value) => h("td", { class: "number" }, value === null ? "–" : typeof value === "number" ? count(value) : value);
const scroll = (label, ...children) => h("div", { class: "card scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);

/** The digits that an interval deserves, in per cent. */
export function percent(rate) {
  return `${(100 * rate).toFixed(rate === 0 || rate === 1 ? 0 : 1)} %`;
}

/** A rate with its interval as a quiet bar; what was counted is in the title. */
function rate(side) {
  if (side.games === 0) return h("td", { class: "number rate" }, "–");
  const { low, high } = side.interval ?? { low: side.not_lost, high: side.not_lost };
  const what = side.exact
    ? `${percent(side.not_lost)}, exact: both sides always answer a board alike; ${side.distinct} distinct of ${count(side.games + side.repeats)} games`
    : `${percent(side.not_lost)} of ${count(side.games)} games not lost, 95 % interval ${percent(low)} to ${percent(high)}, ${count(side.distinct)} distinct`;
  return h(
    "td",
    { class: "number rate", title: what },
    h("span", {}, percent(side.not_lost)),
    h("span", { class: "bar", "aria-hidden": "true" }, span(low, high), h("i", { style: `left:${100 * side.not_lost}%` })),
    h("small", {}, side.exact ? "exact" : `${percent(low)} to ${percent(high)}`),
    side.notes.map((note) => h("small", { class: "note" }, note)),
  );
}

const span = (low, high) => h("b", { style: `left:${100 * low}%;width:${Math.max(1, 100 * (high - low))}%` });

const record3 = ({ wins, draws, losses }) => [wins, draws, losses].map(count).join(" · ");

function record(side, player, opening) {
  if (side.games + side.void + side.repeats === 0) return Array(3).fill(null).map(number);
  const games = link(address("/games", { player: player.name, player_id: player.id, opening, rated: true }), count(side.games));
  const voids = side.void > 0 && h("small", {}, `${count(side.void)} void`);
  return [h("td", { class: "number" }, games, voids), number(record3(side)), number(side.forfeits)];
}

function results(players) {
  const wide = (text) => h("th", { scope: "colgroup", colspan: 4, class: "group" }, text);
  const columns = () => ["Not lost", "Games", "W · D · L", "Forfeits"].map((text) => column(text, { class: "number" }));
  return h(
    "section",
    {},
    h("h2", {}, "Players"),
    scroll(
      "Players",
      h(
        "table",
        { class: "results" },
        h(
          "thead",
          {},
          h("tr", {}, column("Player", { rowspan: 2 }), wide("Opening"), wide("Replying"), h("th", { scope: "colgroup", class: "group" }, "In the browser")),
          h("tr", {}, columns(), columns(), column("W · D · L", { class: "number" })),
        ),
        h(
          "tbody",
          {},
          players.map(({ player, opening, replying, people: seen }) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, link(address("/games", { player: player.name, player_id: player.id }), player.name), player.detail && h("small", {}, player.detail)),
              rate(opening),
              record(opening, player, true),
              rate(replying),
              record(replying, player, false),
              number(seen.games ? link(address("/games", { player: player.name, player_id: player.id, source: "play" }), record3(seen)) : null),
            ),
          ),
        ),
      ),
      h("p", { class: "hint" }, "W · D · L: won, drawn, lost. Not lost: the share of wins and draws. Forfeits are losses by invalid replies, counted among the lost. Void games count for nobody."),
    ),
  );
}

function matrix({ players, matrix: entries }) {
  const seat = query().seat === "opening" ? "opening" : "replying";
  const cells = new Map(entries.map((entry) => [`${entry.player_id} ${entry.opponent_id}`, entry]));
  const shown = players.filter(({ player }) => entries.some((entry) => entry.player_id === player.id));
  const opponents = players.filter(({ player }) => entries.some((entry) => entry.opponent_id === player.id));
  const body = h("tbody");
  const choose = h(
    "select",
    {
      onchange: (event) => {
        history.replaceState(null, "", address(location.pathname, { ...query(), seat: event.target.value === "opening" ? "opening" : null }));
        paint(event.target.value);
      },
    },
    ["replying", "opening"].map((value) => h("option", { value, selected: value === seat }, value[0].toUpperCase() + value.slice(1))),
  );
  function paint(side) {
    body.replaceChildren(
      ...shown.map(({ player }) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, player.name, player.detail && h("small", {}, player.detail)),
          opponents.map(({ player: opponent }) => {
            const entry = cells.get(`${player.id} ${opponent.id}`)?.[side];
            if (!entry || entry.games === 0) return h("td", { class: "number" }, "–");
            const what = `${entry.wins} won, ${entry.draws} drawn, ${entry.losses} lost; ${entry.distinct} distinct`;
            const games = address("/games", { player: player.name, player_id: player.id, opponent: opponent.name, opponent_id: opponent.id, opening: side === "opening", rated: true });
            const n = entry.exact ? "exact" : `${percent(entry.interval.low)} to ${percent(entry.interval.high)}`;
            return h(
              "td",
              { class: "number cell", title: what, style: `--share:${(100 * entry.not_lost).toFixed(0)}%` },
              link(games, percent(entry.not_lost)),
              h("small", {}, n),
            );
          }),
        ),
      ),
    );
  }
  paint(seat);
  return h(
    "section",
    {},
    h("div", { class: "row" }, h("h2", {}, "Player against opponent, not lost"), field("Player is", choose)),
    scroll(
      "Player against opponent",
      h("table", { class: "matrix" }, h("thead", {}, h("tr", {}, column("Player"), opponents.map(({ player }) => column(player.name, { class: "number" })))), body),
    ),
  );
}

function people(rows) {
  return h(
    "section",
    {},
    h("h2", {}, "People"),
    scroll(
      "People",
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, column("Person"), ["Games", "Won", "Drawn", "Lost", "Void"].map((text) => column(text, { class: "number" })))),
        h(
          "tbody",
          {},
          rows.map(({ player, people: seen }) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, link(address("/games", { player: player.name, player_id: player.id, source: "play" }), player.name || "Without a name")),
              number(seen.games),
              number(seen.wins),
              number(seen.draws),
              number(seen.losses),
              number(seen.void),
            ),
          ),
        ),
      ),
    ),
  );
}
