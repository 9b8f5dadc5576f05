from collections import Counter, defaultdict
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from arena.analysis import grades
from arena.board import Mark, Outcome
from arena.memorisation import RELATIVES
from arena.players import Identity, Kind
from arena.symmetry import canonical_moves
from arena.traps import traps_met
from storage import Database, Games, Recording, Source
from storage.aggregates import Landing, take_off
from storage.lessons import COUNTS, is_examined
from storage.players import always_alike
from storage.records import load
from storage.recount import TABLES, recount
from tests.storage.conftest import Clock
from tests.storage.panels import careless, recorded
from tests.storage.samples import MODEL, OPENER_WINS, PLAYERS, RANDOM, game_of, played

TURNED = Identity(Kind.ENGINE, "minimax:tie=s1", deterministic=True)


def contents(db):
    """The derived tables, row by row."""
    with db.read() as session:
        return {
            table: sorted(map(tuple, session.execute(text(f"SELECT * FROM {table}"))), key=repr)
            for table in TABLES
        }


def expected(db):
    """What the derived tables are to hold, from whole games, without a statement of the code."""
    with db.read() as session:
        serials = session.execute(text("SELECT serial FROM games")).scalars().all()
        games = load(session, serials)
    seeds: Any = defaultdict(lambda: [0, 0])
    related: Any = defaultdict(lambda: [0, 0])
    made: Any = defaultdict(Counter)
    traps: Any = defaultdict(Counter)
    lost: Any = defaultdict(Counter)
    examples: Any = defaultdict(dict)
    seen, names = set(), {}
    for stored in games:
        game, rated = stored.game, stored.source is not Source.PLAY
        if game.outcome in (None, Outcome.VOID):
            continue
        line = (stored.x.id, stored.o.id, rated, game.opener, game.moves)
        alike = always_alike(stored.x) and always_alike(stored.o)
        if alike and line in seen:
            continue
        seen.add(line)
        for mark in Mark:
            player, opponent = stored.player(mark), stored.player(mark.other)
            opening = mark is game.opener
            if rated and not alike and opponent.identity.kind is Kind.ENGINE:
                each = seeds[player.id, opponent.id, opening, game.seed]
                names[opponent.id] = opponent.identity.name
                each[0] += 1
                each[1] += game.outcome != Outcome.win(mark.other)
            if not is_examined(player, opponent):
                continue
            for graded in grades(game.moves, game.opener):
                if graded.mark is mark:
                    grade = graded.grade
                    made[player.id, opponent.id, rated, graded.ply].update(
                        moves=1,
                        win_to_draw=(grade.before, grade.after) == (1, 0),
                        win_to_loss=(grade.before, grade.after) == (1, -1),
                        draw_to_loss=(grade.before, grade.after) == (0, -1),
                        missed_wins=grade.missed_win,
                        missed_blocks=grade.missed_block,
                        fork_traps=grade.fell,
                        let_offs=grade.let_off,
                    )
            for met in traps_met(game.moves, game.opener, mark):
                key = (player.id, rated, met.trap.key)
                traps[key].update(met=1, failed=met.failed)
                examples[key].setdefault(met.failed, stored.serial)
            if game.board.line and game.outcome == Outcome.win(mark.other):
                name = "".join(map(str, canonical_moves(game.moves)))
                line_lost = lost[player.id, rated, opening, name]
                line_lost["count"] += 1
                line_lost.setdefault("example", stored.serial)
    clusters, relatives = defaultdict(list), defaultdict(list)
    for (player, opponent, opening, seed), (n, kept) in seeds.items():
        clusters[player, opponent, opening, seed % 2].append((n, kept))
        if not opening and seed % 2:
            for spec in RELATIVES.get(names[opponent], ()):
                related[player, spec, seed][0] += n
                related[player, spec, seed][1] += kept
    for (player, spec, _), each in related.items():
        relatives[player, spec].append(each)
    tables = {
        "clusters": [(*key, *sums(each)) for key, each in clusters.items()],
        "relatives": [(*key, *sums(each)) for key, each in relatives.items()],
        "mistakes": [(*key, *(each[kind] for kind in COUNTS)) for key, each in made.items()],
        "traps": [
            (*key, each["met"], each["failed"], *(examples[key].get(f) for f in (True, False)))
            for key, each in traps.items()
        ],
        "lost_lines": [(*key, each["count"], each["example"]) for key, each in lost.items()],
    }
    return {
        name: sorted(
            (tuple(int(v) if isinstance(v, bool) else v for v in row) for row in rows),
            key=repr,
        )
        for name, rows in tables.items()
    }


