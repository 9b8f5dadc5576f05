// Two checkpoints side by side: where their rates differ, how surely, and in which games.

import { persist, request } from "./api.js";
import { smallBoard } from "./board.js";
import { address, count, field, h, link, query, say } from "./dom.js";
import { footer } from "./frame.js";
import { betweenPoints, column, DASH, gamesOf, percent, points, rateCell, scroll, spec } from "./numbers.js";

const PAGE = 12;
const RESULTS = { win: "won", draw: "drew", loss: "lost" };

/** Fill the page. */
export async function mount(root) {
  const title = h("h1", {}, "Compare two checkpoints");
  const about = h("p", { class: "about" });
  const problem = h("p", { class: "problem", role: "alert" });
  const choice = h("div");
  const body = h("div", { class: "tables" });
  root.append(h("div", { class: "head" }, title, about, problem, choice), body, footer());

  let turn = 0;
  async function show() {
    const mine = ++turn;
    const { first, second } = query();
    try {
      const { members } = await persist(() => request("/families"), () => say(problem, "The server does not answer. Trying again."));
      if (mine !== turn) return;
      say(problem, "");
      choice.replaceChildren(...(members.length > 1 ? [form(members, first, second, go)] : []));
      if (members.length < 2) say(about, "Two checkpoints with rated games are needed.");
      if (!first || !second) return body.replaceChildren();
      const duel = await request(address("/comparison", { first, second }));
      // Somebody may have chosen again meanwhile.
      if (mine !== turn) return;
      say(title, duel.title);
      say(about, duel.text);
      body.replaceChildren(table(duel), cells(duel));
    } catch (error) {
      if (mine !== turn) return;
      say(title, "These two cannot be compared");
      say(about, "");
      say(problem, error.message);
      body.replaceChildren();
    }
  }

  function go(changes) {
    history.pushState(null, "", address("/compare", { ...query(), ...changes }));
    return show();
  }

  window.addEventListener("popstate", show);
  await show();
  root.dataset.ready = "1";
}

function form(members, first, second, go) {
  const choose = (name, label, chosen) =>
    field(
      label,
      h(
        "select",
        { name, onchange: (event) => go({ [name]: event.target.value || null, opponent: null, opening: null }) },
        h("option", { value: "" }, "Choose"),
        members.map(({ player }) => h("option", { value: player.id, selected: String(player.id) === chosen }, player.detail ? `${player.name} (${player.detail})` : player.name)),
      ),
    );
  const swap = h("button", { type: "button", onclick: () => go({ first: second, second: first }) }, "Swap");
  return h("form", { class: "row pair", onsubmit: (event) => event.preventDefault() }, choose("first", "First", first), choose("second", "Second", second), swap);
}

/** How sure a difference is: on common cells where there are any, else over all games. */
function difference(row) {
  const found = row.paired ?? row.unpaired;
  if (!found) return [h("td", { class: "number", title: "One of the two has no game that counts" }, DASH), h("td", { class: "number" }, DASH), h("td", { class: "number" }, DASH)];
  const told = row.paired ? `${count(row.paired.cells)} common cells: ${count(row.paired.first)} lost by the second alone, ${count(row.paired.second)} by the first alone` : "No common cells: all games of both";
  const test = row.exact ? "exact" : row.paired ? p(row.paired.p_value) : DASH;
  return [
    h("td", { class: "number", title: told }, points(found.difference), h("small", {}, found.interval && !row.exact ? betweenPoints(found.interval) : "exact")),
    h("td", { class: "number", title: told }, test, h("small", {}, row.paired ? `${count(row.paired.first)} against ${count(row.paired.second)} of ${count(row.paired.cells)}` : "not paired")),
    h("td", { class: "number" }, row.needed === null ? DASH : count(row.needed)),
  ];
}

const p = (value) => (value < 0.001 ? "< 0.001" : value.toFixed(3));

const FEW = 10;

