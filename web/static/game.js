// A game by its address: live or replayed, step by step, with every reply.

import { ApiError, API, persist, request, seatsOf } from "./api.js";
import { createBoard } from "./board.js";
import { address, h, link, moment, query, say } from "./dom.js";
import { footer } from "./frame.js";
import { Grades } from "./grades.js";
import { ending, moveRow, repliesOf } from "./replies.js";

/** Fill the page. */
export async function mount(root) {
  const { id, ply } = query();
  const title = h("h1", {}, "Game");
  const about = h("p", { class: "about" });
  const problem = h("p", { class: "problem", role: "alert" });
  const body = h("div", { class: "play", hidden: true });
  root.append(h("div", { class: "head" }, title, about, problem), body, footer());
  try {
    if (!id) throw new ApiError(404, "");
    const game = await persist(() => request(`/games/${encodeURIComponent(id)}`), () => say(problem, "The server does not answer. Trying again."));
    say(problem, "");
    new Replay({ title, about, problem, body }).show(game, ply === undefined ? null : Number(ply));
  } catch (error) {
    const gone = error instanceof ApiError && error.status === 404;
    say(title, gone ? "There is no such game" : "This game cannot be shown");
    about.replaceChildren(gone ? "Its address may be cut short. " : `${error.message} `, link("/games", "All games"));
  }
  root.dataset.ready = "1";
}

class Replay {
  constructor(parts) {
    Object.assign(this, parts);
    this.board = createBoard(() => {});
    this.grades = new Grades(this.board, () => this.go(this.ply, false));
    this.status = h("p", { class: "status", role: "status" });
    this.moves = h("ol", { class: "moves", "aria-label": "Moves" });
    this.rest = h("div", { class: "rest" });
    const step = (label, text, to) => h("button", { type: "button", "aria-label": label, onclick: () => this.go(to()) }, text);
    this.links = h("p", { class: "hint" });
    this.body.append(
      h(
        "section",
        { class: "table", "aria-label": "Board" },
        this.board.element,
        h(
          "div",
          { class: "line" },
          h("div", { class: "state" }, this.status),
          h(
            "div",
            { class: "actions" },
            step("First", "«", () => 0),
            step("Back", "‹", () => this.ply - 1),
            step("Forward", "›", () => this.ply + 1),
            step("Last", "»", () => this.game.ply),
            this.grades.toggle,
          ),
        ),
        this.grades.element,
      ),
      h("section", { class: "side" }, h("div", { class: "card" }, h("h2", {}, "Moves"), this.moves, this.rest), this.links),
    );
    document.addEventListener("keydown", (event) => {
      if (event.target.closest?.("input, select, textarea, .board")) return;
      if (event.key === "ArrowLeft") this.go(this.ply - 1);
      if (event.key === "ArrowRight") this.go(this.ply + 1);
    });
  }

  /** Show a game at a ply; null follows the last one. */
  show(game, ply = null) {
    this.game = game;
    this.body.hidden = false;
    say(this.title, `${this.name("X")} against ${this.name("O")}`);
    this.go(ply ?? game.ply, ply !== null);
    this.grades.load(game);
    if (!game.outcome && !this.source) this.follow();
  }

  follow() {
    this.source = new EventSource(`${API}/games/${this.game.id}/events`);
    this.source.addEventListener("state", (event) => {
      say(this.problem, "");
      const game = JSON.parse(event.data);
      const behind = this.ply < this.game.ply;
      this.show(game, behind ? this.ply : null);
      if (game.outcome) this.source.close();
    });
    this.source.onerror = () => say(this.problem, "The connection is lost. Trying again.");
  }

  name(mark) {
    const player = this.game[mark.toLowerCase()];
    return player.name || `Person ${mark}`;
  }

  go(ply, remember = true) {
    const { game } = this;
    this.ply = Math.max(0, Math.min(game.ply, Number.isInteger(ply) ? ply : game.ply));
    const atEnd = this.ply === game.ply;
    const squares = Array(9).fill(null);
    for (const turn of game.turns.slice(0, this.ply)) squares[turn.square] = turn.mark;
    this.board.paint({ squares, line: atEnd ? game.line : null, last: game.turns[this.ply - 1]?.square ?? null, enabled: false });
    this.grades.paint(game, this.ply);
    say(this.about, `${game.opener} opened. ${moment(game.created_at)}, seed ${game.seed}.${game.demonstration ? " A demonstration that came with the arena." : ""}`);
    const end = game.outcome ? ending(game, (mark) => this.name(mark)) : `In play: ${this.name(game.to_move)} is to move.`;
    say(this.status, atEnd ? `${end} ${game.fault ?? ""}` : `Move ${this.ply} of ${game.ply}`);
    const open = [...this.moves.querySelectorAll("details.replies")].map((each) => each.open);
    this.moves.replaceChildren(
      ...game.turns.map((turn) => moveRow({ ...turn, who: this.name(turn.mark), current: turn.ply === this.ply - 1, onselect: (at) => this.go(at + 1) })),
    );
    this.moves.querySelectorAll(".move .told").forEach((each, index) => each.append(...[this.grades.of(index)].filter(Boolean)));
    this.moves.querySelectorAll("details.replies").forEach((each, index) => (each.open = open[index] ?? false));
    this.rest.replaceChildren(
      ...(game.unanswered.length ? [h("p", { class: "told" }, "Replies that led to no move:"), repliesOf(game.unanswered, true)] : []),
    );
    const players = { player: game.x.name, opponent: game.o.name };
    this.links.replaceChildren(
      ...(!game.outcome && Object.keys(seatsOf(game.id)).length ? [link(address("/", { game: game.id }), "Play on"), " · "] : []),
      link(address("/games", players), "All games of these two"),
      " · ",
      h("a", { href: address(`${API}/export/games`, { id: game.id }), download: true }, "This game as JSON"),
    );
    if (remember) history.replaceState(null, "", address("/game", { id: game.id, ply: atEnd ? null : this.ply }));
  }
}
