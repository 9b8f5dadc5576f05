// Checkpoints: what did training do? A family's numbers over the training step.

import { persist, request } from "./api.js";
import { chart, toldText } from "./charts.js";
import { address, count, field, h, link, query, say } from "./dom.js";
import { footer } from "./frame.js";
import { between, betweenPoints, column, counted, DASH, gapCell, lowestCell, number, percent, points, scroll } from "./numbers.js";
import { publishedTable } from "./published.js";

const SEATS = { replying: "Replying", opening: "Opening", mean: "Even mean of both" };

/** Fill the page. */
export async function mount(root) {
  const title = h("h1", {}, "Checkpoints");
  const about = h("p", { class: "about" });
  const problem = h("p", { class: "problem", role: "alert" });
  const filters = h("div");
  const body = h("div", { class: "tables" });
  root.append(h("div", { class: "head" }, title, about, problem, filters), body, footer());

  let turn = 0;
  async function show() {
    const mine = ++turn;
    try {
      const { families, members } = await persist(() => request("/families"), () => say(problem, "The server does not answer. Trying again."));
      if (mine !== turn) return;
      say(problem, "");
      const asked = query();
      const name = asked.family ?? families[0];
      if (name === undefined) {
        say(title, "No family of checkpoints yet");
        say(about, "Checkpoints of one training run share a family and have a step each: name both in models.toml, and evaluate them. Their numbers are then drawn over the step.");
        filters.replaceChildren();
        body.replaceChildren(...(members.length ? [everyone(members)] : []), publishedTable(null));
        return;
      }
      const data = await request(address("/family", { name, panel: asked.panel }));
      // Somebody may have chosen again meanwhile.
      if (mine !== turn) return;
      say(title, data.finding.title);
      say(about, data.finding.text);
      filters.replaceChildren(form(data, families, go));
      body.replaceChildren(...sections(data), compareForm(members, data), everyone(members), publishedTable(name));
      for (const each of body.querySelectorAll(".chart")) each.draw?.();
    } catch (error) {
      if (mine !== turn) return;
      say(title, "This family cannot be shown");
      say(about, "");
      say(problem, error.message);
      body.replaceChildren(h("p", {}, link("/checkpoints", "All checkpoints")));
    }
  }

  function go(changes) {
    history.pushState(null, "", address("/checkpoints", { ...query(), ...changes }));
    return show();
  }

  window.addEventListener("popstate", show);
  await show();
  root.dataset.ready = "1";
}

const variantOf = ({ checkpoint }) => checkpoint.player.detail;

function form(data, families, go) {
  const asked = query();
  const choose = (name, label, options, chosen) =>
    field(label, h("select", { name, onchange: (event) => go({ [name]: event.target.value }) }, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text))));
  const variants = variantsOf(data.steps);
  return h(
    "form",
    { class: "filters", onsubmit: (event) => event.preventDefault() },
    choose("family", "Family", families.map((name) => [name, name]), data.name),
    choose("panel", "Panel", data.panels.map((name) => [name, name]), data.panel),
    choose("seat", "Checkpoint is", Object.entries(SEATS), seatOf()),
    variants.length > 1 && choose("settings", "Asked with", variants.map((name) => [name, name]), chosenVariant(variants)),
  );
}

const seatOf = () => (query().seat in SEATS ? query().seat : "replying");

