// Leaderboard: who is strong, and against whom not.

import { persist, request } from "./api.js";
import { columnsOf, usualColumns } from "./columns.js";
import { address, count, field, h, link, query, say } from "./dom.js";
import { everybody } from "./everybody.js";
import { footer } from "./frame.js";
import { heatMap } from "./heatmap.js";
import { column, csv, download, scroll } from "./numbers.js";

const FILTERS = ["panel", "evaluation", "prompt", "temperature", "family", "least_games"];
const EVALUATIONS = 100;

/** Fill the page. */
export async function mount(root) {
  const title = h("h1", {}, "Leaderboard");
  const about = h("p", { class: "about" });
  const provisional = h("p", { class: "provisional", role: "status" });
  const problem = h("p", { class: "problem", role: "alert" });
  const filters = h("div");
  const body = h("div", { class: "tables" });
  root.append(h("div", { class: "head" }, title, about, provisional, problem, filters), body, everybody(), footer());

  let turn = 0;
  async function show() {
    const mine = ++turn;
    const asked = Object.fromEntries(FILTERS.filter((key) => key in query()).map((key) => [key, query()[key]]));
    try {
      const [data, evaluations] = await persist(
        () => Promise.all([request(address("/standings", asked)), request(`/evaluations?limit=${EVALUATIONS}`)]),
        () => say(problem, "The server does not answer. Trying again."),
      );
      // Somebody may have chosen again meanwhile.
      if (mine !== turn) return;
      say(problem, "");
      say(title, data.finding.title);
      say(about, data.finding.text);
      say(provisional, data.provisional ? `Provisional: ${count(data.provisional.played)} of ${count(data.provisional.planned)} games of ${data.evaluation} are played.` : "");
      filters.replaceChildren(form(data, evaluations.evaluations.map(({ name }) => name), asked, go));
      body.replaceChildren(...(data.checkpoints.length ? [] : [empty(asked)]), table(data), heatMap(data, (seat) => remember({ seat })));
    } catch (error) {
      if (mine !== turn) return;
      say(title, "The leaderboard cannot be shown");
      say(about, "");
      say(problem, error.message);
      body.replaceChildren(h("p", {}, link("/leaderboard", "The whole leaderboard")));
    }
  }

  function go(changes) {
    history.pushState(null, "", address("/leaderboard", { ...query(), ...changes }));
    return show();
  }

  window.addEventListener("popstate", show);
  await show();
  root.dataset.ready = "1";
}

const remember = (changes) => history.replaceState(null, "", address("/leaderboard", { ...query(), ...changes }));

function empty(asked) {
  const narrowed = Object.keys(asked).some((key) => key !== "panel");
  return h(
    "div",
    { class: "card empty" },
    h("p", {}, narrowed ? "No checkpoint fits these filters." : "No checkpoint has a rated game against this panel yet."),
    narrowed ? h("p", {}, link(address("/leaderboard", { panel: asked.panel }), "Without filters")) : [h("p", {}, "Start an evaluation under ", link("/evaluations", "Evaluations"), ", or from a terminal:"), h("pre", { tabindex: 0 }, "arena evaluate MODEL --panel standard")],
  );
}

function form(data, evaluations, asked, go) {
  const choose = (name, label, options, blank) =>
    field(
      label,
      h(
        "select",
        { name, onchange: (event) => go({ [name]: event.target.value || null }) },
        blank !== undefined && h("option", { value: "" }, blank),
        options.map((value) => h("option", { value, selected: String(value) === String(asked[name] ?? (name === "panel" ? data.panel : "")) }, String(value))),
      ),
    );
  const known = asked.evaluation && !evaluations.includes(asked.evaluation) ? [asked.evaluation, ...evaluations] : evaluations;
  const least = h("input", { name: "least_games", type: "number", min: 0, step: 1, inputmode: "numeric", value: asked.least_games ?? "", placeholder: "1", onchange: (event) => go({ least_games: event.target.validity.valid ? event.target.value : null }) });
  return h(
    "form",
    { class: "filters six", onsubmit: (event) => event.preventDefault() },
    choose("panel", "Panel", data.panels),
    choose("evaluation", "Evaluation", known, "All rated games"),
    choose("family", "Family", data.families, "Any"),
    choose("prompt", "Prompt format", data.prompts, "Any"),
    choose("temperature", "Temperature", data.temperatures, "Any"),
    field("Least games", least),
  );
}

