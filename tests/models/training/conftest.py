"""A network small enough to be made for every test."""

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from models.training.network import Network

# Before torch starts its threads: of matrices this small, more of them make slower ones.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture
def network() -> "Network":
    """A network of random weights."""
    pytest.importorskip("torch")
    from models.training.network import Network
    from models.training.settings import Shape

    return Network(Shape(width=32, layers=2, heads=2, hidden=48, context=64), seed=1)