/** The ways in which a family was asked, the one of most checkpoints first. */
function variantsOf(steps) {
  const counts = new Map();
  for (const step of steps) counts.set(variantOf(step), (counts.get(variantOf(step)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

const chosenVariant = (variants) => (variants.includes(query().settings) ? query().settings : variants[0]);

const pageOf = ({ checkpoint }) => address("/checkpoint", { id: checkpoint.player.id });

function sections(data) {
  const steps = data.steps.filter((step) => variantOf(step) === chosenVariant(variantsOf(data.steps)));
  return [table(steps), charts(steps, seatOf())];
}

function table(steps) {
  return h(
    "section",
    {},
    scroll(
      "Checkpoints of the family",
      h(
        "table",
        { class: "standings" },
        h("thead", {}, h("tr", {}, column("Checkpoint"), ["Step", "Worst, replying", "Worst, opening", "Memorisation gap, points", "Invalid replies", "Format followed", "Fork traps passed", "Moves that lose value"].map((text) => column(text, { class: "number" })))),
        h(
          "tbody",
          {},
          steps.map((step) => {
            const { checkpoint, traps, moves } = step;
            return h(
              "tr",
              {},
              h("th", { scope: "row" }, link(pageOf(step), checkpoint.name), checkpoint.player.detail && h("small", {}, checkpoint.player.detail)),
              number(step.step === null ? null : String(step.step)),
              lowestCell(checkpoint.worst_replying),
              lowestCell(checkpoint.worst_opening),
              gapCell(checkpoint.gap),
              number(percent(checkpoint.invalid_share)),
              number(percent(checkpoint.format_followed)),
              h("td", { class: "number" }, percent(traps.pass_rate, traps.interval), traps.met > 0 && h("small", {}, `of ${count(traps.met)} met`)),
              h("td", { class: "number" }, percent(moves.moves ? moves.loses_value / moves.moves : null), moves.moves > 0 && h("small", {}, `of ${count(moves.moves)}`)),
            );
          }),
        ),
      ),
    ),
    h("p", { class: "hint" }, "Memorisation gap, fork traps and moves that lose value: over all rated games, whichever panel is shown. All else: against this panel."),
  );
}

/** Points of one figure over the steps; checkpoints without a step are in the tables alone. */
function pointsOf(steps, of, write) {
  return steps
    .filter(({ step }) => step !== null)
    .map((step) => {
      const found = of(step);
      const y = found?.y ?? null;
      const told = y === null ? "" : `${toldText(step.checkpoint.name)}, step ${step.step}<br>${toldText(write(found))}`;
      return { x: step.step, y, low: found?.low ?? null, high: found?.high ?? null, told, href: pageOf(step), who: step.checkpoint.name };
    });
}

const hundred = (value) => (value === null || value === undefined ? null : 100 * value);
const ofRate = (rate) => (rate ? { y: hundred(rate.share), low: hundred(rate.interval?.low), high: hundred(rate.interval?.high) } : null);
const inPercent = (y) => `${y.toFixed(1)} %`;
const AXIS = [-3, 103];

function charts(steps, seat) {
  const lines = steps[0].checkpoint.versus
    .filter(({ perfect }) => perfect)
    .map(({ opponent }) => {
      const of = ({ checkpoint }) => checkpoint.versus.find((each) => each.opponent === opponent);
      const rate = (step) => (seat === "mean" ? of(step).mean : of(step)[seat].rate);
      return { name: opponent, points: pointsOf(steps, (step) => ({ ...ofRate(rate(step)), seen: of(step) }), ({ y, seen }) => `${opponent}: ${seat === "mean" ? inPercent(y) : counted(seen[seat])}`) };
    });
  const single = (name, of, write) => [{ name, points: pointsOf(steps, of, write) }];
  const onopen = (href) => location.assign(href);
  const share = { format: inPercent, range: AXIS, axis: "per cent", onopen };
  const worst = (key, label) => ({ name: label, points: pointsOf(steps, ({ checkpoint }) => checkpoint[key] && { ...ofRate(checkpoint[key]), whom: checkpoint[key].opponents.join(", "), interval: checkpoint[key].interval }, ({ y, whom, interval }) => `${label}: ${inPercent(y)}${interval ? ` (${between(interval)})` : ""}, ${whom}`) });
  return h(
    "section",
    { class: "charts" },
    chart({ title: `Drawn against each perfect opponent, ${SEATS[seat].toLowerCase()}`, about: "Per cent of games not lost; bands are 95 % Wilson intervals. A point opens its checkpoint.", series: lines, ...share }),
    chart({ title: "Worst opponent", about: "The lowest rate of the perfect opponents, per cent; its band is at 1 − 0.05/k.", series: [worst("worst_replying", "replying"), worst("worst_opening", "opening")], ...share }),
    chart({
      title: "Memorisation gap",
      about: "Replying, in points: 0 for who plays the game, near 100 for who knows one opponent by heart.",
      series: single("gap", ({ checkpoint: { gap } }) => gap.gap !== null && { y: hundred(gap.gap), low: hundred(gap.interval?.low), high: hundred(gap.interval?.high), gap }, ({ gap }) => `${points(gap.gap)} points${gap.interval ? ` (${betweenPoints(gap.interval)})` : ""}, ${gap.opponent}`),
      format: (y) => points(y / 100),
      axis: "points",
      zero: true,
      onopen,
    }),
    chart({
      title: "Replies",
      about: "Per cent of all replies.",
      series: [
        ...single("invalid", ({ checkpoint }) => checkpoint.invalid_share !== null && { y: hundred(checkpoint.invalid_share) }, ({ y }) => `invalid: ${inPercent(y)} of replies`),
        ...single("format followed", ({ checkpoint }) => checkpoint.format_followed !== null && { y: hundred(checkpoint.format_followed) }, ({ y }) => `format followed: ${inPercent(y)} of replies`),
      ],
      ...share,
    }),
    chart({ title: "Fork traps passed", about: "Per cent of the moves made in a fork trap that did not fall into it.", series: single("passed", ({ traps }) => traps.met > 0 && { y: hundred(traps.pass_rate), low: hundred(traps.interval?.low), high: hundred(traps.interval?.high), traps }, ({ y, traps }) => `${inPercent(y)} of ${count(traps.met)} passed`), ...share }),
    chart({ title: "Tokens per move", series: single("tokens", ({ checkpoint }) => checkpoint.tokens_per_move !== null && { y: checkpoint.tokens_per_move }, ({ y }) => `${y.toFixed(1)} tokens a reply`), format: (y) => y.toFixed(1), axis: "tokens", onopen }),
  );
}

function compareForm(members, data) {
  const steps = data.steps.map(({ checkpoint }) => checkpoint.player.id);
  const options = (chosen) => members.map(({ player }) => h("option", { value: player.id, selected: player.id === chosen }, player.detail ? `${player.name} (${player.detail})` : player.name));
  const first = h("select", { name: "first" }, options(steps.at(-1)));
  const second = h("select", { name: "second" }, options(steps.at(-2) ?? steps[0]));
  const enter = (event) => {
    event.preventDefault();
    location.assign(address("/compare", { first: first.value, second: second.value }));
  };
  return h("section", {}, h("h2", {}, "Compare two"), h("form", { class: "row pair", onsubmit: enter }, field("First", first), field("Second", second), h("button", { class: "primary" }, "Compare")));
}

function everyone(members) {
  return h(
    "section",
    {},
    h("h2", {}, "All checkpoints"),
    scroll(
      "All checkpoints",
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, column("Checkpoint"), column("Family"), column("Step", { class: "number" }), column("Games against the standard panel", { class: "number" }))),
        h(
          "tbody",
          {},
          members.map(({ player, games }) =>
            h("tr", {}, h("th", { scope: "row" }, link(address("/checkpoint", { id: player.id }), player.name), player.detail && h("small", {}, player.detail)), h("td", {}, player.family ? link(address("/checkpoints", { family: player.family }), player.family) : DASH), number(player.step === null ? null : String(player.step)), number(games)),
          ),
        ),
      ),
    ),
  );
}
