"""The flat table of an audit, one row per reading: for a spreadsheet or a program."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from tiltmeter.readings import Audit

#: A spreadsheet takes a cell that begins so for a formula and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(audit: Audit) -> str:
    """CSV in UTF-8."""
    return csv_of(audit.to_frame())


def to_parquet(audit: Audit) -> bytes:
    """Parquet, with every number as it is."""
    return parquet_of(audit.to_frame())


def csv_of(frame: pd.DataFrame) -> str:
    """A table as CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it."""
    texts = frame.select_dtypes(exclude="number").columns
    frame[texts] = frame[texts].map(_harmless)
    csv: str = frame.to_csv(index=False, lineterminator="\n")
    return csv


def parquet_of(frame: pd.DataFrame) -> bytes:
    """A table as Parquet."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
