"""Demonstration games: which they are, when they came and went."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column(
        "games", sa.Column("demonstration", sa.Boolean, nullable=False, server_default="0")
    )
    op.create_index(
        "ix_games_demonstration", "games", ["x_id", "o_id"], sqlite_where=sa.text("demonstration")
    )
    op.create_table(
        "demonstrations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("begun_at", sa.Integer, nullable=False),
        sa.Column("finished_at", sa.Integer),
        sa.Column("removed_at", sa.Integer),
    )
