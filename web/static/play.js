// Play: choose two players, play on the board, follow a model that thinks.

import { API, ApiError, keepSeats, keepSetup, lastSetup, persist, request, seatsOf } from "./api.js";
import { createBoard } from "./board.js";
import { address, field, h, link, moment, query, say } from "./dom.js";
import { footer } from "./frame.js";
import { ending, moveRow } from "./replies.js";

const OTHER = "spec:";

/** Fill the page. */
export async function mount(root) {
  const page = new Play(root);
  await page.start();
  root.dataset.ready = "1";
}

class Play {
  constructor(root) {
    this.game = null;
    this.pending = null; // A square whose move is under way.
    this.source = null; // The stream that is followed.
    this.notice = "";
    this.board = createBoard((square) => this.move(square));
    this.title = h("h1", {}, "Play");
    this.about = h("p", { class: "about" });
    this.status = h("p", { class: "status", role: "status" });
    this.clock = h("span", { class: "clock", "aria-hidden": "true" });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.halting = h("button", { type: "button", hidden: true, onclick: () => this.halt(this.game.stopped ? "go-on" : "stop") }, "Stop");
    this.resign = h("button", { type: "button", onclick: () => this.giveUp() }, "Resign");
    this.rematch = h("button", { type: "button", title: "The same players with sides swapped", onclick: () => this.again() }, "Rematch");
    this.begin = h("button", { type: "submit", form: "setup", class: "primary" }, "New game");
    this.setup = new Setup(() => this.newGame());
    this.cards = h("div", { class: "cards" });
    this.setup.onchange = (models) => this.cards.replaceChildren(...models.map(cardOf));
    this.moves = h("ol", { class: "moves", "aria-label": "Moves" });
    this.thinking = h("div", { class: "thinking", hidden: true });
    this.address = h("p", { class: "hint" });
    root.append(
      h(
        "div",
        { class: "play" },
        h(
          "section",
          { class: "table", "aria-label": "Game" },
          this.board.element,
          h("div", { class: "line" }, h("div", { class: "state" }, this.status, this.clock), h("div", { class: "actions" }, this.resign, this.rematch, this.begin)),
          this.problem,
        ),
        h(
          "section",
          { class: "side" },
          this.title,
          this.about,
          this.setup.form,
          this.cards,
          h("div", { class: "card" }, h("h2", {}, "Moves"), this.moves, this.thinking),
          this.address,
        ),
      ),
      footer(),
    );
    window.addEventListener("popstate", () => this.open(query().game));
    // This person's other tabs: they make the same moves and learn of them at once.
    this.tabs = new BroadcastChannel("arena.games");
    this.tabs.onmessage = ({ data }) => {
      if (data.id === this.game?.id && data.turns > this.game.ply && this.pending === null) this.refresh();
    };
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.game && !this.game.outcome && this.pending === null) this.refresh();
    });
    setInterval(() => this.tick(), 100);
  }

  async start() {
    this.paint();
    const players = await persist(
      () => request("/players"),
      () => this.warn("The server does not answer. Trying again."),
    );
    this.warn("");
    this.setup.offer(players);
    await this.open(query().game);
  }

  // -- what a person does ----------------------------------------------------------------------

  async newGame(seats = this.setup.seats()) {
    if (this.busy) return;
    this.busy = true;
    try {
      const { game, tokens } = await request("/games", { body: seats });
      keepSeats(game.id, tokens);
      history.pushState(null, "", address("/", { game: game.id }));
      this.show(game);
      this.board.focus();
      this.warn("");
    } catch (error) {
      this.warn(error.message);
    } finally {
      this.busy = false;
    }
  }

  again() {
    const { x, o } = this.game;
    const seat = ({ kind, name }) => (kind === "engine" ? { kind, spec: name } : { kind, name });
    this.setup.choose({ x: seat(o), o: seat(x), opener: this.game.opener });
    return this.newGame();
  }

  async move(square) {
    const { id, ply, to_move: mark } = this.game;
    this.pending = square;
    this.warn("");
    this.paint();
    const body = { square, ply, token: seatsOf(id)[mark] };
    try {
      const game = await persist(
        () => request(`/games/${id}/moves`, { body }),
        () => this.warn("The connection is lost. Your move is kept and sent again."),
      );
      this.warn("");
      this.settle(id, game);
    } catch (error) {
      this.settle(id, null);
      this.warn(error.message);
      if (error instanceof ApiError && error.status === 409) this.refresh();
    }
  }

  async giveUp() {
    const { id, to_move: mark } = this.game;
    const seats = seatsOf(id);
    try {
      this.show(await request(`/games/${id}/resign`, { body: { token: seats[mark] ?? Object.values(seats)[0] } }));
    } catch (error) {
      this.warn(error.message);
      this.refresh();
    }
  }

  /** Break the model's reply off, or ask it again. */
  async halt(action) {
    const { id } = this.game;
    try {
      this.show(await request(`/games/${id}/${action}`, { body: { token: Object.values(seatsOf(id))[0] } }));
    } catch (error) {
      this.warn(error.message);
    }
  }

  // -- what the server says --------------------------------------------------------------------

  async open(id) {
    const turn = (this.opened = (this.opened ?? 0) + 1);
    this.unfollow();
    this.game = null;
    this.pending = null;
    this.warn("");
    if (id) {
      try {
        const game = await persist(
          () => request(`/games/${encodeURIComponent(id)}`),
          () => this.warn("The server does not answer. Trying again."),
        );
        // Whoever goes back twice in a hurry wants the second page.
        if (turn !== this.opened) return;
        this.show(game);
        this.warn("");
        this.setup.choose({ x: this.game.x, o: this.game.o, opener: this.game.opener });
      } catch (error) {
        if (turn !== this.opened) return;
        this.warn(error.status === 404 ? "There is no such game. Begin a new one." : error.message);
      }
    }
    this.paint();
  }

  async refresh() {
    const { id } = this.game;
    try {
      this.settle(id, await request(`/games/${id}`));
    } catch (error) {
      this.warn(error.message);
    }
  }

  /** The answer to a move; null where it was refused. */
  settle(id, game) {
    if (this.game?.id !== id) return;
    this.pending = null;
    if (game) this.show(game);
    else this.paint();
  }

  show(game) {
    const older = this.game?.id === game.id && game.ply < this.game.ply;
    if (!older) this.game = game;
    if (seatsOf(game.id).X || seatsOf(game.id).O) this.tabs.postMessage({ id: game.id, turns: game.ply });
    this.since = game.thinking ? performance.now() - 1000 * game.thinking.seconds : performance.now();
    this.said = game.thinking ? { ...game.thinking } : null;
    this.paint();
    this.follow();
  }

  /** Follow the game while somebody moves who is not at this browser. */
  follow() {
    const { id, outcome, to_move: mark } = this.game;
    const elsewhere = !outcome && !seatsOf(id)[mark];
    if (!elsewhere) return this.unfollow();
    if (this.source?.game === id) return;
    this.unfollow();
    const source = new EventSource(`${API}/games/${id}/events`);
    source.game = id;
    this.source = source;
    source.addEventListener("state", (event) => {
      this.warn("");
      this.show(JSON.parse(event.data));
    });
    source.addEventListener("said", (event) => {
      const { start, attempt, reasoning, text, trouble } = JSON.parse(event.data);
      if (start || !this.said) this.said = { attempt, reasoning: "", text: "", trouble: "" };
      this.said.reasoning += reasoning;
      this.said.text += text;
      this.said.trouble = trouble;
      this.paintThinking();
    });
    source.onerror = () => {
      if (this.source === source) this.warn("The connection is lost. Trying again.");
    };
  }

  unfollow() {
    this.source?.close();
    this.source = null;
  }

  // -- what is seen ----------------------------------------------------------------------------

  warn(text) {
    say(this.problem, text);
  }

  /** A player's name as the person at this browser sees it. */
  name(mark) {
    const player = this.game[mark.toLowerCase()];
    const seats = seatsOf(this.game.id);
    if (player.kind !== "human") return player.name;
    if (seats[mark] && Object.keys(seats).length === 1) return player.name || "You";
    return player.name || `Person ${mark}`;
  }

  paint() {
    const { game, pending } = this;
    this.resign.hidden = !game || Boolean(game.outcome) || !Object.keys(seatsOf(game.id)).length;
    this.rematch.hidden = !game?.outcome;
    if (!game) {
      this.board.paint({ squares: Array(9).fill(null), enabled: false });
      say(this.title, "Can you hold a draw?");
      say(this.about, "Choose who plays, then begin. Two people can share this board.");
      say(this.status, "No game yet.");
      this.moves.replaceChildren();
      this.moves.parentElement.hidden = true;
      this.thinking.hidden = true;
      this.address.replaceChildren("Keys 0 to 8, or arrows and Enter.");
      return;
    }
    const mine = Boolean(game.to_move && seatsOf(game.id)[game.to_move]);
    const squares = [...game.squares];
    if (pending !== null && squares[pending] === null) squares[pending] = game.to_move;
    const last = pending ?? game.turns.at(-1)?.square ?? null;
    this.board.paint({ squares, line: game.line, last, enabled: mine && pending === null });
    say(this.title, `${this.name("X")} against ${this.name("O")}`);
    say(this.about, this.openingSentence());
    say(this.status, this.statusSentence(mine));
    // With the sentence, not a tick later: a clock that goes moves the buttons away from a pointer.
    this.tick();
    this.status.dataset.mark = game.to_move ?? "";
    this.paintMoves();
    this.paintThinking();
    this.address.replaceChildren("Keys 0 to 8, or arrows and Enter. This game has an address: ", link(game.url, game.url));
  }

  openingSentence() {
    const { id, opener } = this.game;
    const seats = Object.keys(seatsOf(id));
    if (seats.length === 1) return `You are ${seats[0]}; ${seats[0] === opener ? "you open" : `${this.name(opener)} opens`}.`;
    return `${this.name("X")} is X, ${this.name("O")} is O; ${opener} opens.`;
  }

  statusSentence(mine) {
    const { game } = this;
    if (game.outcome) return ending(game, (mark) => this.name(mark)) + (game.fault ? ` ${game.fault}` : "");
    if (this.pending !== null && !mine) return "";
    if (mine) return Object.keys(seatsOf(game.id)).length === 2 ? `${this.name(game.to_move)} to move.` : "Your move.";
    if (game.waiting_for === "human") return `${this.name(game.to_move)} is to move.`;
    return game.stopped ? `${this.name(game.to_move)} was stopped.` : `${this.name(game.to_move)} is thinking`;
  }

  paintMoves() {
    const { game } = this;
    this.moves.parentElement.hidden = false;
    const open = [...this.moves.querySelectorAll("details.replies")].map((each) => each.open);
    const rows = game.turns.map((turn) => moveRow({ ...turn, who: this.name(turn.mark) === "You" ? "you" : this.name(turn.mark) }));
    if (game.unanswered.length)
      rows.push(moveRow({ ply: game.ply, mark: game.ply % 2 ? other(game.opener) : game.opener, square: null, attempts: game.unanswered, who: "" }));
    this.moves.replaceChildren(...rows);
    this.moves.querySelectorAll("details.replies").forEach((each, index) => (each.open = open[index] ?? false));
  }

  paintThinking() {
    const { game, said } = this;
    const thinks = Boolean(game && !game.outcome && game.waiting_for === "model" && this.pending === null);
    this.halting.hidden = !thinks || !Object.keys(seatsOf(game.id)).length;
    say(this.halting, game?.stopped ? "Ask again" : "Stop");
    this.thinking.hidden = !thinks;
    if (!thinks) return this.thinking.replaceChildren();
    if (!this.thinking.firstChild) {
      this.thinking.append(
        h("div", { class: "row" }, h("p", { class: "who" }), this.halting),
        h("p", { class: "problem" }),
        h("pre", { class: "stream reasoning", tabindex: 0 }),
        h("pre", { class: "stream text", tabindex: 0, "aria-live": "off" }),
      );
    }
    const [head, trouble, reasoning, text] = this.thinking.children;
    const who = head.firstChild;
    text.classList.toggle("still", game.stopped);
    const retry = said && said.attempt > 1 ? `, reply ${said.attempt}` : "";
    say(who, `${game.ply + 1} · ${game.to_move}${retry}`);
    say(trouble, said?.trouble ? `${said.trouble} Asking again.` : "");
    say(reasoning, said?.reasoning ?? "");
    reasoning.hidden = !said?.reasoning;
    say(text, said?.text ?? "");
    text.scrollTop = text.scrollHeight;
  }

  tick() {
    const { game } = this;
    const thinks = game && !game.outcome && game.waiting_for === "model" && this.pending === null && !game.stopped;
    say(this.clock, thinks ? `${((performance.now() - this.since) / 1000).toFixed(1)} s` : "");
  }
}

