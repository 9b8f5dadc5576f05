"""The name by which the tools of `verifiers` find the environment: `vf-eval tictactoe_arena`.

They look for a module of one name, without dots; what it exports is `models.environment`'s.
"""

from models.environment.harness import DirectHarness
from models.environment.table import TableEnv
from models.environment.taskset import GamesTaskset

__all__ = ["DirectHarness", "GamesTaskset", "TableEnv"]
