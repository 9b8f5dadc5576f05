"""Runs of other environments, with their rollouts."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "reward_runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("environment", sa.Text, nullable=False),
    )
    op.create_table(
        "reward_rollouts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("run_id", sa.Integer, sa.ForeignKey("reward_runs.id"), nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("example", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("seat", sa.Text, nullable=False),
        sa.Column("reward", sa.Float),
        sa.Column("parts", sa.Text, nullable=False),
        sa.Column("why_void", sa.Text),
        sa.Column("messages", sa.Text, nullable=False),
        sa.Column("at", sa.Integer),
    )
    op.create_index("ux_reward_rollouts_key", "reward_rollouts", ["run_id", "key"], unique=True)
    op.create_index("ix_reward_rollouts_example", "reward_rollouts", ["run_id", "example"])
    op.create_index("ix_reward_rollouts_reward", "reward_rollouts", ["run_id", "reward"])
