// The list of moves, with every reply of a model folded beneath its move.

import { count, h, passage, seconds } from "./dom.js";

const VERDICTS = {
  ok: "legal move",
  occupied: "square is taken",
  out_of_range: "no such square",
  malformed: "answer is not a digit",
  no_move: "no answer found",
  truncated: "cut off before an answer",
  empty: "empty reply",
  refusal: "refused",
};
const EXCERPT = 90;

/** What a reply says, in short: its thinking if there is any. */
function excerpt(attempt) {
  const inText = /<think>([^]*?)<\/think>/.exec(attempt.reply)?.[1];
  const text = (attempt.reasoning ?? inText ?? attempt.reply).trim().replace(/\s+/g, " ");
  if (!text) return "no text";
  return `“${text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text}”`;
}

function figures(attempts) {
  const last = attempts.at(-1);
  const parts = [attempts.length === 1 ? "1 reply" : `${attempts.length} replies`];
  const tokens = attempts.reduce((sum, each) => sum + (each.completion_tokens ?? 0), 0);
  if (last.completion_tokens !== null) parts.push(`${count(tokens)} tokens`);
  parts.push(seconds(attempts.reduce((sum, each) => sum + each.seconds, 0)));
  const retries = attempts.reduce((sum, each) => sum + Math.max(0, each.requests - 1), 0);
  if (retries) parts.push(retries === 1 ? "1 request repeated" : `${retries} requests repeated`);
  return parts.join(" · ");
}

/** One reply as it was received. */
function replyOf(attempt) {
  const format = attempt.exact ? "format followed exactly" : attempt.contains ? "format followed" : "format not followed";
  const told = [VERDICTS[attempt.verdict] ?? attempt.verdict, format];
  if (attempt.finish_reason) told.push(`finish reason ${attempt.finish_reason}`);
  told.push(...attempt.adaptations);
  return h(
    "li",
    { class: `attempt ${attempt.verdict === "ok" ? "legal" : "invalid"}` },
    h("p", { class: "verdict" }, h("b", {}, `Reply ${attempt.number}: `), told.join(" · ")),
    attempt.reasoning && h("details", { class: "reasoning" }, h("summary", {}, "Reasoning"), passage(attempt.reasoning)),
    passage(attempt.reply || "(empty)", { class: "reply" }),
    attempt.prompt.length > 0 &&
      h(
        "details",
        { class: "prompt" },
        h("summary", {}, `Prompt, ${attempt.prompt.length} messages`),
        attempt.prompt.map((message) => h("div", {}, h("p", { class: "role" }, message.role), passage(message.content))),
      ),
  );
}

/** The replies to one board, folded; null where there are none. */
export function repliesOf(attempts, open = false) {
  if (attempts.length === 0) return null;
  return h("details", { class: "replies", open }, h("summary", {}, "Replies"), h("ol", {}, attempts.map(replyOf)));
}

/** A row of the list: number, mark and square, who or what was said. */
export function moveRow({ ply, mark, square, attempts, who, current = false, onselect }) {
  const said = attempts.length ? [h("span", { class: "said" }, excerpt(attempts.at(-1))), h("small", {}, figures(attempts))] : who;
  const label = square === null ? mark : `${mark} ${square}`;
  return h(
    "li",
    { class: current ? "move current" : "move", "aria-current": current ? "step" : null },
    h("span", { class: "ply" }, String(ply + 1)),
    onselect
      ? h("button", { type: "button", class: `play ${mark}`, onclick: () => onselect(ply) }, label)
      : h("span", { class: `play ${mark}` }, label),
    h("div", { class: "told" }, said),
    repliesOf(attempts),
  );
}

/** How a game ended, as a sentence. `name(mark)` names the player of a mark. */
export function ending(game, name) {
  const winner = game.outcome === "x" ? "X" : game.outcome === "o" ? "O" : null;
  const loser = winner === "X" ? "O" : "X";
  const verb = (mark, you, other) => (name(mark) === "You" ? you : other);
  switch (game.termination) {
    case "line":
      return `${name(winner)} won.`;
    case "full_board":
      return "A draw.";
    case "resigned":
      return `${name(loser)} resigned.`;
    case "forfeit_invalid":
      return `${name(loser)} ${verb(loser, "have", "has")} lost by invalid replies.`;
    case "forfeit_truncated":
      return `${name(loser)} ${verb(loser, "have", "has")} lost by replies that were cut off.`;
    case "abandoned":
      return "Abandoned: no move for 24 hours. The game counts for nobody.";
    case "context_exceeded":
      return "The chat no longer fits the model's context. The game counts for nobody.";
    case "provider_error":
      return "No reply came, through no fault of the model's. The game counts for nobody.";
    default:
      return "";
  }
}