/** What is known of a model that is about to play; nothing where it was not examined. */
function cardOf({ name, card }) {
  if (!card) return "";
  return h(
    "details",
    { class: "model-card" },
    h("summary", {}, `${name}: ${card.summary} (examined ${moment(card.at)})`),
    h(
      "ul",
      {},
      card.adaptations.map((text) => h("li", {}, text)),
      card.probes.map(({ name: probe, outcome, seen, change }) =>
        h("li", { class: outcome }, h("b", {}, `${probe}, ${outcome}: `), seen, change && ` To change: ${change}`),
      ),
    ),
  );
}

const other = (mark) => (mark === "X" ? "O" : "X");

/** The choice of players: two selects, what they need beside, and who opens. */
class Setup {
  constructor(onBegin) {
    this.seat = { x: this.seatFields("x"), o: this.seatFields("o") };
    this.opener = h("select", { name: "opener" }, ["X", "O"].map((mark) => h("option", { value: mark }, mark)));
    this.form = h(
      "form",
      {
        id: "setup",
        class: "setup",
        onsubmit: (event) => {
          event.preventDefault();
          onBegin();
        },
      },
      ["x", "o"].map((side) => h("div", { class: "seat" }, field(side.toUpperCase(), this.seat[side].select), this.seat[side].extra)),
      field("Opens", this.opener),
    );
  }

