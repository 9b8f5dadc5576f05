// Imported runs of other environments: a list of them.

import { persist, request } from "./api.js";
import { h, link, say } from "./dom.js";
import { footer } from "./frame.js";
import { column, DASH, number, scroll } from "./numbers.js";
import { breakable, meanCell } from "./rewards.js";

/** Fill the page. */
export async function mount(root) {
  const title = h("h1", {}, "Runs of other environments");
  const about = h("p", { class: "about" });
  const problem = h("p", { class: "problem", role: "alert" });
  const body = h("div", { class: "tables" });
  root.append(h("div", { class: "head" }, h("p", { class: "crumb" }, link("/datasets", "Datasets"), " / ", h("span", {}, "Runs")), title, about, problem), body, footer());
  try {
    const { runs } = await persist(() => request("/runs"), () => say(problem, "The server does not answer. Trying again."));
    say(problem, "");
    say(about, "Rollouts that were imported: of any environment of verifiers, and of older result rows. They are no games of the arena's and move no rate.");
    body.replaceChildren(runs.length === 0 ? none() : table(runs));
  } catch (error) {
    say(problem, error.message);
  }
  root.dataset.ready = "1";
}

function none() {
  return h(
    "div",
    { class: "card empty" },
    h("p", {}, "No run is imported yet."),
    h("p", { class: "hint" }, "A run comes in by a command, from the folder or file that vf-eval wrote:"),
    h("pre", {}, "arena import outputs"),
  );
}

function table(runs) {
  return scroll(
    "Runs",
    h(
      "table",
      { class: "runs" },
      h("thead", {}, h("tr", {}, column("Run"), column("Mean reward", { class: "number" }), column("Model"), ["Examples", "Rollouts", "Void"].map((text) => column(text, { class: "number" })))),
      h(
        "tbody",
        {},
        runs.map((run) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, link(run.url, breakable(run.name || `Run ${run.id}`)), h("small", {}, run.environment)),
            meanCell(run),
            h("td", { class: "who" }, run.models.join(", ") || DASH),
            number(run.examples),
            number(run.rollouts),
            number(run.void),
          ),
        ),
      ),
    ),
    h("p", { class: "hint" }, "Mean reward: the mean of the examples' means ± its standard error over examples. Void rollouts failed or ran out of time; they are in no other figure."),
  );
}
