// Evaluations: the list, and for the operator a form that starts one.

import { request } from "./api.js";
import { address, count, field, h, link, moment, query, say } from "./dom.js";
import { follow } from "./follow.js";
import { footer } from "./frame.js";
import { percent, sentence } from "./measures.js";

const AGAIN_MS = 2000;
const LIVE = ["starting", "running", "paused"];
const OWN = "\n"; // No panel is called so.

/** Fill the page. */
export async function mount(root) {
  const title = h("h1", {}, "Evaluations");
  const about = h("p", { class: "about" }, "A checkpoint plays every opponent of a panel, opening and replying. Each can be followed here while it is played.");
  const problem = h("p", { class: "problem", role: "alert" });
  const begin = h("div", { class: "begin" });
  const rows = h("tbody");
  const table = h(
    "div",
    { class: "card scroll", tabindex: 0, role: "region", "aria-label": "Evaluations", hidden: true },
    h(
      "table",
      { class: "evaluations" },
      h("thead", {}, h("tr", {}, ["Evaluation", "Checkpoints", "Opponents", "State"].map((text) => h("th", { scope: "col" }, text)), ["Games", "Lowest rate, not lost"].map((text) => h("th", { scope: "col", class: "number" }, text)), h("th", { scope: "col" }, "Begun"))),
      rows,
    ),
  );
  const pages = h("p", { class: "pages" });
  root.append(h("div", { class: "head" }, title, about, problem), begin, table, pages, footer());

  const before = () => (/^\d+$/.test(query().before ?? "") ? query().before : null);
  function paint({ total, evaluations, older }) {
    say(title, heading(total, evaluations, before()));
    table.hidden = evaluations.length === 0;
    const shown = evaluations.map((each) => ({ each, key: JSON.stringify(each) }));
    // Only rows that changed, so that a link under the pointer or the focus stays.
    shown.forEach(({ each, key }, place) => {
      const old = rows.children[place];
      if (old?.dataset.key === key) return;
      const fresh = row(each);
      fresh.dataset.key = key;
      if (old) old.replaceWith(fresh);
      else rows.append(fresh);
    });
    while (rows.children.length > shown.length) rows.lastChild.remove();
    const turn = (label, at) => link(address("/evaluations", { before: at }), label);
    pages.replaceChildren(...[before() && turn("Newest", null), older && turn("Older", older)].filter(Boolean));
    if (total === 0 && !begin.hasChildNodes()) begin.append(empty());
    return evaluations.some(({ state }) => LIVE.includes(state)) ? AGAIN_MS : null;
  }

  const again = follow({
    load: () => request(address("/evaluations", { before: before() })),
    paint,
    lost: (isLost) => say(problem, isLost ? "The server does not answer. Trying again." : ""),
    failed: (error) => say(problem, error.message),
  });
  // Who may start one is asked beside the list; without an answer there is no form.
  const players = await request("/players").catch(() => null);
  if (players?.operator) await offer(begin, players);
  await again();
  root.dataset.ready = "1";
}

function heading(total, shown, before) {
  if (total === 0) return "No evaluation yet";
  const live = shown.filter(({ state }) => LIVE.includes(state)).length;
  if (live === 0 || before) return total === 1 ? "One evaluation" : `${count(total)} evaluations`;
  return live === 1 ? "One evaluation is under way" : `${live} evaluations are under way`;
}

function empty() {
  return h(
    "div",
    { class: "card empty" },
    h("p", {}, "The operator starts one here, or from a terminal:"),
    h("pre", { tabindex: 0 }, "arena evaluate my-checkpoint --panel standard --games 50"),
  );
}

