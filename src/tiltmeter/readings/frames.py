"""Rows as a data frame, where pandas is installed: nothing else here needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import require

if TYPE_CHECKING:
    import pandas as pd


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per mapping, one column per key.

    >>> frame_of([{"word": "nurse", "lean": -0.2}]).shape
    (1, 2)
    """
    require("a data frame", "frames", "pandas")
    import pandas as pd

    return pd.DataFrame(list(rows))
