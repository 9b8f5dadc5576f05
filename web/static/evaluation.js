// One evaluation: what it has found, in words and figures, and what goes on.

import { request } from "./api.js";
import { smallBoard } from "./board.js";
import { address, count, h, link, moment, query, say } from "./dom.js";
import { follow } from "./follow.js";
import { footer } from "./frame.js";
import { duration, intervalBar, percent, perSecond, progressBar, sentence, spec, spot } from "./measures.js";

const AGAIN_MS = 1000;
const DEAD_MS = 10_000;
const MOST_TOLD = 4;
const LIVE = ["starting", "running", "paused"];
const ACTIONS = { pause: "Pause", resume: "Resume", stop: "Stop", "go-on": "Go on" };

/** Fill the page. */
export async function mount(root) {
  await new Evaluation(root, query().name ?? "").start();
  root.dataset.ready = "1";
}

class Evaluation {
  constructor(root, name) {
    this.name = name;
    this.title = h("h1", {}, "Evaluation");
    this.answers = spot(h("div", { class: "answers" }));
    this.problem = h("p", { class: "problem", role: "alert" });
    this.state = h("p", { class: "status", role: "status" });
    this.buttons = spot(h("div", { class: "actions" }));
    this.bar = progressBar("Games played");
    this.pace = h("p", { class: "hint" });
    this.why = h("p", { class: "problem", role: "alert" });
    this.setup = spot(h("p", { class: "hint" }));
    this.card = h("section", { class: "card watch", hidden: true, "aria-label": "Progress" }, h("div", { class: "row" }, this.state, this.buttons.element), this.bar.element, this.pace, this.why, this.setup.element);
    this.boards = new Boards();
    this.results = h("div", { class: "tables" });
    this.tables = [];
    this.costs = spot(h("div", {}));
    root.append(
      h("div", { class: "head" }, h("p", { class: "crumb" }, link("/evaluations", "Evaluations"), " / ", h("span", {}, name)), this.title, this.answers.element, this.problem),
      this.card,
      this.boards.element,
      this.results,
      this.costs.element,
      footer(),
    );
    this.again = follow({
      load: () => request(address("/evaluation", { name: this.name })),
      paint: (found) => this.paint(found),
      lost: (isLost) => say(this.problem, isLost ? "The connection is lost. What stands here is what was known last; trying again." : ""),
      failed: (error) => {
        say(this.title, "No evaluation to be seen");
        say(this.problem, error.message);
      },
    });
  }

  async start() {
    await this.again();
  }

  paint(found) {
    this.card.hidden = false;
    say(this.title, found.headline);
    this.answers.set(JSON.stringify(found.answers), () => found.answers.map((each) => answer(each, found.answers.length)));
    say(this.state, sentence(found.state_said) + ".");
    this.state.className = `status ${found.state}`;
    this.bar.paint(found.played, found.planned);
    say(this.pace, pace(found));
    say(this.why, [found.problem && `Its process ended: ${found.problem}`, ...Object.entries(found.live?.down ?? {}).filter(() => found.state === "running").map(([, why]) => why)].filter(Boolean).join(" "));
    this.setup.set(JSON.stringify([found.panel, found.opponents, found.games, found.rollouts, found.concurrency]), () => setupOf(found));
    this.buttons.set(found.may.join(), () => found.may.map((action) => this.button(action)));
    this.boards.paint(found.live);
    this.paintTables(found);
    this.costs.set(JSON.stringify([found.costs, found.seconds]), () => costs(found));
    if (LIVE.includes(found.state)) return AGAIN_MS;
    return found.state === "dead" ? DEAD_MS : null;
  }

  button(action) {
    const press = async (event) => {
      event.target.disabled = true;
      try {
        await request(`/evaluation/${action}`, { body: { name: this.name } });
        await this.again();
      } catch (error) {
        say(this.problem, error.message);
      }
      event.target.disabled = false;
    };
    return h("button", { type: "button", class: action === "go-on" && "primary", onclick: press }, ACTIONS[action]);
  }

  paintTables(found) {
    const { entries, answers, rollouts } = found;
    const each = entries.length / answers.length;
    if (this.tables.length !== answers.length) {
      this.tables = answers.map(({ player }) => new Results(player, rollouts > 1));
      this.results.replaceChildren(...this.tables.map(({ element }) => element));
    }
    this.tables.forEach((table, place) => table.paint(entries.slice(place * each, (place + 1) * each)));
  }
}

function answer({ sentences }, of) {
  const [first, ...others] = sentences;
  // Of one checkpoint the first sentence is the page's title; of many there is no room for more.
  return h("p", { class: "about" }, of > 1 && h("b", {}, `${first} `), of <= MOST_TOLD && others.join(" "));
}

