"""The first tables: players, games, turns, attempts, requests, and what is counted of them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "players",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("family", sa.Text),
        sa.Column("step", sa.Integer),
        sa.Column("prompt", sa.Text),
        sa.Column("prompt_hash", sa.Text),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("deterministic", sa.Boolean, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False, unique=True),
    )
    op.create_index("ix_players_name", "players", ["name"])
    _games()
    _what_led_to_a_game()
    _what_is_counted()


def _games() -> None:
    op.create_table(
        "games",
        sa.Column("serial", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("x_id", sa.Integer, sa.ForeignKey("players.id"), nullable=False),
        sa.Column("o_id", sa.Integer, sa.ForeignKey("players.id"), nullable=False),
        sa.Column("opener", sa.Text, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("rollout", sa.Integer, nullable=False),
        sa.Column("ply", sa.Integer, nullable=False),
        sa.Column("moves", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text),
        sa.Column("termination", sa.Text),
        sa.Column("x_token_hash", sa.Text),
        sa.Column("o_token_hash", sa.Text),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.Integer, nullable=False),
        sa.Column("finished_at", sa.Integer),
    )
    for column in ("x_id", "o_id", "outcome", "termination", "created_at"):
        op.create_index(f"ix_games_{column}", "games", [column])
    op.create_index("ix_games_pair", "games", ["x_id", "o_id"])
    op.create_index("ix_games_line", "games", ["x_id", "o_id", "opener", "moves"])
    op.create_index(
        "ux_games_cell",
        "games",
        ["x_id", "o_id", "opener", "seed", "rollout"],
        unique=True,
        sqlite_where=sa.text("source <> 'play' AND outcome <> 'void'"),
    )


def _what_led_to_a_game() -> None:
    op.create_table(
        "turns",
        sa.Column("game", sa.Integer, sa.ForeignKey("games.serial"), primary_key=True),
        sa.Column("ply", sa.Integer, primary_key=True),
        sa.Column("mark", sa.Text, nullable=False),
        sa.Column("square", sa.Integer, nullable=False),
        sa.Column("at", sa.Integer),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("game", sa.Integer, sa.ForeignKey("games.serial"), nullable=False),
        sa.Column("ply", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("mark", sa.Text, nullable=False),
        sa.Column("prompt", sa.Text, nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("reasoning", sa.Text),
        sa.Column("reasoning_field", sa.Text),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("square", sa.Integer),
        sa.Column("contains", sa.Boolean, nullable=False),
        sa.Column("exact", sa.Boolean, nullable=False),
        sa.Column("finish_reason", sa.Text),
        sa.Column("seed", sa.Integer),
        sa.Column("prompt_tokens", sa.Integer),
        sa.Column("completion_tokens", sa.Integer),
        sa.Column("seconds", sa.Float, nullable=False),
    )
    op.create_index("ux_attempts_game", "attempts", ["game", "ply", "number"], unique=True)
    op.create_table(
        "requests",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("game", sa.Integer, sa.ForeignKey("games.serial"), nullable=False),
        sa.Column("ply", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("sent", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("finish_reason", sa.Text),
        sa.Column("prompt_tokens", sa.Integer),
        sa.Column("completion_tokens", sa.Integer),
    )
    op.create_index("ix_requests_game", "requests", ["game"])


def _what_is_counted() -> None:
    op.create_table(
        "lines",
        sa.Column("x_id", sa.Integer, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("o_id", sa.Integer, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("rated", sa.Boolean, primary_key=True),
        sa.Column("opener", sa.Text, primary_key=True),
        sa.Column("moves", sa.Text, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    counts = (
        "wins",
        "draws",
        "losses",
        "forfeits",
        "opponent_forfeits",
        "void",
        "context_exceeded",
        "repeats",
        "distinct",
        "attempts",
        "invalid_attempts",
        "contains",
        "exact",
        "prompt_tokens",
        "completion_tokens",
        "milliseconds",
        "last_at",
    )
    op.create_table(
        "entries",
        sa.Column("player_id", sa.Integer, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("opponent_id", sa.Integer, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("opening", sa.Boolean, primary_key=True),
        sa.Column("rated", sa.Boolean, primary_key=True),
        *(sa.Column(name, sa.Integer, nullable=False) for name in counts),
        sqlite_with_rowid=False,
    )