/** The table, with a choice of columns, an order, and files of exactly what it shows. */
function table(data) {
  const columns = columnsOf(data);
  const asked = query();
  const named = asked.columns?.split(",").filter((key) => columns.some((each) => each.key === key));
  let shown = named?.length ? named : usualColumns(columns);
  const sorted = asked.sort?.replace(/^-/, "");
  let order = columns.some((each) => each.key === sorted) ? asked.sort : "-worst_replying";
  const head = h("tr");
  const rows = h("tbody");
  const live = () => columns.filter((each) => shown.includes(each.key));

  // Where the lowest rates are alike, all of them decide.
  const mean = (row) => row.versus.reduce((sum, { replying }) => sum + (replying.rate?.share ?? 0), 0);
  const tie = (one, other) => mean(other) - mean(one);

  function inOrder() {
    const by = columns.find((each) => each.key === order.replace(/^-/, ""));
    const sign = order.startsWith("-") ? -1 : 1;
    return [...data.checkpoints].sort((one, other) => {
      const [a, b] = [by.value(one), by.value(other)];
      // What was not measured is last, whichever way round.
      if (a === null || b === null) return (a === null) - (b === null) || tie(one, other);
      return sign * (a - b) || tie(one, other);
    });
  }

  function sort(key) {
    order = order === `-${key}` ? key : `-${key}`;
    remember({ sort: order });
    paint();
    head.querySelector(`[data-key="${CSS.escape(key)}"]`).focus();
  }

  function heading(each) {
    const sorted = order.replace(/^-/, "") === each.key ? (order.startsWith("-") ? "descending" : "ascending") : null;
    const arrow = sorted === "descending" ? " ↓" : sorted ? " ↑" : "";
    return column([h("button", { type: "button", class: "plain sort", "data-key": each.key, onclick: () => sort(each.key) }, each.label, h("span", { "aria-hidden": "true" }, arrow)), each.note && h("small", {}, each.note)], { class: "number", "aria-sort": sorted });
  }

  function paint() {
    head.replaceChildren(column("Checkpoint"), ...live().map(heading));
    rows.replaceChildren(
      ...inOrder().map((row) => h("tr", {}, who(row), live().map((each) => each.cell(row)))),
      ...data.references.map((row) => h("tr", { class: "reference" }, who(row), live().map((each) => each.cell(row)))),
    );
  }

  const flatRow = (row) => Object.assign({ checkpoint: row.name, settings: row.player?.detail ?? "", family: row.player?.family ?? null, step: row.player?.step ?? null, reference: row.reference }, ...live().map((each) => each.file(row)));
  const flatRows = () => [...inOrder(), ...data.references].map(flatRow);
  const file = `arena-${data.panel}`;
  paint();
  return h(
    "section",
    {},
    h(
      "div",
      { class: "row" },
      chooser(columns, () => shown, (keys) => {
        shown = keys;
        remember({ columns: keys.join(",") });
        paint();
      }),
      h("div", { class: "actions" }, download("CSV", `${file}.csv`, "text/csv", () => csv(flatRows())), download("JSON", `${file}.json`, "application/json", () => JSON.stringify(flatRows(), null, 2))),
    ),
    scroll("Checkpoints", h("table", { class: "standings" }, h("thead", {}, head), rows)),
    h("div", { class: "explained" }, explanation(data)),
  );
}

function who(row) {
  if (row.reference) return h("th", { scope: "row" }, row.name === "minimax" ? "Perfect player" : "Random player", h("small", {}, "reference, computed"));
  return h("th", { scope: "row" }, link(address("/checkpoint", { id: row.player.id }), row.name), row.player.detail && h("small", {}, row.player.detail));
}

function chooser(columns, shown, choose) {
  const groups = [...new Set(columns.map((each) => each.group))];
  const boxes = columns.map((each) => [each, h("input", { type: "checkbox", name: "column", value: each.key, checked: shown().includes(each.key), onchange: () => choose(boxes.filter(([, box]) => box.checked).map(([{ key }]) => key)) })]);
  return h(
    "details",
    { class: "chooser" },
    h("summary", {}, "Columns"),
    h(
      "div",
      { class: "card groups" },
      groups.map((group) =>
        h("fieldset", {}, h("legend", {}, group), boxes.filter(([each]) => each.group === group).map(([each, box]) => h("label", { class: "choice" }, box, each.short ?? each.label))),
      ),
    ),
  );
}

function explanation({ ceilings, opponents }) {
  const wins = (share) => `${(100 * share).toFixed(1)} %`;
  return [
    h("p", { class: "hint" }, "A rate is the share of games not lost; against a perfect opponent that is the share drawn. A bar is its 95 % Wilson interval, over seeds. “distinct” counts different games: few of many mean that little was tried. Void games are in no rate, forfeits are losses."),
    h("p", { class: "hint" }, "Worst opponent: the lowest rate against a perfect opponent, its interval at 1 − 0.05/k for k of them. Memorisation gap: replying, the rate against the one of 32 symmetric opponents that even seeds pick, less that against the seven which differ from it by a symmetry alone, on odd seeds."),
    opponents.includes("random") && h("p", { class: "hint" }, `Against random, the strategy “most wins” wins ${wins(ceilings.opening)} opening and ${wins(ceilings.replying)} replying, and no strategy more; one that never gives up value wins ${wins(ceilings.replying_keeping_value)} replying at most.`),
  ];
}
