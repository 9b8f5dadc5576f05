"""The built-in panels are the issue's, and a user's table is checked key by key."""

import pytest

from arena.board import Mark
from arena.errors import ConfigError, SpecError
from arena.opponents import parse, symmetric_opponents
from arena.panels import PANELS, Panel, canonical_specs, panel_from, panels_from


def test_the_built_in_panels() -> None:
    assert PANELS["standard"] == Panel(
        "standard",
        (
            "random",
            "minimax",
            "minimax:tie=first",
            "minimax:tie=last",
            "minimax:tie=center",
            "minimax:tie=corner",
            "minimax:tie=edge",
            "minimax:epsilon=0.25",
            "minimax:epsilon=0.5",
        ),
    )
    assert PANELS["memorisation"] == Panel("memorisation", (*symmetric_opponents(), "minimax"))
    assert len(PANELS["memorisation"].opponents) == 33
    assert PANELS["course"] == Panel("course", ("random", "minimax"), Mark.X)
    for name, panel in PANELS.items():
        assert panel.name == name
        assert all(str(parse(spec)) == spec for spec in panel.opponents)
        assert len(set(panel.opponents)) == len(panel.opponents)


def test_specs_become_canonical_in_their_order() -> None:
    assert canonical_specs(["minimax:tie=s0", "random"]) == ("minimax:tie=first", "random")


@pytest.mark.parametrize(
    ("specs", "reason"),
    [
        ([], "at least one"),
        (["minimax:tie=up"], "valid are"),
        (["random", "random"], "named twice: 'random'$"),
        (["minimax:tie=s0", "minimax:tie=first"], "named twice: 'minimax:tie=s0' and"),
    ],
)
def test_specs_that_make_no_list_of_opponents(specs: list[str], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        canonical_specs(specs)


def test_a_panel_of_the_users() -> None:
    table = {"name": "mine", "opponents": ["minimax:tie=s0", "random"], "mark": "O"}
    panel = Panel("mine", ("minimax:tie=first", "random"), Mark.O)
    assert panel_from(table) == panel
    assert panels_from([table]) == {**PANELS, "mine": panel}
    assert panels_from([]) == PANELS


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({}, "'name' must be a text"),
        ({"name": "", "opponents": ["random"]}, "'name' must be a text"),
        ({"name": "p" * 61, "opponents": ["random"]}, "1 to 60 characters"),
        ({"name": "p"}, "panel 'p': 'opponents' must be a list"),
        ({"name": "p", "opponents": "random"}, "'opponents' must be a list"),
        ({"name": "p", "opponents": [1]}, "'opponents' must be a list"),
        ({"name": "p", "opponents": []}, "'opponents': name at least one"),
        ({"name": "p", "opponents": ["tie"]}, "panel 'p': 'opponents': .*minimax"),
        ({"name": "p", "opponents": ["random"], "mark": "x"}, "'mark' must be X or O"),
        ({"name": "p", "opponents": ["random"], "mark": []}, "'mark' must be X or O"),
        ({"name": "p", "opponent": ["random"]}, "unknown key 'opponent': valid are name"),
    ],
)
def test_a_table_that_is_no_panel(table: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        panel_from(table)


def test_a_name_is_used_once() -> None:
    mine = {"name": "mine", "opponents": ["random"]}
    with pytest.raises(ConfigError, match="'mine' is there twice"):
        panels_from([mine, mine])
    with pytest.raises(ConfigError, match="'course' is built in"):
        panels_from([mine | {"name": "course"}])
