// The atlas of the fork traps: every position, up to symmetry, in which a player can fall into a fork.

import { smallBoard } from "./board.js";
import { count, h, link, svg } from "./dom.js";

const STATUS = { failed: "failed", passed: "passed", never_met: "never met" };

/** The atlas of a checkpoint; status is said by word, colour and pattern. */
export function atlas({ traps }) {
  const many = (status, opening) => traps.filter((trap) => trap.status === status && trap.opening === opening).length;
  const seat = (opening) => {
    const own = traps.filter((trap) => trap.opening === opening).toSorted((a, b) => b.failed - a.failed || b.met - a.met);
    const sums = Object.entries(STATUS).map(([status, word]) => `${many(status, opening)} ${word}`);
    return h("section", {}, h("h3", {}, `${opening ? "Opening" : "Replying"}: ${sums.join(", ")}`), h("ul", { class: "gallery traps" }, own.map(card)));
  };
  return h(
    "section",
    { class: "atlas" },
    h("h2", {}, "Atlas of the fork traps"),
    h("p", { class: "hint" }, "A draw or a win is held, no loss threatens at once, and a move on a hatched square falls into a fork. The side to move is drawn as X; positions that a symmetry makes equal are one. A trap is failed that was failed once."),
    seat(true),
    seat(false),
  );
}

function card(trap) {
  const word = STATUS[trap.status];
  const told = trap.met ? `${count(trap.met - trap.failed)} of ${count(trap.met)} passed` : "";
  const rows = [0, 1, 2].map((row) => trap.squares.slice(3 * row, 3 * row + 3).map((mark) => mark ?? "free").join(", "));
  const drawing = smallBoard(trap.squares, `${rows.join("; ")}. Squares that lose: ${trap.losing.join(", ")}.`);
  for (const square of trap.losing) drawing.append(hatched(square));
  return h(
    "li",
    { class: `card trap ${trap.status}` },
    drawing,
    h("p", {}, h("b", { class: "status-word" }, word), told && h("small", {}, told)),
    (trap.example_failed || trap.example_passed) && h("p", { class: "examples" }, trap.example_failed && link(trap.example_failed, "a fall"), trap.example_failed && trap.example_passed && " · ", trap.example_passed && link(trap.example_passed, "a pass")),
  );
}

/** A square that loses, hatched by strokes of its own: no pattern needs an id. */
export function hatched(square) {
  const [x, y] = [100 * (square % 3), 100 * Math.floor(square / 3)];
  const strokes = [20, 50, 80, 110, 140, 170].map((at) => {
    const [from, to] = [Math.max(18, at - 82), Math.min(82, at - 18)];
    return `M${x + from} ${y + at - from}L${x + to} ${y + at - to}`;
  });
  return svg("path", { class: "losing", d: strokes.slice(1, -1).join("") });
}
