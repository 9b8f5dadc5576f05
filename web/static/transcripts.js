// The transcripts of a run: by example, filtered, paged, each with the game that can be followed in it.

import { persist, request } from "./api.js";
import { smallBoard } from "./board.js";
import { address, count, field, h, passage, query, say } from "./dom.js";
import { choice, filters } from "./filters.js";
import { DASH } from "./numbers.js";
import { figure } from "./rewards.js";

const PAGE = 10;
const SHORT = 16;
const LONGEST = 1000;
const ORDERS = { "": "In order", best: "Best first", worst: "Worst first" };
const VOID = { "": "All", false: "That count", true: "Void ones" };
const ENDINGS = {
  won: "won",
  drawn: "drawn",
  lost: "lost",
  unseen: "unfinished, the opponent's answer unseen",
  open: "unfinished, broken off",
};
const EMPTY = "(empty)";

/** Whether a text comes through an address and a form as it is. */
const travels = (text) => text !== "" && text.length <= LONGEST && text === text.trim() && !/[\p{Cc}\p{Cs}]/u.test(text);

export class Transcripts {
  constructor({ id, models }) {
    this.id = id;
    this.models = models;
    this.heading = h("h2", { tabindex: -1 }, "Transcripts");
    this.problem = h("p", { class: "problem", role: "alert" });
    this.told = h("p", { class: "status", role: "status" });
    this.form = filters(
      () => this.go(1),
      choice("order", "By reward", ORDERS),
      choice("void", "Rollouts", VOID),
      field("Example, exact", h("input", { name: "example", autocomplete: "off", maxlength: LONGEST })),
    );
    this.list = h("div", { class: "transcripts" });
    this.pages = h("p", { class: "pages" });
    this.asked = 0;
    this.element = h("section", {}, this.heading, this.form.element, this.problem, this.told, this.list, this.pages);
    window.addEventListener("popstate", () => this.show());
  }

  async start() {
    await this.show();
  }

  /** What is asked for: the form, or the example of a rollout where its name is none to type. */
  asks() {
    const { like } = query();
    const form = this.form.get();
    return form.example === "" && /^\d+$/.test(like ?? "") ? { ...form, like } : form;
  }

  /** Go to a page of it. */
  async go(page, turned = false) {
    history.pushState(null, "", this.address({ ...this.asks(), page: page > 1 ? page : null }));
    await this.show();
    // Whoever turned the page begins at its top.
    if (turned) this.heading.focus();
  }

  address(parameters) {
    return address("/run", { id: this.id, ...parameters });
  }

  async show() {
    const turn = ++this.asked;
    this.form.set(query());
    const asks = this.asks();
    const asked = Number(query().page);
    const page = Number.isInteger(asked) && asked > 0 ? asked : 1;
    const skip = (page - 1) * PAGE;
    try {
      const { total, rollouts } = await persist(
        () => request(address(`/runs/${this.id}/rollouts`, { ...asks, skip, limit: PAGE })),
        () => say(this.problem, "The server does not answer. Trying again."),
      );
      if (turn !== this.asked) return;
      say(this.problem, "");
      say(this.told, range(total, skip, rollouts.length));
      const alone = asks.example !== "" || "like" in asks;
      const told = { model: this.models.length > 1, seat: new Set(rollouts.map(({ seat }) => seat)).size > 1 };
      this.list.replaceChildren(...groups(rollouts).map((group) => this.example(group, alone, told)));
      this.list.querySelector("details")?.setAttribute("open", "");
      const step = (label, to) => h("button", { type: "button", onclick: () => this.go(to, true) }, label);
      this.pages.replaceChildren(...[page > 1 && step("Previous", page - 1), " ", skip + rollouts.length < total && step("Next", page + 1)].filter(Boolean));
    } catch (error) {
      if (turn !== this.asked) return;
      say(this.problem, error.message);
      this.list.replaceChildren();
    }
  }

  example(rollouts, alone, told) {
    const { id, example } = rollouts[0];
    const short = example.length > SHORT ? `${example.slice(0, SHORT)}…` : example || EMPTY;
    const [label, only] = alone ? ["all examples", { example: null }] : ["only this one", travels(example) ? { example } : { like: id }];
    const to = this.address({ ...this.form.get(), ...only });
    return h(
      "section",
      {},
      h("h3", { title: example }, "Example ", short, " ", h("a", { href: to, "aria-label": alone ? null : `Only example ${short}` }, label)),
      rollouts.map((each) => transcript(each, told)),
    );
  }
}

function range(total, skip, shown) {
  if (total === 0) return "No rollout fits.";
  if (shown === 0) return `There is no such page: ${total === 1 ? "one rollout fits" : `${count(total)} rollouts fit`}.`;
  return shown === total ? (total === 1 ? "One rollout" : `${count(total)} rollouts`) : `${count(skip + 1)} to ${count(skip + shown)} of ${count(total)} rollouts`;
}

/** Neighbours of one example together. */
function groups(rollouts) {
  const found = [];
  for (const each of rollouts) {
    if (found.at(-1)?.[0].example === each.example) found.at(-1).push(each);
    else found.push([each]);
  }
  return found;
}

/** `told` says whether its model and its seat tell it from others. */
function transcript(rollout, told) {
  const { reward, why_void: why, model, seat, game, unfollowed, messages } = rollout;
  const board = game ? `${ENDINGS[game.ending]}, ${seatOf(game)}` : unfollowed && "game not followed";
  const head = [reward === null ? `Void: ${why}` : `Reward ${figure(reward)}`, board, told.model && model, told.seat && seat];
  return h(
    "details",
    { class: "card record transcript" },
    h("summary", {}, head.filter(Boolean).join(" · ")),
    h(
      "div",
      { class: "inside" },
      parts(rollout.parts),
      unfollowed && h("p", { class: "hint" }, `The game in it is not followed: ${unfollowed}.`),
      h("div", { class: game ? "beside" : null }, h("ol", { class: "said" }, messages.map(message)), game && drawn(game)),
    ),
  );
}

const seatOf = ({ opener, mark }) => (opener === mark ? "opening" : "replying");

/** What each reward function gave. */
function parts(found) {
  if (found.length === 0) return null;
  return h("p", { class: "hint" }, found.map(({ name, score, weight }) => `${name} ${score === null ? DASH : figure(score)}${weight === null ? "" : ` × ${figure(weight)}`}`).join(" · "));
}

/** The last board that the chat shows, and the moves that led to it. */
function drawn({ opener, mark, moves, squares, ending }) {
  const mover = (ply) => ((ply % 2 === 0) === (opener === "X") ? "X" : "O");
  const told = [...moves].map((square, ply) => `${mover(ply)} ${square}`).join(", ");
  return h(
    "div",
    { class: "shown-game" },
    smallBoard(squares, `The last board, ${ENDINGS[ending]}; moves: ${told || "none"}`),
    h("p", {}, `The model is ${mark}, ${seatOf({ opener, mark })}: ${ENDINGS[ending]}.`),
    h("p", {}, h("small", {}, told || "No move is shown.")),
  );
}

function message({ role, text, reasoning, calls }, index) {
  return h(
    "li",
    { class: role === "assistant" ? "message assistant" : "message" },
    h("p", { class: "role" }, `${index + 1} · ${role}`),
    reasoning !== null && h("details", { class: "reasoning" }, h("summary", {}, "Reasoning"), passage(reasoning || EMPTY)),
    (text || calls.length === 0) && passage(text || EMPTY),
    calls.map((call) => h("div", {}, h("p", { class: "role" }, "calls a tool"), passage(call))),
  );
}
