// Everybody who finished a game, whomever they met: engines' series and people's games too.

import { request } from "./api.js";
import { address, count, h, link, say } from "./dom.js";
import { between, column, number, percent, bar, scroll } from "./numbers.js";

/** A folded section that is filled when it is opened. */
export function everybody() {
  const body = h("div", { class: "tables" });
  const problem = h("p", { class: "problem", role: "alert" });
  let asked = false;
  return h(
    "details",
    {
      class: "everybody",
      ontoggle: async () => {
        if (asked) return;
        asked = true;
        try {
          const { players, people } = await request("/leaderboard");
          say(problem, "");
          body.replaceChildren(...(players.length ? [results(players)] : []), ...(people.length ? [persons(people)] : []), ...(players.length + people.length ? [] : [nobody()]));
        } catch (error) {
          asked = false;
          say(problem, error.message);
        }
      },
    },
    h("summary", {}, "Everybody who has played, engines and people too"),
    problem,
    body,
  );
}

const nobody = () => h("div", { class: "card empty" }, h("p", {}, "No games are stored yet."), h("p", {}, link("/", "Play one"), ", or store a series from a terminal:"), h("pre", { tabindex: 0 }, "arena play minimax:tie=first minimax --games 200 --seed 1 --store"));

const record = ({ wins, draws, losses }) => [wins, draws, losses].map(count).join(" · ");
const games = (player, more) => address("/games", { player: player.name, player_id: player.id, ...more });

function rate(side) {
  if (side.not_lost === null) return number(null);
  return h("td", { class: "number rate" }, h("span", {}, percent(side.not_lost, side.interval)), bar(side.not_lost, side.interval), h("small", {}, side.interval ? between(side.interval) : side.exact ? "exact" : "all opponents"), side.notes.map((note) => h("small", { class: "note" }, note)));
}

function seat(side, player, opening) {
  if (side.games + side.void + side.repeats === 0) return [null, null, null].map((none) => number(none));
  return [
    h("td", { class: "number" }, link(games(player, { opening, rated: true }), count(side.games)), side.void > 0 && h("small", {}, `${count(side.void)} void`)),
    number(record(side)),
    number(side.forfeits),
  ];
}

function results(players) {
  const group = (text) => h("th", { scope: "colgroup", colspan: 4, class: "group" }, text);
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
          h("tr", {}, column("Player", { rowspan: 2 }), group("Opening"), group("Replying"), h("th", { scope: "colgroup", class: "group" }, "In the browser")),
          h("tr", {}, columns(), columns(), column("W · D · L", { class: "number" })),
        ),
        h(
          "tbody",
          {},
          players.map(({ player, opening, replying, people, demonstration }) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, link(games(player), player.name), player.detail && h("small", {}, player.detail), demonstration > 0 && h("small", { title: `${count(demonstration)} of its games came with the arena` }, "demonstration")),
              rate(opening),
              seat(opening, player, true),
              rate(replying),
              seat(replying, player, false),
              number(people.games ? link(games(player, { source: "play" }), record(people)) : null),
            ),
          ),
        ),
      ),
      h("p", { class: "hint" }, "W · D · L: won, drawn, lost, against everybody met. Games from the browser move no rate."),
    ),
  );
}

function persons(rows) {
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
        h("tbody", {}, rows.map(({ player, people: seen }) => h("tr", {}, h("th", { scope: "row" }, link(games(player, { source: "play" }), player.name || "Without a name")), [seen.games, seen.wins, seen.draws, seen.losses, seen.void].map((value) => number(value))))),
      ),
    ),
  );
}