function table(duel) {
  const versus = (row, side) => duel[side].versus.find(({ opponent }) => opponent === row.opponent);
  const seat = (row, side) => {
    if (row.opponent !== null) return rateCell(row[side], gamesOf(duel[side].player, versus(row, side), row.opening));
    // The difference beside it is that of the common cells, and so is this share.
    return row.paired ? h("td", { class: "number" }, percent(row.paired[`${side}_share`]), h("small", {}, `of ${count(row.paired.cells)} common cells`)) : rateCell(row[side]);
  };
  const line = (row) => h("tr", {}, h("th", { scope: "row" }, row.opponent === null ? "All opponents" : spec(row.opponent), h("small", {}, row.opening ? "opening" : "replying")), seat(row, "first"), seat(row, "second"), difference(row));
  const head = () => h("thead", {}, h("tr", {}, column("Opponent"), column(duel.first.name, { class: "number" }), column(duel.second.name, { class: "number" }), ["Difference, points", "p, McNemar", "Games to tell apart"].map((text) => column(text, { class: "number" }))));
  const rows = (label, list) => scroll(label, h("table", { class: "standings" }, head(), h("tbody", {}, list.map(line))));
  const many = duel.rows.length / 2;
  return h(
    "section",
    {},
    rows("Two checkpoints, over all opponents", [duel.opening, duel.replying]),
    h("p", { class: "hint" }, "Rates are shares of games not lost; over all opponents, of the cells that both played, or else the mean of the rates against each. A difference is the first less the second. Where both played the same cells (opponent, seat, seed, rollout) the test is exact McNemar’s, over whole seeds where cells share one, and the interval is Newcombe’s for paired shares; elsewhere Newcombe’s for two samples. “Games to tell apart”: independent games of each that would show these two shares as different (5 %, power 0.8). Of many rows some p is small by chance alone: the test is the two rows over all opponents."),
    many > 0 && h("details", { class: "against", open: many <= FEW }, h("summary", {}, many === 1 ? "Against the one opponent that both met" : `Against each of ${many} opponents that both met`), rows("Two checkpoints, against each opponent", duel.rows)),
  );
}

/** The cells that one lost and the other did not, a page at a time. */
function cells(duel) {
  const { opponent, opening } = query();
  const list = h("ol", { class: "cells" });
  const more = h("button", { type: "button", hidden: true, onclick: () => fetchPage() }, "More");
  const told = h("p", { class: "hint", role: "status" });
  let offset = 0;
  const options = [...new Map(duel.rows.map((row) => [row.opponent, row.opponent])).keys()];
  const chosen = { opponent: opponent ?? "", opening: opening ?? "" };
  const choose = (name, label, values) =>
    field(
      label,
      h(
        "select",
        {
          name,
          onchange: (event) => {
            chosen[name] = event.target.value;
            history.replaceState(null, "", address("/compare", { ...query(), [name]: event.target.value || null }));
            restart();
          },
        },
        values.map(([value, text]) => h("option", { value, selected: value === chosen[name] }, text)),
      ),
    );

  let turn = 0;
  async function fetchPage() {
    const mine = turn;
    try {
      const page = await request(address("/comparison/cells", { first: duel.first.player.id, second: duel.second.player.id, ...chosen, limit: PAGE, offset }));
      if (mine !== turn) return;
      offset += page.cells.length;
      list.append(...page.cells.map((cell) => pair(duel, cell)));
      more.hidden = !page.more;
      say(told, offset === 0 ? "In no common cell did one lose and the other not." : "");
    } catch (error) {
      say(told, error.message);
    }
  }

  function restart() {
    turn++;
    offset = 0;
    list.replaceChildren();
    return fetchPage();
  }

  restart();
  return h(
    "section",
    {},
    h("h2", {}, duel.differing === 1 ? "One cell in which one of them lost alone" : `${count(duel.differing)} cells in which one of them lost alone`),
    h("div", { class: "filters" }, choose("opponent", "Opponent", [["", "Any"], ...options.map((name) => [name, name])]), choose("opening", "Seat", [["", "Either"], ["true", "Opening"], ["false", "Replying"]])),
    told,
    list,
    more,
  );
}

function pair(duel, cell) {
  return h(
    "li",
    { class: "card" },
    h("p", {}, spec(cell.opponent), h("small", {}, `${cell.opening ? "opening" : "replying"} as ${cell.mark}, seed ${cell.seed}${cell.rollout ? `, rollout ${cell.rollout}` : ""}`)),
    h(
      "div",
      { class: "both" },
      ["first", "second"].map((side) => {
        const game = cell[side];
        const forfeit = game.termination.startsWith("forfeit") ? ", forfeit" : "";
        return h("div", {}, link(game.url, smallBoard(boardOf(game.moves, cell.opener), `The end of the game of ${duel[side].name}`)), h("p", {}, duel[side].name, h("small", { class: game.result === "loss" ? "danger" : null }, `${RESULTS[game.result]}${forfeit}`), h("small", { class: "line-moves" }, [...game.moves].join(" "))));
      }),
    ),
    h("p", { class: "hint" }, fork(cell)),
  );
}

/** Where the two games part. */
function fork({ first, second }) {
  let at = 0;
  while (at < first.moves.length && at < second.moves.length && first.moves[at] === second.moves[at]) at++;
  if (at === first.moves.length && at === second.moves.length) return "The same moves.";
  return at === 0 ? "Different from the first move." : `The same ${at === 1 ? "first move" : `${at} moves`}, then different.`;
}

function boardOf(moves, opener) {
  const squares = Array(9).fill(null);
  [...moves].forEach((square, ply) => (squares[Number(square)] = (ply % 2 === 0) === (opener === "X") ? "X" : "O"));
  return squares;
}
