"""What a server changed about requests, counted too; and the cards of examined models."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column(
        "attempts", sa.Column("adaptations", sa.Text, nullable=False, server_default="[]")
    )
    for name in ("default_temperature", "unseeded"):
        op.add_column("entries", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    op.create_table(
        "cards",
        sa.Column("model", sa.Text, primary_key=True),
        sa.Column("card", sa.Text, nullable=False),
        sa.Column("at", sa.Integer, nullable=False),
    )
