"""A run's curve as CSV and as a picture. Needs no torch."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

Row = Mapping[str, float]
"""The figures of one step, by name; the first is `step`, from 1."""

_WIDTH, _HEIGHT = 760, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 150, 28, 24
_MOST_POINTS = 300
# Told apart by people who see colours differently, on white and on black: Okabe and Ito's.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9")


class _Panel(NamedTuple):
    title: str
    names: tuple[str, ...]


_PANELS = (
    _Panel("Reward and its parts", ("reward", "outcome", "format", "invalid", "reason")),
    _Panel("Share of games", ("not_lost", "won", "drawn", "forfeits")),
    _Panel("Share of replies", ("exact", "valid", "true_reasons", "accuracy")),
    _Panel("Entropy and loss, nats a token", ("entropy", "loss")),
)


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """A line a step, with six digits a figure."""
    partial = path.with_suffix(".csv.part")
    with partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if rows:
            writer.writerow(rows[0])
        writer.writerows([f"{value:.6g}" for value in row.values()] for row in rows)
    partial.replace(path)


def write_svg(rows: Sequence[Row], path: Path, title: str) -> None:
    """A panel for each kind of figure that the rows have; readable on light and dark pages."""
    partial = path.with_suffix(".svg.part")
    partial.write_text(svg(rows, title), encoding="utf-8")
    partial.replace(path)


def svg(rows: Sequence[Row], title: str) -> str:
    """The picture as text; a long curve is drawn as means over equal spans."""
    shown = _thinned(rows)
    panels = [
        _Panel(panel.title, names)
        for panel in _PANELS
        if (names := tuple(name for name in panel.names if shown and name in shown[0]))
    ]
    height = _TOP + len(panels) * _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">',
        "<style>text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600}"
        ".a{stroke:#999;fill:none}path{fill:none;stroke-width:1.6}svg{background:#fff}"
        "@media(prefers-color-scheme:dark){svg{background:#111}text{fill:#ddd}.a{stroke:#666}}"
        "</style>",
        f'<text class="t" x="{_LEFT}" y="18">{escape(title)}</text>',
    ]
    for number, panel in enumerate(panels):
        parts += _drawn(shown, panel, _TOP + number * _HEIGHT)
    return "\n".join([*parts, "</svg>", ""])


def _drawn(rows: Sequence[Row], panel: _Panel, top: int) -> Iterable[str]:
    values = [row[name] for row in rows for name in panel.names]
    low, high = min(0.0, *values), max(0.0, *values)
    span = high - low or 1.0
    first, last = rows[0]["step"], rows[-1]["step"]
    right, floor = _WIDTH - _RIGHT, top + _HEIGHT - _BOTTOM
    tall = _HEIGHT - _TOP - _BOTTOM

    def x(step: float) -> float:
        return _LEFT + (right - _LEFT) * (step - first) / (last - first or 1.0)

    def y(value: float) -> float:
        return floor - tall * (value - low) / span

    yield f'<text class="t" x="{_LEFT}" y="{top + 18}">{escape(panel.title)}</text>'
    yield f'<path class="a" d="M{_LEFT} {floor - tall}V{floor}M{_LEFT} {y(0):.1f}H{right}"/>'
    for value in {low, high}:
        yield (f'<text text-anchor="end" x="{_LEFT - 6}" y="{y(value) + 4:.1f}">{value:.3g}</text>')
    for step, anchor in ((first, "start"), (last, "end")):
        yield (
            f'<text text-anchor="{anchor}" x="{x(step):.1f}" y="{floor + 18}">'
            f"step {step:.0f}</text>"
        )
    for number, name in enumerate(panel.names):
        colour = _COLOURS[number]
        points = "L".join(f"{x(row['step']):.1f} {y(row[name]):.1f}" for row in rows)
        label = top + _TOP + 12 + 18 * number
        yield f'<path stroke="{colour}" d="M{points}"/>'
        yield f'<path stroke="{colour}" d="M{right + 12} {label - 4}h18"/>'
        shown = f"{name.replace('_', ' ')} {rows[-1][name]:.3g}"
        yield f'<text x="{right + 36}" y="{label}">{escape(shown)}</text>'


def _thinned(rows: Sequence[Row]) -> list[Row]:
    span = -(-len(rows) // _MOST_POINTS) or 1
    groups = [rows[at : at + span] for at in range(0, len(rows), span)]
    return [
        {name: sum(row[name] for row in group) / len(group) for name in group[0]}
        for group in groups
    ]
