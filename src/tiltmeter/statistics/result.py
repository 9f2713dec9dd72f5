"""What every computed value has in common: it is frozen, and it turns into plain Python values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

#: What needs no conversion, and is most of what there is.
_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


def plain(value: Any) -> Any:
    """Nested results, arrays and numpy scalars as JSON-ready Python values.

    >>> plain({"a": np.float64(0.5), "b": np.arange(2)})
    {'a': 0.5, 'b': [0, 1]}
    """
    if type(value) in _AS_IT_IS:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """Base of the frozen results of measures and statistics."""

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready Python values."""
        converted: dict[str, Any] = plain(self)
        return converted
