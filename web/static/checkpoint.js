// One checkpoint: its rates, and where it goes wrong.

import { persist, request } from "./api.js";
import { atlas, hatched } from "./atlas.js";
import { smallBoard } from "./board.js";
import { stacked } from "./charts.js";
import { address, count, h, link, moment, query, say } from "./dom.js";
import { footer } from "./frame.js";
import { amount, column, DASH, gamesOf, gapCell, lowestCell, number, percent, rateCell, scroll, shareCell, sharesText, spec } from "./numbers.js";

const KINDS = [
  ["loses_value", "Loses value"],
  ["win_to_draw", "a win became a draw"],
  ["win_to_loss", "a win became a loss"],
  ["draw_to_loss", "a draw became a loss"],
  ["missed_wins", "Missed win"],
  ["missed_blocks", "Missed block"],
  ["fork_traps", "Fork trap entered"],
  ["let_offs", "Opponent's error let off"],
];
const PARTS = new Set(["win_to_draw", "win_to_loss", "draw_to_loss"]);

/** Fill the page. */
export async function mount(root) {
  const title = h("h1", {}, "Checkpoint");
  const about = h("p", { class: "about" });
  const problem = h("p", { class: "problem", role: "alert" });
  const links = h("p", { class: "hint" });
  const body = h("div", { class: "tables" });
  root.append(h("div", { class: "head" }, title, about, problem, links), body, footer());
  const { id } = query();
  try {
    const data = await persist(() => request(`/checkpoints/${encodeURIComponent(id ?? "-")}`), () => say(problem, "The server does not answer. Trying again."));
    say(problem, "");
    const { player, last_at: last } = data.checkpoint;
    say(title, data.finding.title);
    say(about, data.finding.text);
    links.replaceChildren(
      [player.detail, player.family && `family ${player.family}`, player.step !== null && `step ${player.step}`, last && `last game ${moment(last)}`].filter(Boolean).join(" · "),
      " · ",
      link(address("/games", { player: player.name, player_id: player.id }), "Its games"),
      ...(player.family ? [" · ", link(address("/checkpoints", { family: player.family }), "Its family")] : []),
    );
    body.replaceChildren(...sections(data));
  } catch (error) {
    const gone = error.status === 404 || error.status === 422;
    say(title, gone ? "There is no such checkpoint" : "This checkpoint cannot be shown");
    about.replaceChildren(gone ? "" : `${error.message} `, link("/checkpoints", "All checkpoints"));
  }
  root.dataset.ready = "1";
}

function sections(data) {
  return [h("div", { class: "halves" }, figures(data.checkpoint), errors(data)), rates(data.checkpoint), plies(data), lines(data), atlas(data)];
}

const FEW = 10;

function rates(row) {
  const record = (versus, seat) => number(sharesText(versus[seat].shares));
  const many = row.versus.length;
  return h(
    "details",
    { class: "against", open: many <= FEW },
    h("summary", {}, many === 1 ? "Against its one opponent" : `Against each of ${many} opponents`),
    row.versus.length === 0
      ? h("p", { class: "hint" }, "It has met no engine in a rated game.")
      : scroll(
          "Against each opponent",
          h(
            "table",
            { class: "standings" },
            h(
              "thead",
              {},
              h("tr", {}, column("Opponent", { rowspan: 2 }), h("th", { scope: "colgroup", colspan: 2, class: "group" }, "Opening"), h("th", { scope: "colgroup", colspan: 2, class: "group" }, "Replying"), column("Even mean", { class: "number", rowspan: 2 })),
              h("tr", {}, ["Not lost", "W · D · L %", "Not lost", "W · D · L %"].map((text) => column(text, { class: "number" }))),
            ),
            h(
              "tbody",
              {},
              row.versus.map((versus) =>
                h(
                  "tr",
                  {},
                  h("th", { scope: "row" }, spec(versus.opponent), h("small", {}, versus.perfect ? "perfect" : "errs")),
                  rateCell(versus.opening, gamesOf(row.player, versus, true)),
                  record(versus, "opening"),
                  rateCell(versus.replying, gamesOf(row.player, versus, false)),
                  record(versus, "replying"),
                  shareCell(versus.mean?.share ?? null, versus.mean?.interval ?? null),
                ),
              ),
            ),
          ),
        ),
  );
}

function figures(row) {
  const { total } = row;
  const facts = [
    ["Worst opponent, replying", lowestCell(row.worst_replying)],
    ["Worst opponent, opening", lowestCell(row.worst_opening)],
    ["Memorisation gap, points", gapCell(row.gap)],
    ["Forfeits", number(total.games ? `${count(total.forfeits)} of ${count(total.losses)} lost` : null)],
    ["Invalid replies", number(total.replies ? `${percent(row.invalid_share)} of ${count(total.replies)}` : null)],
    ["Format followed", number(percent(row.format_followed))],
    ["Distinct games", number(total.games ? `${count(total.distinct)} of ${count(total.games + total.repeats)}` : null)],
    ["Void games", number(total.games + total.void ? total.void : null)],
    ["Tokens per move", number(amount(row.tokens_per_move))],
    ["Seconds per move", number(row.seconds_per_move === null ? DASH : row.seconds_per_move.toFixed(2))],
  ];
  return h(
    "section",
    {},
    h("h2", {}, "In figures"),
    scroll("In figures", h("table", { class: "facts" }, h("tbody", {}, facts.map(([name, cell]) => h("tr", {}, h("th", { scope: "row" }, name), cell))))),
    row.gap.reason && h("p", { class: "hint" }, `No memorisation gap: ${row.gap.reason}.`),
    row.notes.map((note) => h("p", { class: "hint" }, note)),
  );
}

