"""Model against model: `vf-eval tictactoe_arena --env.id tictactoe_arena_duel`."""

from models.environment.duel import DuelEnv

__all__ = ["DuelEnv"]
