"""What a check allows: a YAML file with tolerances and limits, read strictly."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_yaml

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
#: Pairing finds changes far too small to matter; less than this on its own, in d or as a share, is let go.
TOLERANCE = 0.02


class Rule(BaseModel):
    """What holds for one probe: ``tolerance`` and ``limit`` in the unit of its effect, counted from its level.

    ``floor`` is the SD that harmless changes of the model give the effect, where it is known better than it was
    measured; 0 asks for more than the items' noise alone.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tolerance: NotNegative | None = None
    limit: NotNegative | None = None
    floor: NotNegative | None = None
    ignore: bool = False


class Policy(BaseModel):
    """``alpha``: how many of a hundred checks of equal models may fail, as a share. ``probes``: rules by id or pattern.

    >>> Policy(probes={"gender-*": Rule(limit=0.8)}).rule("gender-career").limit
    0.8
    >>> Policy().rule("flowers-insects", control=True).ignore
    True
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    tolerance: NotNegative = TOLERANCE
    probes: dict[str, Rule] = {}
    models: dict[str, str] = {}

    def names(self, probe: str) -> str | None:
        """What the policy calls a probe: its own name, or else the first pattern that fits."""
        patterns = (pattern for pattern in self.probes if fnmatchcase(probe, pattern))
        return probe if probe in self.probes else next(patterns, None)

    def rule(self, probe: str, *, control: bool = False) -> Rule:
        """The rule of a probe. A control shows that the instrument works; that it leans is no harm."""
        name = self.names(probe)
        return Rule(ignore=control) if name is None else self.probes[name]

    def tolerance_of(self, rule: Rule) -> float:
        return self.tolerance if rule.tolerance is None else rule.tolerance

    def check_names(self, probes: Iterable[str]) -> None:
        """A rule that fits nothing is a typing error, which must not pass for a rule that is kept."""
        names = sorted(set(probes))
        for pattern in self.probes:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise unknown("probe in the policy", pattern, names)


def load_policy(path: Path) -> Policy:
    """A policy from a YAML file."""
    if not path.is_file():
        raise BadInput(f"there is no policy {path}: give a YAML file")
    raw = read_yaml(path)
    try:
        return Policy.model_validate({} if raw is None else raw)
    except ValidationError as error:
        raise BadInput(f"{path.name}: {_complaint(error.errors())}") from None


def _complaint(complaints: list[Any]) -> str:
    first = next((one for one in complaints if one["type"] == "extra_forbidden"), complaints[0])
    *above, name = [str(step) for step in first["loc"]] or [""]
    if first["type"] == "extra_forbidden":
        return ": ".join([*above, str(unknown("key", name, (Rule if above else Policy).model_fields))])
    place = ": ".join([*above, name]).strip(": ")
    message = (
        "should be a mapping of keys" if first["type"] == "model_type" else first["msg"][:1].lower() + first["msg"][1:]
    )
    return f"{place}: {message}" if place else f"a policy {message}"
