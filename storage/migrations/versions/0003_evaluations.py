"""Evaluations; what each player's replies in a game come to; void games found by their cell."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_COUNTS = (
    "attempts",
    "invalid_attempts",
    "contains",
    "exact",
    "prompt_tokens",
    "completion_tokens",
    "milliseconds",
    "default_temperature",
    "requests",
)


def upgrade() -> None:
    op.create_table(
        "evaluations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("wanted", sa.Text, nullable=False),
        sa.Column("live", sa.Text, nullable=False),
        sa.Column("holder", sa.Integer),
        sa.Column("milliseconds", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("beat_at", sa.Integer),
        sa.Column("finished_at", sa.Integer),
    )
    op.create_index(
        "ix_games_void",
        "games",
        ["x_id", "o_id", "opener", "seed", "rollout"],
        sqlite_where=sa.text("source <> 'play' AND outcome = 'void'"),
    )
    op.create_table(
        "seats",
        sa.Column("game", sa.Integer, sa.ForeignKey("games.serial"), primary_key=True),
        sa.Column("mark", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Integer, nullable=False) for name in _COUNTS),
        sqlite_with_rowid=False,
    )
    op.execute(_SEATS_OF_EARLIER_GAMES)


_SEATS_OF_EARLIER_GAMES = """
INSERT INTO seats
SELECT
    game,
    mark,
    sum(attempts),
    sum(invalid_attempts),
    sum(contains),
    sum(exact),
    sum(prompt_tokens),
    sum(completion_tokens),
    sum(milliseconds),
    sum(default_temperature),
    sum(requests)
FROM (
    SELECT
        game,
        mark,
        1 AS attempts,
        verdict <> 'ok' AS invalid_attempts,
        contains,
        exact,
        coalesce(prompt_tokens, 0) AS prompt_tokens,
        coalesce(completion_tokens, 0) AS completion_tokens,
        CAST(seconds * 1000 + 0.5 AS INTEGER) AS milliseconds,
        adaptations LIKE '%"no_temperature"%' AS default_temperature,
        0 AS requests
    FROM attempts
    UNION ALL
    SELECT
        game,
        CASE requests.ply % 2 WHEN 0 THEN opener ELSE iif(opener = 'X', 'O', 'X') END,
        0, 0, 0, 0, 0, 0,
        iif(attempt IS NULL, CAST(seconds * 1000 + 0.5 AS INTEGER), 0),
        0,
        1
    FROM requests
    JOIN games ON games.serial = game
)
WHERE game IN (SELECT serial FROM games WHERE outcome IS NOT NULL)
GROUP BY game, mark
"""