const share = (value, moves) => h("td", { class: "number" }, moves ? count(value) : DASH, moves > 0 && h("small", {}, percent(value / moves)));

function errors({ seats }) {
  const [opening, replying] = [true, false].map((side) => seats.find((seat) => seat.opening === side));
  const passed = ({ traps }) => h("td", { class: "number" }, percent(traps.pass_rate, traps.interval), traps.met > 0 && h("small", {}, `of ${count(traps.met)} met`));
  return h(
    "section",
    {},
    h("h2", {}, "Errors by kind"),
    scroll(
      "Errors by kind",
      h(
        "table",
        { class: "kinds" },
        h("thead", {}, h("tr", {}, column("Moves that…"), column("Opening", { class: "number" }), column("Replying", { class: "number" }))),
        h(
          "tbody",
          {},
          h("tr", {}, h("th", { scope: "row" }, "Moves"), [opening, replying].map(({ moves }) => number(moves.moves || null))),
          KINDS.map(([key, label]) => h("tr", { class: PARTS.has(key) ? "part" : null }, h("th", { scope: "row" }, label), share(opening.moves[key], opening.moves.moves), share(replying.moves[key], replying.moves.moves))),
          h("tr", {}, h("th", { scope: "row" }, "Fork traps passed"), passed(opening), passed(replying)),
        ),
      ),
      h("p", { class: "hint" }, "Every legal move of its rated games, against perfect play. A move may be of several kinds; a missed win or block may keep its value."),
    ),
  );
}

function plies({ plies: found }) {
  const seat = (opening) => {
    const rows = found.filter((each) => each.opening === opening);
    return h(
      "section",
      {},
      h("h3", {}, opening ? "Opening" : "Replying"),
      rows.length === 0
        ? h("p", { class: "hint" }, "No move yet.")
        : scroll(
            `Errors by move, ${opening ? "opening" : "replying"}`,
            h(
              "table",
              { class: "plies" },
              h("thead", {}, h("tr", {}, ["Move", "Made", "Lose value", "Missed win", "Missed block", "Into a trap"].map((text) => column(text, { class: "number" })))),
              h(
                "tbody",
                {},
                rows.map(({ ply, moves }) =>
                  h(
                    "tr",
                    {},
                    h("th", { scope: "row", class: "number" }, String(ply + 1)),
                    number(moves.moves),
                    h("td", { class: "number drawing" }, percent(moves.loses_value / moves.moves), stacked([{ value: moves.loses_value, kind: "loses" }, { value: moves.keeps_value, kind: "keeps" }], `${percent(moves.loses_value / moves.moves)} lose value`)),
                    number(moves.missed_wins),
                    number(moves.missed_blocks),
                    number(moves.fork_traps),
                  ),
                ),
              ),
            ),
          ),
    );
  };
  return h("section", {}, h("h2", {}, "Errors by move of the game"), h("div", { class: "halves" }, seat(true), seat(false)));
}

/** The board before the move that lost a line, with its square hatched; the opener is drawn as X. */
function lost({ moves, decisive }) {
  const upTo = decisive ?? moves.length;
  const squares = Array(9).fill(null);
  [...moves].slice(0, upTo).forEach((square, ply) => (squares[Number(square)] = ply % 2 ? "O" : "X"));
  const drawing = smallBoard(squares, `The line ${[...moves].join(", ")}${decisive === null ? "" : `; move ${decisive + 1}, on ${moves[decisive]}, lost it`}`);
  if (decisive !== null) drawing.append(hatched(Number(moves[decisive])));
  return drawing;
}

function lines({ lines: found }) {
  return h(
    "section",
    {},
    h("h2", {}, "The lines that it loses by"),
    found.length === 0
      ? h("p", { class: "hint" }, "It has lost no rated game on the board.")
      : [
          h(
            "ol",
            { class: "gallery" },
            found.map((line) =>
              h(
                "li",
                { class: "card" },
                link(line.url, lost(line)),
                h("p", {}, h("b", {}, line.count === 1 ? "once" : `${count(line.count)} times`), h("small", {}, `${percent(line.share)} of its losses ${line.opening ? "opening" : "replying"}`)),
                h("p", {}, h("small", { class: "line-moves" }, [...line.moves].map((square, ply) => (ply === line.decisive ? h("b", { class: "danger" }, square) : `${square}`)).flatMap((part) => [part, " "]))),
              ),
            ),
          ),
          h("p", { class: "hint" }, "Most frequent first, up to symmetry; who opened is drawn as X. The hatched square is the move by which a win or a draw became a loss for good. A board opens a game."),
        ],
  );
}
