// A replay's grades: what each move was worth, what each free square is worth, and why it was made.

import { request } from "./api.js";
import { h, say } from "./dom.js";

const WORTH = { 1: "win", 0: "draw", "-1": "loss" };

/** What a model gave as its reason: its reasoning, the thinking in its text, or the text itself. */
function reasonOf(turn) {
  const last = turn.attempts.at(-1);
  if (!last) return null;
  const thinking = /<think>([^]*?)<\/think>/.exec(last.reply)?.[1];
  return (last.reasoning ?? thinking ?? last.reply).trim() || null;
}

/** Grades of one game, beside its board and in its list of moves. */
export class Grades {
  constructor(board, repaint) {
    this.board = board;
    this.found = null;
    this.shown = false;
    this.toggle = h(
      "button",
      {
        type: "button",
        "aria-pressed": "false",
        hidden: true,
        onclick: () => {
          this.shown = !this.shown;
          this.toggle.setAttribute("aria-pressed", String(this.shown));
          repaint();
        },
      },
      "Values",
    );
    this.verdict = h("p", { class: "grade" });
    this.reason = h("blockquote", { class: "reason", tabindex: 0, "aria-label": "The reason that the model gave" });
    this.element = h("div", { class: "why" }, this.verdict, this.reason);
    this.repaint = repaint;
  }

  /** Fetch the grades of a game as it stands; what cannot be had is left out. */
  async load(game) {
    if (this.found?.moves.length === game.ply) return;
    try {
      this.found = await request(`/games/${encodeURIComponent(game.id)}/grades`);
    } catch {
      return;
    }
    this.toggle.hidden = false;
    this.repaint();
  }

  /** After the board was painted at a ply: the values on it, and the move that led to it. */
  paint(game, ply) {
    const values = this.shown ? this.found?.boards[ply]?.values : null;
    const mark = this.found?.boards[ply]?.to_move;
    this.board.element.classList.toggle("valued", Boolean(values));
    for (const square of this.board.element.querySelectorAll(".square")) {
      const number = square.querySelector(".number");
      const index = Number(square.dataset.square);
      const worth = values?.[index];
      const word = worth === null || worth === undefined ? null : WORTH[worth];
      if (number) number.textContent = word ?? String(index);
      square.dataset.worth = word ?? "";
      if (word) square.setAttribute("aria-label", `Square ${index}, free, a ${word} for ${mark}`);
    }
    const turn = game.turns[ply - 1];
    const grade = this.found?.moves[ply - 1];
    say(this.verdict, turn && grade ? `${turn.mark} on ${turn.square}: ${grade.words}.` : "");
    this.verdict.classList.toggle("danger", Boolean(grade?.loses_value));
    const reason = turn ? reasonOf(turn) : null;
    say(this.reason, reason ?? "");
    this.reason.hidden = reason === null;
  }

  /** The grade of a move, for its row; null where it is not known. */
  of(ply) {
    const grade = this.found?.moves[ply];
    return grade ? h("small", { class: grade.loses_value ? "grade danger" : "grade" }, grade.words) : null;
  }
}
