"""The routes of the numbers, over a real server: rates, edges, comparison, grades."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.web.numbered import PANEL, SEEDS, UNFINISHED, fill
from tests.web.process import Arena

Row = dict[str, Any]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    folder = tmp_path_factory.mktemp("numbers") / "data"
    folder.mkdir()
    (folder / "panels.toml").write_text(
        f'[[panel]]\nname = "mine"\nopponents = {list(PANEL)}\n', "utf-8"
    )
    fill(folder)
    server = Arena(folder, {"ARENA_DEMO": "0"})
    try:
        server.start()
        with server.client() as client:
            yield client
    finally:
        server.stop()


def get(client: httpx2.Client, path: str, **asked: Any) -> Any:
    answer = client.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def standings(client: httpx2.Client, **asked: Any) -> Any:
    return get(client, "standings", panel="mine", **asked)


def row(client: httpx2.Client, name: str, **asked: Any) -> Row:
    [found] = [r for r in standings(client, **asked)["checkpoints"] if r["name"] == name]
    return dict(found)


def seat(row: Row, opponent: str, side: str) -> Row:
    [found] = [each for each in row["versus"] if each["opponent"] == opponent]
    return dict(found[side])


def player(client: httpx2.Client, name: str) -> int:
    members = get(client, "families")["members"]
    [found] = [m["player"]["id"] for m in members if m["player"]["name"] == name]
    return int(found)


# -- leaderboard -----------------------------------------------------------------------------------


def test_opening_and_replying_stand_apart_and_add_up(client: httpx2.Client) -> None:
    expert = row(client, "expert")
    for opponent in PANEL:
        for side in ("opening", "replying"):
            found = seat(expert, opponent, side)
            assert found["games"] == SEEDS == found["wins"] + found["draws"] + found["losses"]
            rate = found["rate"]
            assert rate["share"] == (found["wins"] + found["draws"]) / SEEDS
            assert 0 <= rate["interval"]["low"] <= rate["share"] <= rate["interval"]["high"] <= 1
    [versus] = [each for each in expert["versus"] if each["opponent"] == "minimax"]
    both = (versus["opening"]["rate"]["share"], versus["replying"]["rate"]["share"])
    assert versus["mean"]["share"] == pytest.approx(sum(both) / 2)


def test_the_worst_is_the_lowest_of_the_perfect_opponents(client: httpx2.Client) -> None:
    novice = row(client, "novice")
    rates = {
        spec: seat(novice, spec, "replying")["rate"]["share"] for spec in PANEL if spec != "random"
    }
    assert novice["worst_replying"]["share"] == min(rates.values())
    assert novice["worst_replying"]["of"] == len(rates)


def test_the_gap_says_why_there_is_none(client: httpx2.Client) -> None:
    gap = row(client, "expert")["gap"]
    assert gap["gap"] is None
    assert "minimax" in gap["reason"]


def test_references_and_ceilings(client: httpx2.Client) -> None:
    found = standings(client)
    perfect, chance = found["references"]
    assert (perfect["name"], chance["name"]) == ("minimax", "random")
    assert perfect["player"] is None
    assert perfect["reference"]
    assert seat(perfect, "minimax", "replying")["rate"] == {
        "share": 1.0,
        "interval": None,
        "bounds": None,
    }
    shares = seat(chance, "random", "opening")["shares"]
    assert shares["wins"] == pytest.approx(0.5849, abs=1e-4)
    assert found["ceilings"]["opening"] == pytest.approx(0.995, abs=5e-4)
    assert found["ceilings"]["replying"] == pytest.approx(0.939, abs=5e-4)
    assert found["ceilings"]["replying_keeping_value"] == pytest.approx(0.916, abs=5e-4)


def test_filters(client: httpx2.Client) -> None:
    def names(**asked: Any) -> set[str]:
        return {each["name"] for each in standings(client, **asked)["checkpoints"]}

    assert {"novice", "expert", "unbeaten"} <= names()
    assert names(family="ladder") == {"novice", "expert", "<img src=x onerror=fire()>"}
    assert names(prompt="blind") == set()
    assert "novice" in names(prompt="tags", temperature=1)
    assert names(temperature=0.5) == set()
    assert "single" not in names(least_games=2)
    found = standings(client)
    assert found["panels"][:1] == ["standard"]
    assert "mine" in found["panels"]
    assert (found["prompts"], found["temperatures"], found["families"]) == (
        ["tags"],
        [1.0],
        ["ladder"],
    )


def test_what_is_wrong_is_told(client: httpx2.Client) -> None:
    for path, asked, status in (
        ("standings", {"panel": "mnie"}, 404),
        ("standings", {"evaluation": "none"}, 404),
        ("standings", {"colour": "red"}, 422),
        ("standings", {"temperature": "warm"}, 422),
        ("family", {"name": "none"}, 404),
        ("checkpoints/999", {}, 404),
        ("checkpoints/x", {}, 422),
        ("comparison", {"first": 999, "second": 998}, 404),
        ("comparison", {"first": 1}, 422),
        ("games/none/grades", {}, 404),
    ):
        answer = client.get(path, params=asked)
        assert answer.status_code == status, (path, answer.text)
        assert answer.json()["error"]["message"]


# -- edges -----------------------------------------------------------------------------------------


def test_void_games_are_in_no_rate(client: httpx2.Client) -> None:
    found = row(client, "void", least_games=0)
    opening = seat(found, "minimax", "opening")
    assert (opening["games"], opening["void"], opening["rate"], opening["shares"]) == (
        0,
        3,
        None,
        None,
    )
    assert found["worst"] is None
    assert found["tokens_per_move"] is None
    assert found["format_followed"] is None


def test_one_game_only_has_a_wide_interval(client: httpx2.Client) -> None:
    found = seat(row(client, "single"), "minimax", "replying")
    assert found["games"] == 1
    interval = found["rate"]["interval"]
    assert interval["high"] - interval["low"] > 0.7


def test_all_draws_and_a_player_that_never_lost(client: httpx2.Client) -> None:
    drawn = seat(row(client, "drawn"), "minimax", "replying")
    assert drawn["shares"] == {"wins": 0.0, "draws": 1.0, "losses": 0.0}
    unbeaten = row(client, "unbeaten")
    assert unbeaten["worst"]["share"] == 1.0
    assert unbeaten["worst"]["interval"]["high"] == 1.0
    assert unbeaten["worst"]["interval"]["low"] < 1.0
    assert unbeaten["total"]["losses"] == 0


def test_an_entry_that_was_never_played_is_null(client: httpx2.Client) -> None:
    found = row(client, "unmet")
    [versus] = [each for each in found["versus"] if each["opponent"] == "minimax"]
    assert versus["opening"]["rate"] is None
    assert versus["replying"]["rate"] is None
    assert versus["mean"] is None
    assert found["worst"] is None
    assert seat(found, "random", "opening")["games"] == 1
    assert seat(found, "random", "replying")["rate"] is None


def test_an_unfinished_evaluation_is_provisional(client: httpx2.Client) -> None:
    found = standings(client, evaluation=UNFINISHED)
    planned = 2 * SEEDS * 2 * len(PANEL)
    assert found["provisional"] == {"played": planned // 2, "planned": planned}
    assert [each["name"] for each in found["checkpoints"]] == ["novice"]
    assert standings(client)["provisional"] is None


# -- checkpoints -----------------------------------------------------------------------------------


def test_a_family_in_the_order_of_its_steps(client: httpx2.Client) -> None:
    found = get(client, "family", name="ladder", panel="mine")
    assert [each["step"] for each in found["steps"]] == [100, 200, 300]
    assert found["finding"]["title"].startswith("From novice to <img")
    for each in found["steps"]:
        assert each["moves"]["moves"] > 0
        assert each["traps"]["met"] > 0


def test_a_checkpoints_page_adds_up(client: httpx2.Client) -> None:
    found = get(client, f"checkpoints/{player(client, 'novice')}")
    for side in found["seats"]:
        plies = [each["moves"] for each in found["plies"] if each["opening"] is side["opening"]]
        assert side["moves"]["moves"] == sum(each["moves"] for each in plies)
        losing = side["moves"]["loses_value"]
        assert losing == sum(each["loses_value"] for each in plies) > 0
        parts = ("win_to_draw", "win_to_loss", "draw_to_loss")
        assert losing == sum(side["moves"][part] for part in parts)
        assert losing + side["moves"]["keeps_value"] == side["moves"]["moves"]
        traps = [each for each in found["traps"] if each["opening"] is side["opening"]]
        assert side["traps"]["met"] == sum(each["met"] for each in traps)
    assert {each["ply"] % 2 == 0 for each in found["plies"] if each["opening"]} == {True}


def test_the_atlas_has_every_trap_once(client: httpx2.Client) -> None:
    traps = get(client, f"checkpoints/{player(client, 'novice')}")["traps"]
    assert len({each["key"] for each in traps}) == len(traps) == 63
    assert sum(each["opening"] for each in traps) == 32
    assert {each["to_move"] for each in traps} == {"X"}
    for each in traps:
        status = "never_met" if not each["met"] else "failed" if each["failed"] else "passed"
        assert each["status"] == status
        assert bool(each["example_failed"]) is (each["failed"] > 0)
        assert bool(each["example_passed"]) is (each["met"] > each["failed"])
    assert {"failed", "passed"} <= {each["status"] for each in traps}


def test_losing_lines_lead_to_games_that_were_lost_so(client: httpx2.Client) -> None:
    lines = get(client, f"checkpoints/{player(client, 'novice')}")["lines"]
    assert lines
    counts = [line["count"] for line in lines]
    assert counts == sorted(counts, reverse=True)
    for line in lines[:3]:
        game = get(client, f"games/{line['url'].rsplit('/', 1)[-1]}")
        mark = "x" if game["x"]["name"] == "novice" else "o"
        assert game["outcome"] == ("o" if mark == "x" else "x")
        assert len(game["turns"]) == len(line["moves"])
        assert line["opening"] is (game["opener"] == mark.upper())
        assert (line["decisive"] % 2 == 0) is line["opening"]


def test_who_never_lost_has_no_losing_line(client: httpx2.Client) -> None:
    found = get(client, f"checkpoints/{player(client, 'unbeaten')}")
    assert found["lines"] == []
    assert all(each["failed"] == 0 for each in found["traps"])
    assert all(side["moves"]["loses_value"] == 0 for side in found["seats"])


def test_who_has_no_game_has_no_shares(client: httpx2.Client) -> None:
    found = get(client, f"checkpoints/{player(client, 'void')}")
    assert found["finding"]["title"] == "void has no game yet that counts"
    assert found["plies"] == []
    assert all(side["traps"]["pass_rate"] is None for side in found["seats"])
    assert {each["status"] for each in found["traps"]} == {"never_met"}


# -- two of them -----------------------------------------------------------------------------------


def test_two_on_the_same_cells(client: httpx2.Client) -> None:
    first, second = player(client, "expert"), player(client, "novice")
    duel = get(client, "comparison", first=first, second=second)
    for side in ("opening", "replying"):
        total = duel[side]
        paired = total["paired"]
        assert paired["cells"] == SEEDS * len(PANEL)
        assert paired["difference"] == pytest.approx(
            (paired["first"] - paired["second"]) / paired["cells"]
        )
        assert 0 <= paired["p_value"] <= 1
        assert paired["seeds"] == SEEDS
        shares = paired["first_share"] - paired["second_share"]
        assert shares == pytest.approx(paired["difference"])
        assert total["needed"] is None
    assert duel["differing"] == sum(
        duel[side]["paired"][each]
        for side in ("opening", "replying")
        for each in ("first", "second")
    )
    back = get(client, "comparison", first=second, second=first)
    assert back["replying"]["paired"]["difference"] == -duel["replying"]["paired"]["difference"]
    assert "expert loses less than novice" in duel["title"]


def test_cells_in_which_they_differ_are_paged(client: httpx2.Client) -> None:
    who = {"first": player(client, "expert"), "second": player(client, "novice")}
    every = get(client, "comparison", **who)["differing"]
    found: list[Row] = []
    while True:
        page = get(client, "comparison/cells", **who, limit=3, offset=len(found))
        found += page["cells"]
        if not page["more"]:
            break
        assert len(page["cells"]) == 3
    assert len(found) == every > 3
    assert all((c["first"]["result"] == "loss") != (c["second"]["result"] == "loss") for c in found)
    cells = {(c["opponent"], c["mark"], c["seed"], c["rollout"]) for c in found}
    assert len(cells) == len(found)
    opening = get(client, "comparison/cells", **who, limit=200, opening=True)["cells"]
    assert [c for c in found if c["opening"]] == opening


def test_two_without_a_common_opponent(client: httpx2.Client) -> None:
    duel = get(client, "comparison", first=player(client, "unmet"), second=player(client, "drawn"))
    assert duel["title"] == "These two have met no opponent in common"
    assert duel["rows"] == []
    assert duel["differing"] == 0
    assert duel["opening"]["paired"] is None


def test_one_with_itself_is_told_apart_by_nothing(client: httpx2.Client) -> None:
    who = player(client, "novice")
    duel = get(client, "comparison", first=who, second=who)
    assert "cannot be told apart" in duel["title"]
    assert duel["replying"]["paired"]["p_value"] == 1


# -- tables and grades -----------------------------------------------------------------------------


def test_the_published_table(client: httpx2.Client) -> None:
    text = get(client, "published", family="ladder")["markdown"]
    head, rule, *lines = text.splitlines()
    assert head.startswith("| Model | Opponent | Seat | Games | Wins % | Draws % | Losses % |")
    assert {line.count("|") for line in (head, rule, *lines)} == {head.count("|")}
    assert len(lines) == 3 * 2 * 2
    [line] = [line for line in lines if line.startswith("| novice") and "Random | opening" in line]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[3] == str(SEEDS)
    assert sum(map(float, cells[4:7])) == pytest.approx(100, abs=0.2)
    assert cells[7:] == ["100.0", "0.0"]
    assert get(client, "published", family="nobody")["markdown"] == ""


def test_the_grades_of_a_game(client: httpx2.Client) -> None:
    line = get(client, f"checkpoints/{player(client, 'novice')}")["lines"][0]
    id = line["url"].rsplit("/", 1)[-1]
    found = get(client, f"games/{id}/grades")
    assert len(found["moves"]) == len(line["moves"])
    assert found["moves"][line["decisive"]]["loses_value"]
    assert found["moves"][line["decisive"]]["after"] == -1


def test_the_library_of_the_charts_comes_from_this_server(client: httpx2.Client) -> None:
    base = str(client.base_url).removesuffix("api/v1/")
    answer = httpx2.get(f"{base}ui/plotly/plotly.min.js")
    assert answer.status_code == 200
    assert "javascript" in answer.headers["content-type"]
