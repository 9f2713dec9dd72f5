"""What bias to plant: a share of one group for every occupation, and the versions a text is made in."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import at_home, read_yaml
from tiltmeter.lab.reference.planted_text import check_shares, group_patterns, patterns, planted, sentences
from tiltmeter.stimuli import group
from tiltmeter.stimuli.sentences.sentence import Sentence

Version = Literal["biased", "balanced", "null"]
_KEYS = ("probabilities", "groups")
_ROUNDING = 1e-6


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The share of the first group (of he, where no ``groups`` of a lexicon are named) by occupation.

    >>> plan = Plan({"nurse": 0.2, "plumber": 0.8, "cook": 0.5})
    >>> plan.at(0.95).probabilities
    {'nurse': 0.05, 'plumber': 0.95, 'cook': 0.5}
    """

    probabilities: Mapping[str, float]
    groups: tuple[str, str] | None = None

    @property
    def marks(self) -> frozenset[str]:
        """Every word of its texts that says a group."""
        return (patterns() if self.groups is None else group_patterns(*self.groups)).marks

    def at(self, dose: float) -> Plan:
        """The same order with another strength: the occupation farthest from one half gets the dose.

        A dose of .5 is no bias. Distances from one half keep their proportions.
        """
        if not 0.5 <= dose <= 1:
            raise BadInput(f"a dose must be from 0.5 (no bias) to 1, not {dose}")
        farthest = max(abs(share - 0.5) for share in self.probabilities.values())
        if farthest == 0:
            raise BadInput("every probability is 0.5, so no dose can make it stronger: give at least one other")
        scale = (dose - 0.5) / farthest
        shares = {word: round(0.5 + scale * (share - 0.5), 6) for word, share in self.probabilities.items()}
        return dataclasses.replace(self, probabilities=shares)

    def text(self, *, n: int, seed: int, version: Version = "biased") -> list[Sentence]:
        """Sentences with these shares (biased), with one half throughout (balanced), or by tossing a coin (null).

        A balanced text has no bias at all, a null one what chance gives.
        """
        if version not in get_args(Version):
            raise unknown("version of a text", version, get_args(Version))
        level = dict.fromkeys(self.probabilities, 0.5)
        shares = self.probabilities if version == "biased" else level
        return sentences(shares, n=n, seed=seed, groups=self.groups, quota=version != "null")


#: Without a file: every shipped occupation in the order of its share of women.
USUAL = Plan(planted(0.9))


def read_plan(path: Path | str, *, warn: Callable[[str], None] = lambda _: None) -> Plan:
    """A plan from a YAML file: ``probabilities: {nurse: 0.1, ...}`` and, where wanted, ``groups: [first, second]``.

    A share may be written as ``{male: 0.6, female: 0.4}``. Occupations that no lexicon here knows go to ``warn``:
    they may be meant, or mistyped.
    """
    path = at_home(path)
    content = read_yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get("probabilities"), dict):
        raise BadInput(f"{path.name}: write probabilities: {{nurse: 0.1, engineer: 0.9}}, a share for each occupation")
    for key in content:
        if key not in _KEYS:
            raise unknown(f"key of {path.name}", str(key), _KEYS)
    if not content["probabilities"]:
        raise BadInput(f"{path.name}: probabilities name no occupation")
    occupations, shares = group("occupations.all").texts, dict[str, float]()
    for word, value in content["probabilities"].items():
        if not isinstance(word, str) or not re.fullmatch(r"\w[\w' -]*", word):
            raise BadInput(f"{path.name}: {word!r} is not an occupation: write a word, such as analyst")
        shares[word] = _share(path.name, word, value)
    check_shares(shares)
    if unlisted := [word for word in shares if word not in occupations]:
        named = ", ".join(unlisted)
        warn(f"{path.name}: {named}: not among the {len(occupations)} shipped occupations, taken as written")
    groups = content.get("groups")
    if groups is None:
        return Plan(shares)
    if not isinstance(groups, list) or len(groups) != 2:
        raise BadInput(f"{path.name}: groups must be two addresses, e.g. [identity.black_names, identity.white_names]")
    first, second = map(str, groups)
    group_patterns(first, second)  # says now what is wrong with them
    return Plan(shares, (first, second))


def _share(file: str, word: str, value: Any) -> float:
    """The share of men as a number, or as the shares of men and women."""
    if isinstance(value, dict) and set(value) == {"male", "female"}:
        male, female = (_share(file, word, value[side]) for side in ("male", "female"))
        if abs(male + female - 1) > _ROUNDING:
            raise BadInput(f"{file}: the shares of men and women for {word} must sum to 1, not {male + female:g}")
        return male
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{file}: the probability for {word} must be a number from 0 to 1, not {value!r}")
    return float(value)