function pace({ played, planned, provisional, live, seconds, state }) {
  const parts = [`${provisional ? "Provisional: " : ""}${count(played)} of ${count(planned)} games`];
  if (live && state === "running") {
    parts.push(`${perSecond(live.games_per_s)} games/s`, `${perSecond(live.requests_per_s)} requests/s`, `${perSecond(live.tokens_per_s)} tokens/s`);
    if (live.seconds_left !== null) parts.push(`${duration(live.seconds_left)} left`);
  } else if (seconds > 0) parts.push(`played for ${duration(seconds)}`);
  return parts.join(" · ");
}

function setupOf(found) {
  const { panel, opponents, games, seed, rollouts, concurrency, mark, created_at: at } = found;
  const named = panel && panel !== "opponents" ? `Panel ${panel}, ` : "";
  const parts = [
    `${named}${count(opponents.length)} ${opponents.length === 1 ? "opponent" : "opponents"}`,
    games === 1 ? `seed ${seed}` : `seeds ${seed} to ${seed + games - 1}`,
    rollouts > 1 && `${count(rollouts)} rollouts of each game`,
    mark && `the checkpoint always ${mark}`,
    concurrency === 1 ? "1 game at a time" : `${count(concurrency)} games at once`,
    `begun ${moment(at)}`,
  ];
  return h("span", {}, parts.filter(Boolean).join(" · "));
}

// -- games in play -----------------------------------------------------------------------------

class Boards {
  constructor() {
    this.said = h("small", {});
    this.list = h("div", { class: "boards", "aria-hidden": "true" });
    this.element = h("section", { class: "in-play", hidden: true }, h("h2", {}, "In play ", this.said), this.list);
  }

  paint(live) {
    this.element.hidden = !live || live.in_flight === 0;
    if (!live) return;
    const { boards, in_flight: flying } = live;
    say(this.said, `${count(flying)} ${flying === 1 ? "game" : "games"}${boards.length < flying ? `, the oldest ${boards.length} drawn` : ""}`);
    boards.forEach((board, place) => {
      const key = JSON.stringify(board);
      const old = this.list.children[place];
      if (old?.dataset.key === key) return;
      const fresh = this.draw(board);
      fresh.dataset.key = key;
      if (old) old.replaceWith(fresh);
      else this.list.append(fresh);
    });
    while (this.list.children.length > boards.length) this.list.lastChild.remove();
  }

  draw({ squares, player, opponent, mark, seed }) {
    const what = `${player} as ${mark} against ${opponent}, seed ${seed}`;
    return h("span", { class: "in-play-board", title: what }, smallBoard(squares, what));
  }
}

// -- results -----------------------------------------------------------------------------------

