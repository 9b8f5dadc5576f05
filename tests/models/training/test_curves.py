"""Curves as files."""

import csv
from pathlib import Path
from xml.etree import ElementTree

from models.training.curves import Row, svg, write_csv, write_svg

ROWS: list[Row] = [{"step": n + 1.0, "reward": n / 1000, "not_lost": 0.5} for n in range(1000)]


def test_a_line_a_step(tmp_path: Path) -> None:
    path = tmp_path / "curve.csv"
    write_csv(ROWS, path)
    with path.open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert len(found) == 1000
    assert found[-1] == {"step": "1000", "reward": "0.999", "not_lost": "0.5"}
    assert list(tmp_path.iterdir()) == [path]


def test_the_picture_has_a_panel_for_each_kind_of_figure(tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    write_svg(ROWS, path, "a < b")
    text = path.read_text(encoding="utf-8")
    picture = ElementTree.fromstring(text)
    titles = [each.text for each in picture.iter() if each.get("class") == "t"]
    assert titles == ["a < b", "Reward and its parts", "Share of games"]
    assert "prefers-color-scheme:dark" in text
    assert len(text) < 30_000


def test_a_picture_of_few_points_or_none() -> None:
    for rows in (ROWS[:1], []):
        ElementTree.fromstring(svg(rows, "short"))
