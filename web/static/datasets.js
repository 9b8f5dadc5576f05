// Datasets: choose games, look at the first rows, download them.

import { API, persist, request } from "./api.js";
import { address, count, field, h, link, query, say } from "./dom.js";
import { choice, filters, text } from "./filters.js";
import { footer } from "./frame.js";

const FLAVOURS = {
  messages: "messages: one chat a game, from the model's seat, for supervised fine-tuning",
  turns: "turns: a prompt and the move that answers it, for supervised fine-tuning",
  preference: "preference: a reply that holds the game and one that gives it up, for DPO",
  kto: "kto: every reply with a label, wanted or not, for KTO",
  games: "games: the evaluation record, everything that is stored",
};
const OUTCOMES = { x: "X won", o: "O won", draw: "draw", void: "void" };
const FLAGS = {
  formatted: "Only games in which every reply followed the format",
  no_invalid: "Only games without an invalid reply",
  keeps_value: "Only games in which the player never gave up a win or a draw",
  distinct_only: "Each sequence of moves of two players once",
};

/** Fill the page. */
export async function mount(root) {
  const about = h("p", { class: "about" }, "Games leave the arena as training data. What you see is what you get: the same filters give the same rows.");
  const others = h("p", { class: "hint" }, "What was imported from other environments is apart: ", link("/runs", "runs of other environments"), ".");
  const problem = h("p", { class: "problem", role: "alert" });
  const found = h("p", { class: "status", role: "status" });
  const rows = h("div", { class: "rows" });
  const downloads = { jsonl: h("a", { class: "button primary", download: true }, "Download JSONL"), parquet: h("a", { class: "button", download: true }, "Parquet") };
  const demonstration = h("div", { class: "demonstration" });
  const form = filters(
    () => {
      history.replaceState(null, "", address("/datasets", form.get()));
      return show();
    },
    h(
      "fieldset",
      {},
      h("legend", {}, "Flavour"),
      Object.entries(FLAVOURS).map(([value, shown]) =>
        h("label", { class: "choice" }, h("input", { type: "radio", name: "flavour", value }), shown),
      ),
    ),
    text("player", "Player, exact name"),
    text("opponent", "Opponent, exact name"),
    choice("outcome", "Outcome", { "": "Any", ...OUTCOMES }),
    choice("result", "Player's result", { "": "Any", win: "Won", draw: "Drawn", loss: "Lost" }),
    choice("opening", "Player's seat", { "": "Either", true: "Opening", false: "Replying" }),
    choice("source", "Played", { "": "Anywhere", play: "In the browser", store: "By command", evaluation: "In an evaluation" }),
    text("evaluation", "Evaluation, exact name"),
    field("Begun on or after", h("input", { name: "since", type: "date" })),
    field("Begun before", h("input", { name: "until", type: "date" })),
    choice("demonstration", "Came with the arena", { "": "Either", true: "Yes", false: "No" }),
    h("fieldset", {}, h("legend", {}, "Keep"), Object.entries(FLAGS).map(([name, shown]) => h("label", { class: "choice" }, h("input", { type: "checkbox", name, value: "true" }), shown))),
  );
  root.append(
    h("div", { class: "head" }, h("h1", {}, "Take the games with you"), about, others, form.element),
    problem,
    h("div", { class: "row" }, found, h("div", { class: "actions" }, Object.values(downloads))),
    rows,
    demonstration,
    footer(),
  );

  let asked = 0;
  async function show() {
    const turn = ++asked;
    const { flavour, ...kept } = form.get();
    for (const [format, download] of Object.entries(downloads)) download.href = address(`${API}/export/${flavour}`, { ...kept, format });
    try {
      const preview = await persist(() => request(address(`/export/${flavour}/preview`, kept)), () => say(problem, "The server does not answer. Trying again."));
      if (turn !== asked) return;
      say(problem, "");
      say(found, sentence(preview, flavour));
      for (const download of Object.values(downloads)) download.hidden = preview.rows.length === 0;
      rows.replaceChildren(...preview.rows.map(rowOf));
    } catch (error) {
      say(problem, error.message);
      rows.replaceChildren();
      for (const download of Object.values(downloads)) download.hidden = true;
    }
  }

  const { flavour, ...kept } = query();
  form.set({ ...kept, flavour: Object.hasOwn(FLAVOURS, flavour ?? "") ? flavour : "messages" });
  await Promise.all([show(), offerRemoval(demonstration, problem, show)]);
  root.dataset.ready = "1";
}

/** The games that came with the arena: how many, and for the operator the way to be rid of them. */
async function offerRemoval(place, problem, onRemoved) {
  const { games, removable, evaluations } = await request("/demonstration").catch(() => ({ games: 0 }));
  if (games === 0) return place.replaceChildren();
  const made = Object.entries(evaluations).map(([name, number]) => `${name} (${count(number)})`);
  const told = h("p", {}, `${count(games)} games came with the arena, as a demonstration. They count like all others.${made.length ? ` Evaluations are made of them, and lose them: ${made.join(", ")}.` : ""}`);
  if (!removable) return place.replaceChildren(told);
  let sure = false;
  const remove = async () => {
    // A second press means it: what is removed does not come back by itself.
    if (!sure) {
      sure = true;
      return say(button, "Remove them for good?");
    }
    button.disabled = true;
    say(button, "Removing …");
    try {
      await request("/demonstration", { method: "DELETE" });
    } catch (error) {
      // Without an answer the server may be at it still: what it counts will tell.
      if (error.status !== 0) {
        say(problem, error.message);
        return offerRemoval(place, problem, onRemoved);
      }
      let left = games;
      for (let before = Infinity; left > 0 && left < before; ) {
        before = left;
        await new Promise((resolve) => setTimeout(resolve, 2000));
        left = (await persist(() => request("/demonstration"), () => {})).games;
      }
      if (left > 0) return offerRemoval(place, problem, onRemoved);
    }
    place.replaceChildren(h("p", { role: "status" }, `${count(games)} demonstration games are removed.`));
    await onRemoved();
  };
  const button = h("button", { type: "button", onclick: remove }, "Remove the demonstration");
  place.replaceChildren(told, button);
}

function sentence({ games, rows }, flavour) {
  if (games === 0 && flavour !== "games")
    return "No finished game with a model in it fits: only models have chats. The flavour games has every game.";
  if (games === 0) return "No finished game fits. Play one, or loosen the filters.";
  if (rows.length === 0) return `${games === 1 ? "One game fits" : `${count(games)} games fit`}, without a row of this flavour${flavour === "preference" ? ": no two replies to one question, of which one gives something up" : ""}.`;
  const many = games === 1 ? "One game fits" : `${count(games)} games fit`;
  return `${many}; the first ${rows.length === 1 ? "row" : `${rows.length} rows`}:`;
}

function rowOf(row, index) {
  return h("details", { class: "card record", open: index === 0 }, h("summary", {}, summary(row)), h("pre", { tabindex: 0 }, JSON.stringify(row, null, 2)));
}

function summary(row) {
  const name = (player) => (typeof player === "object" && player ? player.name : player) || "a person";
  const who = row.player !== undefined ? `${name(row.player)} against ${name(row.opponent)}` : `${name(row.x)} against ${name(row.o)}`;
  return `${who}: ${OUTCOMES[row.outcome]}`;
}
