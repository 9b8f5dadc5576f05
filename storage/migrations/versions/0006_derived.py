"""Tables that are counted from the games: `storage.recount` fills them once the schema is there."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_SUMS = ("seeds", "games", "kept", "games_squared", "kept_squared", "products")
_MISTAKES = (
    "moves",
    "win_to_draw",
    "win_to_loss",
    "draw_to_loss",
    "missed_wins",
    "missed_blocks",
    "fork_traps",
    "let_offs",
)


def upgrade() -> None:
    op.create_table(
        "clusters",
        _player("player_id"),
        _player("opponent_id"),
        sa.Column("opening", sa.Boolean, primary_key=True),
        sa.Column("odd", sa.Boolean, primary_key=True),
        *_counts(_SUMS),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "relatives",
        _player("player_id"),
        sa.Column("opponent", sa.Text, primary_key=True),
        *_counts(_SUMS),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "mistakes",
        _player("player_id"),
        _player("opponent_id"),
        sa.Column("rated", sa.Boolean, primary_key=True),
        sa.Column("ply", sa.Integer, primary_key=True),
        *_counts(_MISTAKES),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "traps",
        _player("player_id"),
        sa.Column("rated", sa.Boolean, primary_key=True),
        sa.Column("trap", sa.Text, primary_key=True),
        *_counts(("met", "failed")),
        sa.Column("example_failed", sa.Integer),
        sa.Column("example_passed", sa.Integer),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "lost_lines",
        _player("player_id"),
        sa.Column("rated", sa.Boolean, primary_key=True),
        sa.Column("opening", sa.Boolean, primary_key=True),
        sa.Column("moves", sa.Text, primary_key=True),
        *_counts(("count", "example")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_lost_lines_count", "lost_lines", ["player_id", "rated", "count"])


def _player(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, sa.ForeignKey("players.id"), primary_key=True)


def _counts(names: tuple[str, ...]) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer, nullable=False) for name in names]