function row(each) {
  const names = each.checkpoints;
  const who = names.length > 3 ? `${names[0]} … ${names.at(-1)} (${names.length})` : names.join(", ");
  const panel = each.panel && each.panel !== "opponents" ? each.panel : null;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, link(each.url, each.name)),
    h("td", { class: "who", title: names.join(", ") }, who),
    h("td", {}, panel ?? count(each.opponents), panel && h("small", {}, `${count(each.opponents)} opponents`)),
    h("td", { class: `standing ${each.state}` }, sentence(each.state_said)),
    h("td", { class: "number" }, count(each.played), h("small", {}, `of ${count(each.planned)}`)),
    worst(each),
    h("td", { class: "when" }, moment(each.created_at)),
  );
}

function worst({ worst: found, provisional, checkpoints }) {
  if (!found) return h("td", { class: "number" }, "–");
  const [first, ...others] = found.opponents;
  const whom = others.length ? `${first} and ${others.length} more` : first;
  const who = checkpoints.length > 1 ? `${found.checkpoint}, ` : "";
  const what = `${found.checkpoint} against ${found.opponents.join(", ")}; the lowest of ${found.of} rates in that seat`;
  return h(
    "td",
    { class: "number", title: what },
    percent(found.not_lost),
    h("small", {}, found.not_lost === 1 ? (provisional ? "provisional" : "") : `${who}${whom}, ${found.opening ? "opening" : "replying"}${provisional ? "; provisional" : ""}`),
  );
}

// -- the form ----------------------------------------------------------------------------------

async function offer(place, players) {
  let panels;
  try {
    ({ panels } = await request("/panels"));
  } catch (error) {
    place.append(h("p", { class: "problem", role: "alert" }, error.message));
    return;
  }
  const form = new Form(players.models, panels);
  place.append(h("details", { class: "card new" }, h("summary", {}, "New evaluation"), form.element));
}

class Form {
  constructor(models, panels) {
    this.models = models;
    this.panels = new Map(panels.map((panel) => [panel.name, panel]));
    this.boxes = new Map(models.map(({ name }) => [name, h("input", { type: "checkbox", value: name })]));
    this.engines = h("input", { name: "engines", autocomplete: "off", maxlength: 400, placeholder: "none" });
    this.panel = h("select", { name: "panel" }, panels.map(({ name }) => h("option", { value: name }, name)), h("option", { value: OWN }, "Opponents of my own"));
    this.listed = h("p", { class: "hint listed" });
    this.opponents = h("textarea", { name: "opponents", rows: 4, spellcheck: "false", placeholder: "random\nminimax:tie=first" });
    const whole = (name, value, most, least = 1) => h("input", { name, type: "number", value, min: least, max: most, step: 1, required: true });
    this.games = whole("games", 50, 1_000_000);
    this.seed = whole("seed", 0, Number.MAX_SAFE_INTEGER, 0);
    this.rollouts = whole("rollouts", 1, 1000);
    this.concurrency = whole("concurrency", 16, 4096);
    this.name = h("input", { name: "name", autocomplete: "off", maxlength: 200 });
    this.sum = h("p", { class: "hint sum", role: "status" });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.start = h("button", { type: "submit", class: "primary" }, "Start");
    this.own = field("Opponents, one a line", this.opponents, { class: "field wide" });
    this.element = h(
      "form",
      {
        class: "filters",
        oninput: () => this.paint(),
        onsubmit: (event) => {
          event.preventDefault();
          this.submit();
        },
      },
      h("fieldset", {}, h("legend", {}, "Checkpoints"), this.choices()),
      field("Panel", this.panel),
      field("Engines too, by commas", this.engines),
      this.listed,
      this.own,
      field("Seeds, two games each", this.games),
      field("First seed", this.seed),
      field("Rollouts of each game", this.rollouts),
      field("Games at once", this.concurrency),
      field("Name", this.name, { class: "field wide" }),
      h("div", { class: "send" }, this.start, this.sum, this.problem),
    );
    this.paint();
  }

