// A list of games: what an entry of the leaderboard opens.

import { persist, request } from "./api.js";
import { smallBoard } from "./board.js";
import { address, count, h, link, moment, query, say } from "./dom.js";
import { choice, filters, text } from "./filters.js";
import { footer } from "./frame.js";

const PAGE = 50;
const OUTCOMES = { x: "X won", o: "O won", draw: "Draw", void: "Void" };

const HIDDEN = ["player_id", "opponent_id", "rated"];
/** What the address may say besides the form: which of several players of a name, and which games. */
const pick = (values, keys) => Object.fromEntries(keys.filter((key) => key in values).map((key) => [key, values[key]]));

/** The route's parameters: a game in play has no outcome. */
const conditions = ({ outcome, ...rest }) => (outcome === "open" ? { ...rest, finished: false } : { ...rest, outcome });

/** Fill the page. */
export async function mount(root) {
  const title = h("h1", {}, "Games");
  const about = h("p", { class: "about" });
  const problem = h("p", { class: "problem", role: "alert" });
  const form = filters(
    () => go(null),
    text("player", "Player, exact name"),
    text("opponent", "Opponent, exact name"),
    choice("opening", "Player's seat", { "": "Either", true: "Opening", false: "Replying" }),
    choice("outcome", "Outcome", { "": "Any", ...OUTCOMES, open: "In play" }),
    choice("source", "Played", { "": "Anywhere", play: "In the browser", store: "By command", evaluation: "In an evaluation" }),
  );
  const rows = h("tbody");
  const table = h(
    "div",
    { class: "card scroll", tabindex: 0, role: "region", "aria-label": "Games" },
    h("table", {}, h("thead", {}, h("tr", {}, ["Board", "X", "O", "Result", "Opened by", "Begun"].map((text) => h("th", { scope: "col" }, text)))), rows),
  );
  const pages = h("p", { class: "pages" });
  root.append(h("div", { class: "head" }, title, about, form.element, problem), table, pages, footer());

  async function show() {
    const asked = query();
    form.set(asked);
    // Only what is known: an address may carry other people's parameters.
    const kept = { ...form.get(), ...pick(asked, HIDDEN) };
    const before = /^\d+$/.test(asked.before ?? "") ? asked.before : null;
    try {
      const { total, games, older } = await persist(
        () => request(address("/games", { ...conditions(kept), limit: PAGE, before })),
        () => say(problem, "The server does not answer. Trying again."),
      );
      say(problem, "");
      say(about, sentence(kept, total));
      table.hidden = games.length === 0;
      rows.replaceChildren(...games.map(row));
      const step = (label, at) => h("button", { type: "button", onclick: () => go(at) }, label);
      pages.replaceChildren(...[before && step("Newest", null), older && step("Older", older)].filter(Boolean));
    } catch (error) {
      say(problem, error.message);
    }
  }

  function go(before) {
    // A name that was typed is not the player that the address meant.
    const [was, now] = [query(), form.get()];
    const meant = HIDDEN.filter((key) => !key.endsWith("_id") || was[key.slice(0, -3)] === now[key.slice(0, -3)]);
    history.pushState(null, "", address("/games", { ...pick(was, meant), ...now, before }));
    return show();
  }

  window.addEventListener("popstate", show);
  await show();
  root.dataset.ready = "1";
}

function sentence({ player, opponent, opening }, total) {
  const who = player ? ` of ${player}${opponent ? ` against ${opponent}` : ""}` : opponent ? ` against ${opponent}` : "";
  const seat = opening === "true" ? ", opening" : opening === "false" ? ", replying" : "";
  if (total === 0) return `No games${who}${seat} yet.`;
  return `${total === 1 ? "One game" : `${count(total)} games`}${who}${seat}, newest first.`;
}

function row(game) {
  const squares = Array(9).fill(null);
  [...game.moves].forEach((square, ply) => (squares[Number(square)] = (ply % 2 === 0) === (game.opener === "X") ? "X" : "O"));
  const name = ({ kind, name: given }) => given || (kind === "human" ? "Person" : kind);
  const result = game.outcome ? OUTCOMES[game.outcome] : "In play";
  const how = ["forfeit_invalid", "forfeit_truncated"].includes(game.termination) ? ", forfeit" : game.termination === "resigned" ? ", resigned" : "";
  return h(
    "tr",
    {},
    h("td", {}, link(game.url, smallBoard(squares, `Game ${game.id}`))),
    h("td", { class: "who" }, name(game.x)),
    h("td", { class: "who" }, name(game.o)),
    h("td", {}, link(game.url, result + how), game.demonstration && h("small", {}, "demonstration")),
    h("td", {}, game.opener),
    h("td", { class: "when" }, moment(game.created_at)),
  );
}