  seatFields(side) {
    const select = h("select", { name: side, onchange: () => this.paint() });
    const name = h("input", { name: `${side}-name`, maxlength: 40, placeholder: "optional", autocomplete: "off" });
    const spec = h("input", { name: `${side}-spec`, maxlength: 120, placeholder: "minimax:tie=s3,epsilon=0.1", autocomplete: "off", spellcheck: "false" });
    const extra = h("div", { class: "extra" }, field("Name", name, { hidden: true }), field("Engine spec", spec, { hidden: true }));
    return { select, name, spec, extra };
  }

  /** Fill the selects with what may be played; the last choice is chosen again. */
  offer({ engines, models }) {
    this.models = models;
    for (const { select } of Object.values(this.seat)) {
      select.replaceChildren(
        h("option", { value: "human:" }, "Person"),
        ...[models].filter((list) => list.length).map(() =>
          h(
            "optgroup",
            { label: "Models" },
            models.map(({ name, playable }) =>
              h("option", { value: `model:${name}`, disabled: !playable }, playable ? name : `${name} (operator only)`),
            ),
          ),
        ),
        h(
          "optgroup",
          { label: "Engines" },
          engines.map(({ spec, label }) => h("option", { value: `engine:${spec}` }, label)),
          h("option", { value: OTHER }, "Another engine, by spec"),
        ),
      );
    }
    const wanted = query();
    const seat = (text) => {
      if (!text || text === "human") return { kind: "human", name: "" };
      if (models.some(({ name }) => name === text)) return { kind: "model", name: text };
      return { kind: "engine", spec: text };
    };
    const linked = wanted.x || wanted.o ? { x: seat(wanted.x), o: seat(wanted.o), opener: wanted.opener } : null;
    this.choose(linked ?? { x: { kind: "human" }, o: { kind: "engine", spec: "minimax" }, ...lastSetup() });
  }

