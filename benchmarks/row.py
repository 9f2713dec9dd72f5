"""One line of the table that `make bench` prints at the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """``ratio``: how many times as fast as the peer; ``met`` is None where nothing was promised."""

    what: str
    ours: str
    peer: str = "-"
    ratio: float | None = None
    target: str = "-"
    met: bool | None = None


def show(rows: Iterable[Row]) -> None:
    """Print rows as a table."""
    print(f"{'what':<64}{'ours':>16}{'peer':>26}{'ratio':>12}  {'target':<30}met")
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:,.0f} x" if row.ratio >= 10 else f"{row.ratio:.2f} x"
        met = {True: "yes", False: "NO", None: "-"}[row.met]
        print(f"{row.what:<64}{row.ours:>16}{row.peer:>26}{ratio:>12}  {row.target:<30}{met}")
