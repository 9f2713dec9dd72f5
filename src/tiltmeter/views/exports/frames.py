"""Tables for a spreadsheet or a program: of an audit, one row per reading, or of the items of a reading."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: A spreadsheet takes a cell that begins so for a formula and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(frame: pd.DataFrame) -> str:
    """A table as CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it."""
    texts = frame.select_dtypes(exclude="number").columns
    frame[texts] = frame[texts].map(_harmless)
    csv: str = frame.to_csv(index=False, lineterminator="\n")
    return csv


def to_parquet(frame: pd.DataFrame) -> bytes:
    """A table as Parquet, with every number as it is."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