  choose({ x, o, opener }) {
    for (const [side, chosen] of Object.entries({ x, o })) {
      const { select, name, spec } = this.seat[side];
      const engine = chosen.spec ?? chosen.name;
      const value = { human: "human:", model: `model:${chosen.name}`, engine: `engine:${engine}` }[chosen.kind];
      const known = [...select.options].some((option) => option.value === value && !option.disabled);
      select.value = known ? value : chosen.kind === "engine" ? OTHER : "human:";
      if (chosen.kind === "human") name.value = chosen.name ?? "";
      if (select.value === OTHER) spec.value = engine;
    }
    this.opener.value = opener === "O" ? "O" : "X";
    this.paint();
  }

  paint() {
    for (const { select, extra } of Object.values(this.seat)) {
      const [name, spec] = extra.children;
      name.hidden = select.value !== "human:";
      spec.hidden = select.value !== OTHER;
      spec.querySelector("input").required = !spec.hidden;
    }
    const chosen = new Set(Object.values(this.seat).map(({ select }) => select.value));
    this.onchange(this.models.filter(({ name }) => chosen.has(`model:${name}`)));
  }

  /** The body of a new game. */
  seats() {
    const chosen = ({ select, name, spec }) => {
      if (select.value === "human:") return { kind: "human", name: name.value };
      if (select.value === OTHER) return { kind: "engine", spec: spec.value };
      const [kind, ...rest] = select.value.split(":");
      return kind === "model" ? { kind, name: rest.join(":") } : { kind, spec: rest.join(":") };
    };
    const seats = { x: chosen(this.seat.x), o: chosen(this.seat.o), opener: this.opener.value };
    keepSetup(seats);
    return seats;
  }
}
