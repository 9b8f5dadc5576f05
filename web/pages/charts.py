"""Where the library of the charts lies: in the package of plotly, so that nothing is fetched from
outside. A page that draws a chart loads it itself, from `/ui/plotly/plotly.min.js`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def charts_library() -> Path:
    """The folder with plotly's own `plotly.min.js`. Plotly itself is not imported."""
    spec = find_spec("plotly")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "package_data"
