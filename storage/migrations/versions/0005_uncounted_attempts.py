"""How many of a player's replies in a game came without a count of their tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("seats", sa.Column("uncounted", sa.Integer, nullable=False, server_default="0"))
    op.execute("""
        UPDATE seats SET uncounted = (
            SELECT count(*)
            FROM attempts
            WHERE attempts.game = seats.game
            AND attempts.mark = seats.mark
            AND (prompt_tokens IS NULL OR completion_tokens IS NULL)
        )
    """)
