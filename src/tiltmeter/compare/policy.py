"""What a check allows: a YAML file with tolerances and limits, read strictly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import at_home, read_yaml

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
#: Pairing finds changes far too small to matter; less than this on its own, in d or as a share, is let go.
TOLERANCE = 0.02
#: From which outcome of a probe on a check fails.
FailOn: TypeAlias = Literal["failed", "undecided"]


class Rule(BaseModel):
    """What holds for one probe: ``tolerance`` and ``limit`` in the unit of its effect, counted from its level.

    ``floor`` is the SD that harmless changes of the model give the effect, where it is known better than it was
    measured; 0 asks for more than the items' noise alone. ``matters`` is the smallest growth that matters, where that
    is not what the scale says: a probe that could hide as much is undecided.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tolerance: NotNegative | None = None
    limit: NotNegative | None = None
    floor: NotNegative | None = None
    matters: NotNegative | None = None
    ignore: bool = False


class Policy(BaseModel):
    """``alpha``: how many of a hundred checks of equal models may fail, as a share. ``probes``: rules by id or pattern.

    ``fail_on``: whether a check fails on failed probes alone, or also on undecided ones.

    >>> Policy(probes={"gender-*": Rule(limit=0.8)}).rule("gender-career").limit
    0.8
    >>> Policy().rule("flowers-insects", control=True).ignore
    True
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    tolerance: NotNegative = TOLERANCE
    fail_on: FailOn = "failed"
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


#: A policy as a user may give it: a YAML file, what stands in one, or the policy itself.
SomePolicy: TypeAlias = Policy | Mapping[str, Any] | str | Path


def load_policy(policy: SomePolicy | None, *, fail_on: str | None = None) -> Policy:
    """A policy from a YAML file or from what stands in one, the usual one for None; ``fail_on`` goes before its own.

    >>> load_policy({"tolerance": 0.1}, fail_on="undecided").fail_on
    'undecided'
    """
    if fail_on is not None and fail_on not in get_args(FailOn):
        raise unknown("outcome to fail on", fail_on, get_args(FailOn))
    chosen = policy if isinstance(policy, Policy) else _read(policy)
    return chosen if fail_on is None else chosen.model_copy(update={"fail_on": fail_on})


def _read(policy: Mapping[str, Any] | str | Path | None) -> Policy:
    if isinstance(policy, Mapping) or policy is None:
        name, raw = "the policy", policy
    else:
        path = at_home(policy)
        if not path.is_file():
            raise BadInput(f"there is no policy {path}: give a YAML file")
        name, raw = path.name, read_yaml(path)
    try:
        return Policy.model_validate({} if raw is None else raw)
    except ValidationError as error:
        raise BadInput(f"{name}: {_complaint(error.errors())}") from None


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
