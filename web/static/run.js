// One imported run: how its rollouts were rewarded, and what was said in them.

import { persist, request } from "./api.js";
import { count, h, link, query, say } from "./dom.js";
import { footer } from "./frame.js";
import { histogram } from "./histogram.js";
import { column, DASH, number, scroll } from "./numbers.js";
import { breakable, figure, meanCell, meanOf, size } from "./rewards.js";
import { Transcripts } from "./transcripts.js";

/** Fill the page. */
export async function mount(root) {
  const name = h("span", {});
  const title = h("h1", {}, "Run");
  const about = h("p", { class: "about" });
  const problem = h("p", { class: "problem", role: "alert" });
  const body = h("div", { class: "tables" });
  const removal = h("div", { class: "removal" });
  root.append(h("div", { class: "head" }, h("p", { class: "crumb" }, link("/datasets", "Datasets"), " / ", link("/runs", "Runs"), " / ", name), title, about, problem), body, removal, footer());
  const { id } = query();
  try {
    const run = await persist(() => request(`/runs/${encodeURIComponent(id ?? "-")}`), () => say(problem, "The server does not answer. Trying again."));
    say(problem, "");
    say(name, run.name);
    say(title, run.mean === null ? `${run.name}: no rollout counts` : `${run.name}: mean reward ${meanOf(run)}`);
    say(about, sentence(run));
    const rewards = histogram("Rewards", run.distribution);
    const transcripts = new Transcripts(run);
    body.replaceChildren(...[h("div", { class: "halves" }, rewards, h("div", { class: "tables" }, functions(run), voids(run))), games(run), transcripts.element].filter(Boolean));
    rewards.draw?.();
    offerRemoval(removal, run, problem);
    await transcripts.start();
  } catch (error) {
    const gone = error.status === 404 || error.status === 422;
    say(title, gone ? "There is no such run" : "This run cannot be shown");
    about.replaceChildren(gone ? "" : `${error.message} `, link("/runs", "All runs"));
  }
  root.dataset.ready = "1";
}

function sentence(run) {
  const who = run.models.length ? ` of ${run.models.join(", ")}` : "";
  const where = run.environment ? ` in ${run.environment}` : "";
  const several = run.standard_error === null ? "" : " The mean is that of the examples' means, ± its standard error over examples.";
  return `${size(run)}${who}${where}; ${run.void ? `${count(run.void)} void` : "none void"}.${several}`;
}

function functions({ functions: found }) {
  return h(
    "section",
    {},
    h("h2", {}, "Reward functions"),
    found.length === 0
      ? h("p", { class: "hint" }, "The file names none.")
      : scroll(
          "Reward functions",
          h(
            "table",
            { class: "functions" },
            h("thead", {}, h("tr", {}, column("Function"), ["Weight", "Mean", "Scored"].map((text) => column(text, { class: "number" })))),
            h("tbody", {}, found.map((each) => h("tr", {}, h("th", { scope: "row" }, breakable(each.name)), number(each.weight === null ? null : figure(each.weight)), meanCell(each), number(each.rollouts)))),
          ),
          h("p", { class: "hint" }, "Mean: of its scores, before the weight, ± its standard error over examples."),
          found.some(({ weight }) => weight === null) && h("p", { class: "hint" }, "A dash where the file says no weight: of such it does not tell whether it is a reward function or another number."),
        ),
  );
}

function voids({ reasons }) {
  if (reasons.length === 0) return null;
  return h(
    "section",
    {},
    h("h2", {}, "Void rollouts"),
    scroll("Void rollouts", h("table", { class: "facts" }, h("tbody", {}, reasons.map(({ why, rollouts }) => h("tr", {}, h("th", { scope: "row" }, why), number(rollouts)))))),
  );
}

/** Games of tic-tac-toe that can be followed in the chats. */
function games({ games: found }) {
  if (!found) return null;
  const seats = [["Opening", found.opening], ["Replying", found.replying]];
  const cells = (ends) => (ends.games === 0 ? Array(7).fill(null) : [ends.games, ends.distinct, ends.won, ends.drawn, ends.lost, ends.unseen, ends.open]);
  return h(
    "section",
    {},
    h("h2", {}, "Games of tic-tac-toe in these chats"),
    scroll(
      "Games in these chats",
      h(
        "table",
        { class: "shown-games" },
        h("thead", {}, h("tr", {}, column("Model"), ["Followed", "Distinct", "Won", "Drawn", "Lost", "Answer unseen", "Broken off"].map((text) => column(text, { class: "number" })))),
        h("tbody", {}, seats.map(([seat, ends]) => h("tr", {}, h("th", { scope: "row" }, seat), cells(ends).map((value) => number(value))))),
      ),
      h("p", { class: "hint" }, "As far as the chats show it, by the rules and not by the rewards. Unfinished: with the answer unseen the chat ends with the model's move, and the opponent may have won by the next; broken off, it ends where the model was to move. These are no games of the arena's and move no rate: the opponent is not known exactly."),
    ),
    found.unfollowed.map(({ why, rollouts }) => h("p", { class: "hint" }, `Not followed in ${rollouts === 1 ? "one chat" : `${count(rollouts)} chats`}: ${why}.`)),
  );
}

/** For the operator the way to be rid of the run. */
function offerRemoval(place, run, problem) {
  if (!run.removable) return;
  let sure = false;
  const remove = async () => {
    // A second press means it.
    if (!sure) {
      sure = true;
      say(button, "Remove the run with all its rollouts?");
      return;
    }
    button.disabled = true;
    say(button, "Removing …");
    try {
      await request(`/runs/${run.id}`, { method: "DELETE" });
      location.assign("/runs");
    } catch (error) {
      say(problem, error.message);
      button.disabled = sure = false;
      say(button, "Remove this run");
    }
  };
  const button = h("button", { type: "button", onclick: remove }, "Remove this run");
  place.replaceChildren(button, h("p", { class: "hint" }, "An import of its file brings it back."));
}
