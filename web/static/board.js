// The board: nine buttons, strokes as marks.

import { h, svg } from "./dom.js";

const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** The strokes of a mark, on a square of 100. */
function strokes(mark) {
  if (mark === "O") return [svg("circle", { cx: 50, cy: 50, r: 24 })];
  return [svg("path", { d: "M28 28 72 72" }), svg("path", { d: "M72 28 28 72" })];
}

function drawing(mark) {
  return svg("svg", { viewBox: "0 0 100 100", class: `mark ${mark}`, "aria-hidden": "true" }, strokes(mark));
}

function centre(square) {
  return [50 + 100 * (square % 3), 50 + 100 * Math.floor(square / 3)];
}

/**
 * A board that can be played on. `onMove(square)` is called for a click, Enter, or a digit on a
 * free square while the board is enabled.
 */
export function createBoard(onMove) {
  const squares = [...Array(9).keys()].map((square) =>
    h("button", { type: "button", class: "square", "data-square": square }),
  );
  const grid = svg(
    "svg",
    { viewBox: "0 0 300 300", class: "grid", "aria-hidden": "true" },
    ["M100 4V296", "M200 4V296", "M4 100H296", "M4 200H296"].map((d) => svg("path", { d })),
  );
  const winning = svg("path", { class: "winning" });
  const over = svg("svg", { viewBox: "0 0 300 300", class: "over", "aria-hidden": "true" }, winning);
  const element = h("div", { class: "board", role: "group", "aria-label": "Board" }, grid, squares, over);
  let view = { squares: Array(9).fill(null), enabled: false };

  function play(square) {
    if (view.enabled && view.squares[square] === null) onMove(square);
  }

  element.addEventListener("click", (event) => {
    const button = event.target.closest(".square");
    if (button) play(Number(button.dataset.square));
  });
  element.addEventListener("keydown", (event) => {
    const step = KEYS[event.key];
    const at = squares.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    const row = (Math.floor(at / 3) + step[0] + 3) % 3;
    const column = ((at % 3) + step[1] + 3) % 3;
    squares[3 * row + column].focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^[0-8]$/.test(event.key)) return;
    if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
    play(Number(event.key));
  });

  /** Draw {squares, line, last, enabled}. Only what changed is touched. */
  function paint(next) {
    view = next;
    squares.forEach((button, square) => {
      const mark = next.squares[square];
      if (button.dataset.mark !== (mark ?? "")) {
        button.dataset.mark = mark ?? "";
        button.replaceChildren(mark ? drawing(mark) : h("span", { class: "number" }, String(square)));
      }
      const playable = next.enabled && mark === null;
      button.setAttribute("aria-disabled", String(!playable));
      button.setAttribute("aria-label", `Square ${square}, ${mark ?? "free"}`);
      button.classList.toggle("last", square === next.last);
    });
    element.classList.toggle("enabled", next.enabled);
    if (next.line) {
      const [[x1, y1], [x2, y2]] = [centre(next.line[0]), centre(next.line[2])];
      const reach = 0.16;
      const [dx, dy] = [(x2 - x1) * reach, (y2 - y1) * reach];
      winning.setAttribute("d", `M${x1 - dx} ${y1 - dy}L${x2 + dx} ${y2 + dy}`);
    } else winning.removeAttribute("d");
    over.classList.toggle("shown", Boolean(next.line));
  }

  /** Move the focus to the board, on a square that can be played. */
  function focus() {
    const free = squares.filter((button) => button.getAttribute("aria-disabled") === "false");
    (free.includes(squares[4]) ? squares[4] : free[0])?.focus({ preventScroll: true });
  }

  paint(view);
  return { element, paint, focus };
}

/** A small board to glance at; `squares` as in a game's state. */
export function smallBoard(squares, label) {
  return svg(
    "svg",
    { viewBox: "0 0 300 300", class: "small-board", role: "img", "aria-label": label },
    ["M100 8V292", "M200 8V292", "M8 100H292", "M8 200H292"].map((d) => svg("path", { class: "rule", d })),
    squares.map((mark, square) => {
      if (!mark) return null;
      const [x, y] = centre(square);
      return svg("g", { class: `mark ${mark}`, transform: `translate(${x - 50} ${y - 50})` }, strokes(mark));
    }),
  );
}