def sums(clusters):
    return (
        len(clusters),
        sum(n for n, _ in clusters),
        sum(kept for _, kept in clusters),
        sum(n * n for n, _ in clusters),
        sum(kept * kept for _, kept in clusters),
        sum(n * kept for n, kept in clusters),
    )


landings = st.tuples(
    played(rollouts=3),
    st.sampled_from((*PLAYERS, TURNED, MODEL)),
    st.sampled_from((*PLAYERS, TURNED, MODEL)),
    st.sampled_from((Source.STORE, Source.EVALUATION, Source.PLAY)),
)


@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(st.lists(landings, max_size=5), max_size=4))
def test_what_is_kept_is_what_the_games_say(batches):
    with TemporaryDirectory() as folder:
        db = Database.open(f"{folder}/arena.db")
        games = Games(db, Clock())
        for batch in batches:
            for game, x, o, source in batch[1:]:
                games.record(game, x, o, source)
            for game, x, o, _ in batch[:1]:
                games.record_many([Recording(game, x, o)] * 2, Source.STORE)
        kept = contents(db)
        assert kept == expected(db)
        with db.write() as session:
            recount(session)
        assert contents(db) == kept
        db.close()


def test_many_games_land_as_one_by_one(games, db, tmp_path):
    specs = ("random", "minimax:tie=first", "minimax:tie=s1", "minimax:tie=s5")
    some = recorded(MODEL, careless(0.4), specs, range(4), rollouts=2)
    games.record_many(some, Source.EVALUATION)
    other = Database.open(tmp_path / "other.db")
    one_by_one = Games(other, Clock())
    for each in some:
        one_by_one.record(each.game, each.x, each.o, Source.EVALUATION)
    assert contents(db) == contents(other) == expected(db)
    assert all(contents(db).values())
    other.close()


def test_a_player_is_counted_anew_alone(games, db):
    games.record_many(recorded(MODEL, careless(0.4), ("random",), range(3)), Source.STORE)
    kept = contents(db)
    with db.write() as session:
        for table in TABLES:
            session.execute(text(f"DELETE FROM {table} WHERE player_id = 1"))
        recount(session, [1])
    assert contents(db) == kept


def test_games_of_the_browser_are_kept_apart(games, db):
    games.record(game_of(OPENER_WINS), RANDOM, MODEL, Source.PLAY)
    found = contents(db)
    assert found["clusters"] == found["relatives"] == []
    # Player, opponent, whether it is rated, ply, moves.
    assert [row[2:5] for row in found["mistakes"]] == [(0, 1, 1), (0, 3, 1)]
    assert [row[1:5] for row in found["lost_lines"]] == [(0, 0, "01346", 1)]


def test_a_database_filled_by_another_meaning_is_counted_anew(games, db):
    games.record_many(recorded(MODEL, careless(0.4), ("random",), range(3)), Source.STORE)
    kept = contents(db)
    with db.write() as session:
        session.execute(text("DELETE FROM mistakes"))
        session.execute(text("UPDATE clusters SET games = 0"))
        session.execute(text("PRAGMA user_version = 0"))
    db.close()
    again = Database.open(db.path)
    assert contents(again) == kept
    again.close()


def test_removed_games_leave_nothing(games, db, clock):
    specs = ("random", "minimax:tie=s1")
    first = recorded(MODEL, careless(0.5), specs, range(3))
    games.record_many(first, Source.EVALUATION)
    before = contents(db)
    games.record_many(recorded(MODEL, careless(0.5, key=1), specs, range(3, 6)), Source.EVALUATION)
    with db.write() as session:
        newer = text("SELECT serial FROM games WHERE seed >= 3")
        gone = load(session, session.execute(newer).scalars().all())
        for table in ("turns", "attempts", "requests", "seats"):
            session.execute(
                text(
                    f"DELETE FROM {table} WHERE game IN (SELECT serial FROM games WHERE seed >= 3)"
                )
            )
        session.execute(text("DELETE FROM games WHERE seed >= 3"))
        landed = [
            Landing(each.serial, each.game, each.x, each.o, each.source, clock()) for each in gone
        ]
        take_off(session, landed)
    assert contents(db) == before