const head = (text, attributes = {}) => h("th", { scope: "col", ...attributes }, text);
const scroll = (label, ...children) => h("div", { class: "card scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);

class Results {
  constructor(player, spreads) {
    this.spreads = spreads;
    this.rows = [];
    this.body = h("tbody");
    const numbers = ["Not lost", "W · D · L", "Forfeits", "Void", "Distinct", "Reward", spreads && "Spread"].filter(Boolean);
    this.element = h(
      "section",
      {},
      h("h2", {}, player.name, " ", h("small", {}, player.detail)),
      scroll(
        `Results of ${player.name}`,
        h("table", { class: "entries" }, h("thead", {}, h("tr", {}, head("Opponent"), head("Seat"), numbers.map((text) => head(text, { class: "number" })))), this.body),
        h("p", { class: "hint" }, legend(spreads)),
      ),
    );
  }

  paint(entries) {
    if (this.rows.length !== entries.length) {
      this.rows = entries.map((entry, place) => new Row(entry, entries[place - 1], entries[place + 1], this.spreads));
      this.body.replaceChildren(...this.rows.map(({ element }) => element));
    }
    this.rows.forEach((row, place) => row.paint(entries[place]));
  }
}

const legend = (spreads) =>
  `Not lost: the share of wins and draws, with its 95 % interval over seeds. W · D · L: won, drawn, lost. Forfeits: losses by invalid replies, counted among the lost. Void games are in no rate. Distinct: different games of those that count. Reward: mean ± standard deviation, and below it outcome + format − invalid replies.${spreads ? " Spread: the standard deviation of the share not lost, within a seed and between seeds." : ""}`;

class Row {
  constructor(entry, before, after, spreads) {
    const { opponent, opening } = entry;
    const games = address("/games", { player: entry.checkpoint, player_id: entry.player_id, opponent, opponent_id: entry.opponent_id, opening, rated: true });
    const cell = () => spot(h("td", { class: "number" }));
    // The link stays, so that it keeps the focus while its text changes.
    this.share = h("a", { href: games });
    this.rate = spot(h("td", { class: "number rate" }));
    this.done = h("small", {});
    [this.record, this.forfeits, this.void, this.distinct, this.reward] = Array.from({ length: 5 }, cell);
    this.spread = spreads ? cell() : null;
    const first = before?.opponent !== opponent;
    const span = after?.opponent === opponent ? 2 : 1;
    const cells = [this.rate, this.record, this.forfeits, this.void, this.distinct, this.reward, this.spread];
    this.element = h(
      "tr",
      { class: !first && "second" },
      first && h("th", { scope: span > 1 ? "rowgroup" : "row", rowspan: span }, spec(opponent)),
      h("td", { class: "seat" }, opening ? "Opening" : "Replying", this.done),
      cells.filter(Boolean).map(({ element }) => element),
    );
  }

  paint(entry) {
    const { games, wins, draws, losses } = entry;
    const some = games > 0;
    say(this.done, `${count(entry.played)} of ${count(entry.planned)}`);
    this.rate.set(JSON.stringify([entry.not_lost, entry.interval, entry.bounds, entry.exact, games]), () => this.shown(entry));
    this.record.set(some ? [wins, draws, losses].map(count).join(" · ") : "–");
    this.forfeits.set(some ? count(entry.forfeits) : "–");
    const grown = entry.context_exceeded;
    this.void.set(JSON.stringify([entry.void, grown]), () => [count(entry.void + grown), grown > 0 && h("small", {}, `${count(grown)} over the context`)]);
    this.distinct.set(some ? `${count(entry.distinct)}/${count(games + entry.repeats)}` : "–");
    this.reward.set(JSON.stringify([entry.reward, entry.reward_deviation, entry.reward_parts]), () => reward(entry));
    this.spread?.set(JSON.stringify([entry.spread_within_seeds, entry.spread_between_seeds]), () => spread(entry));
  }

  shown(entry) {
    const { not_lost: share, interval, bounds, exact, games, played, planned } = entry;
    if (share === null) return h("span", {}, "–");
    const range = interval ? `${percent(interval.low)} to ${percent(interval.high)}` : "exact";
    const what = bounds
      ? `of ${count(games)} games that ended, ${percent(share)} not lost; ${count(entry.context_exceeded)} more outgrew the context: were all lost or all drawn, ${percent(bounds.low)} to ${percent(bounds.high)}; 95 % interval around both ${range}`
      : exact
        ? "both sides always answer a board alike: this is all that can happen"
        : `${percent(share)} of ${count(games)} games not lost, 95 % interval ${range}`;
    this.rate.element.title = played < planned ? `${what}; provisional` : what;
    say(this.share, bounds ? `${percent(bounds.low)} to ${percent(bounds.high)}` : percent(share));
    return [this.share, intervalBar(bounds ? bounds.low : share, interval ?? bounds), h("small", {}, range)];
  }
}

const decimals = (value) => value.toFixed(2).replace("-", "−");

function reward({ reward: mean, reward_deviation: deviation, reward_parts: parts }) {
  if (mean === null) return h("span", {}, "–");
  const { outcome, format, invalid } = parts;
  return [
    h("span", {}, decimals(mean), deviation === null ? "" : ` ± ${decimals(deviation)}`),
    h("small", {}, `${decimals(outcome)} + ${decimals(format)} − ${decimals(Math.abs(invalid))}`),
  ];
}

function spread({ spread_within_seeds: within, spread_between_seeds: between }) {
  if (within === null) return h("span", {}, "–");
  return [h("span", {}, `${decimals(within)} within`), h("small", {}, between === null ? "– between" : `${decimals(between)} between`)];
}

// -- costs -------------------------------------------------------------------------------------

function costs({ costs: rows, seconds }) {
  const spent = rows.filter(({ requests }) => requests > 0);
  if (spent.length === 0) return null;
  const money = spent.some((row) => row.money !== null);
  const each = (total, games, digits, least) => (total === null ? "–" : [`${least ? "≥ " : ""}${count(total)}`, h("small", {}, `${(total / games).toFixed(digits)} a game`)]);
  const number = (...children) => h("td", { class: "number" }, ...children);
  const line = (row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, row.checkpoint),
      number(count(row.games)),
      number(each(row.requests, row.games, 1, false)),
      number(each(row.prompt_tokens, row.games, 0, row.at_least)),
      number(each(row.completion_tokens, row.games, 0, row.at_least)),
      number(duration(row.seconds), h("small", {}, `${(row.seconds / row.games).toFixed(1)} s a game`)),
      money && number(row.money === null ? "–" : [`${row.at_least ? "≥ " : ""}${row.money.toFixed(2)} ${row.currency}`, h("small", {}, `${(row.money / row.games).toFixed(5)} a game`)]),
    );
  const columns = ["Games", "Requests", "Tokens in", "Tokens out", "Waiting for replies", money && "Price"].filter(Boolean);
  return h(
    "section",
    { class: "costs" },
    h("h2", {}, "Costs"),
    scroll(
      "Costs",
      h("table", {}, h("thead", {}, h("tr", {}, head("Checkpoint"), columns.map((text) => head(text, { class: "number" })))), h("tbody", {}, spent.map(line))),
      h("p", { class: "hint" }, `Of all games that were stored, void ones too. Waiting adds up over games that were under way at once; by the clock it was played for ${duration(seconds)}.${money ? " Prices as they stand in models.toml now." : ""}${spent.some((row) => row.at_least) ? " ≥: the server did not count the tokens of every reply." : ""}`),
    ),
  );
}