  /** The models, those of a family together. */
  choices() {
    if (this.models.length === 0) return h("p", { class: "hint" }, "No model is registered. Describe one in models.toml, or compare engines.");
    const families = new Map();
    for (const model of this.models) families.set(model.family, [...(families.get(model.family) ?? []), model]);
    const choice = ({ name }) => h("label", { class: "choice" }, this.boxes.get(name), h("span", {}, name));
    const groups = [...families].sort(([one], [other]) => (one !== null) - (other !== null));
    return h(
      "div",
      { class: "choices" },
      groups.map(([family, members]) => {
        if (family === null || members.length === 1) return members.map(choice);
        const all = h("input", {
          type: "checkbox",
          // Before the form hears of it, which derives this box from the others.
          oninput: () => members.forEach(({ name }) => (this.boxes.get(name).checked = all.checked)),
        });
        all.dataset.family = family;
        return h("div", { class: "family" }, h("label", { class: "choice" }, all, h("span", {}, `${family}, all ${members.length}`)), h("div", {}, members.map(choice)));
      }),
    );
  }

  /** Who is chosen: a family as a whole by its name, as the command takes it. */
  checkpoints() {
    const chosen = this.models.filter(({ name }) => this.boxes.get(name).checked);
    const whole = new Set();
    for (const all of this.element.querySelectorAll("[data-family]")) {
      const members = this.models.filter(({ family }) => family === all.dataset.family);
      const picked = members.filter((model) => chosen.includes(model));
      all.checked = picked.length === members.length;
      all.indeterminate = picked.length > 0 && !all.checked;
      // A model of the family's name would be meant instead.
      if (all.checked && !this.boxes.has(all.dataset.family)) whole.add(all.dataset.family);
    }
    const names = chosen.map(({ name, family }) => (whole.has(family) ? family : name));
    // Within an engine's spec, keys are parted by commas too: a new one begins with a name.
    const engines = this.engines.value.split(/,(?=\s*(?:random|minimax)\b)/).map((spec) => spec.trim()).filter(Boolean);
    return { names: [...new Set(names), ...engines], number: chosen.length + engines.length };
  }

  typed() {
    return this.opponents.value.split("\n").map((line) => line.trim()).filter(Boolean);
  }

  paint() {
    const own = this.panel.value === OWN;
    const panel = this.panels.get(this.panel.value);
    this.own.hidden = !own;
    this.listed.hidden = own;
    const mark = panel?.mark ? ` The checkpoint always plays ${panel.mark}.` : "";
    say(this.listed, own ? "" : `${count(panel.opponents.length)} opponents: ${panel.opponents.join(" · ")}.${mark}`);
    const { names, number } = this.checkpoints();
    const label = own ? "opponents" : panel.name;
    this.title = names.length ? `${names.join("+")}-${label}-${this.seed.value || 0}` : "";
    this.name.placeholder = this.title;
    const opponents = own ? this.typed().length : panel.opponents.length;
    const games = number * opponents * 2 * Number(this.games.value) * Number(this.rollouts.value);
    const parts = [plural(number, "checkpoint"), plural(opponents, "opponent"), "2 seats", plural(Number(this.games.value), "seed"), plural(Number(this.rollouts.value), "rollout")];
    say(this.sum, number ? `${parts.join(" × ")} = ${count(games)} games` : "");
  }

  async submit() {
    const { names } = this.checkpoints();
    if (names.length === 0) return say(this.problem, "Choose at least one checkpoint.");
    const own = this.panel.value === OWN;
    if (own && this.typed().length === 0) return say(this.problem, "Name at least one opponent.");
    const body = {
      checkpoints: names,
      ...(own ? { opponents: this.typed() } : { panel: this.panel.value }),
      games: Number(this.games.value),
      seed: Number(this.seed.value),
      rollouts: Number(this.rollouts.value),
      concurrency: Number(this.concurrency.value),
      name: this.name.value.trim() || this.title,
    };
    say(this.problem, "");
    this.start.disabled = true;
    try {
      const { url } = await request("/evaluations", { body });
      location.href = url;
    } catch (error) {
      say(this.problem, error.message);
      this.start.disabled = false;
    }
  }
}

const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
