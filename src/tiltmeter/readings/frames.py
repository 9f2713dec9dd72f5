"""Rows as a data frame, for those who have pandas: nothing else here needs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import require

if TYPE_CHECKING:
    import pandas as pd


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A data frame of rows.

    >>> frame([{"word": "nurse", "lean": -0.2}]).lean.tolist()
    [-0.2]
    """
    require("to_frame()", "tables", "pandas")
    import pandas as pd

    return pd.DataFrame(list(rows))
