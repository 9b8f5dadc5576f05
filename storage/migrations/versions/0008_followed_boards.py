"""The game that can be followed in a rollout's chat; the file a run came from; an index that holds
what means are made of.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    for name in ("opener", "mark", "moves", "unfollowed"):
        op.add_column("reward_rollouts", sa.Column(name, sa.Text))
    op.add_column("reward_runs", sa.Column("file_hash", sa.Text))
    op.drop_index("ix_reward_rollouts_example", "reward_rollouts")
    op.create_index(
        "ix_reward_rollouts_example", "reward_rollouts", ["run_id", "example", "seat", "reward"]
    )
