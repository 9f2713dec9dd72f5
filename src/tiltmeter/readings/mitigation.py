"""What came of mitigation: for every method what moved, what is only hidden, what it cost, and which one to take."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from tiltmeter.errors import BadInput
from tiltmeter.files import at_home, read_json, write_atomically
from tiltmeter.readings.reading import reader_of
from tiltmeter.statistics import Interval, Result

FILE = "mitigation.json"
_SCHEMA_VERSION = 1
#: A test this near to guessing tells nothing that matters: the band of shares that count as level.
BAND = 0.05
#: A method pays if it keeps so much of what the vectors are used for.
KEEPS = 0.95

Trace: TypeAlias = Literal["hidden", "gone", "undecided", "not tested"]


#: What stands behind the title of a probe without the words that a method was fitted on.
WITHOUT_FIT_WORDS = " (held-out words)"


@dataclasses.dataclass(frozen=True, slots=True)
class Moved(Result):
    """One reading before and after. ``growth`` is how much further from level it is, and ``p_holm`` whether noise
    explains that, corrected for all readings of the method; ``real`` where it does not, and the growth matters.

    ``held_out`` readings leave out the words that the method was fitted on; of others, ``fit_words`` counts these.
    ``decides`` where the verdict rests on it: a reading of the dimension that the method is for, on words held out.
    """

    id: str
    title: str
    dimension: str
    statistic: str
    level: float
    before: float
    after: float
    difference: float
    ci: Interval
    p_holm: float
    growth: float
    real: bool
    held_out: bool
    fit_words: int
    decides: bool

    @property
    def measured(self) -> str:
        """What was measured, where it need not be said that words were held out."""
        return self.title.removesuffix(WITHOUT_FIT_WORDS)

    @property
    def verdict(self) -> str:
        """What became of it, in a word."""
        if not self.real:
            return "as far from level"
        return "leans more" if self.growth > 0 else "leans less"


@dataclasses.dataclass(frozen=True, slots=True)
class TraceTest(Result):
    """How well the groups can still be found, before and after; ``chance`` is what guessing gives."""

    name: str
    about: str
    chance: float
    before: float
    after: float
    ci: Interval
    n: int

    @property
    def verb(self) -> str:
        return "find" if self.name == "clusters" else "finds"

    @property
    def trace(self) -> Trace:
        """hidden: found more often than guessing; gone: no more than nearly as often as that."""
        if self.ci.low > self.chance + BAND:
            return "hidden"
        return "gone" if self.ci.high < self.chance + 2 * BAND and self.ci.low <= self.chance + BAND else "undecided"


@dataclasses.dataclass(frozen=True, slots=True)
class Utility(Result):
    """What the vectors are good for, before and after; ``kept`` is the share of it that is left, with an interval."""

    name: str
    about: str
    before: float
    after: float
    kept: float
    ci: Interval
    n: int


@dataclasses.dataclass(frozen=True, slots=True)
class Remainder(Result):
    """A share of what there was before, with an interval."""

    value: float
    ci: Interval


@dataclasses.dataclass(frozen=True, slots=True)
class MethodOutcome(Result):
    """What one method did; ``problem`` says why it did nothing."""

    method: str
    summary: str
    citation: str
    model: str
    moved: tuple[Moved, ...] = ()
    traces: tuple[TraceTest, ...] = ()
    utility: tuple[Utility, ...] = ()
    bias_left: Remainder | None = None
    utility_kept: Remainder | None = None
    left_out: tuple[str, ...] = ()
    problem: str = ""

    @property
    def deciding(self) -> tuple[Moved, ...]:
        return tuple(moved for moved in self.moved if moved.decides)

    @property
    def less(self) -> int:
        return sum(moved.real and moved.growth < 0 for moved in self.deciding)

    @property
    def more(self) -> int:
        """Readings that lean more, of any dimension: what a method must not do."""
        return sum(moved.real and moved.growth > 0 for moved in self.moved if not moved.fit_words)

    @property
    def trace(self) -> Trace:
        """Hidden where one test still finds it, gone where each finds nothing."""
        found = {test.trace for test in self.traces}
        if not found:
            return "not tested"
        return "hidden" if "hidden" in found else "gone" if found == {"gone"} else "undecided"

    @property
    def pays(self) -> bool:
        """Something leans less, nothing leans more, and the vectors are as good as before or nearly so."""
        kept = self.utility_kept is None or self.utility_kept.value >= KEEPS
        return not self.problem and self.less > 0 and self.more == 0 and kept

    def in_words(self) -> str:
        """One paragraph: the gain, whether it is real, the price."""
        if self.problem:
            return f"{self.method}: not measured ({self.problem})."
        n = len(self.deciding)
        said = [
            f"{self.method}: of {n} readings on unseen words or sentences {self.less} lean less"
            if n
            else f"{self.method}: no reading on unseen words or sentences"
        ]
        said[0] += f" and {self.more} lean more" if self.more else ""
        if self.bias_left:
            said[0] += f"; {self.bias_left.value:.0%} of the lean is left ({_range(self.bias_left.ci)})"
        found = max(self.traces, key=lambda test: test.ci.low - test.chance, default=None)
        if found is not None:
            guess = f"{found.before:.0%} before, {found.chance:.0%} by guessing"
            how = f"{found.about} {found.verb} the groups for {found.after:.0%} ({guess})"
            said.append(
                {
                    "hidden": f"The bias is hidden, not gone: {how}",
                    "gone": f"No test finds the groups again: {how}",
                    "undecided": f"Whether it is gone is unclear: {how}",
                }[self.trace if self.trace != "not tested" else "undecided"]
            )
        if self.utility_kept:
            worst = min(self.utility, key=lambda each: each.kept)
            said.append(
                f"{self.utility_kept.value:.0%} of the utility is kept ({_range(self.utility_kept.ci)}); "
                f"the largest loss is in {worst.name}: {worst.before:.3f} before, {worst.after:.3f} after"
            )
        return ". ".join(said) + "."


def _range(ci: Interval) -> str:
    return f"95% interval {ci.low:.0%} to {ci.high:.0%}"


@dataclasses.dataclass(frozen=True, slots=True)
class Mitigation(Result):
    """A model before and after every method; ``fit`` and ``test`` are the two halves of the pairs."""

    model: str
    revision: str
    suite: str
    dimension: str
    fit: tuple[tuple[str, ...], ...]
    test: tuple[tuple[str, ...], ...]
    seed: int
    outcomes: tuple[MethodOutcome, ...]
    seconds: float
    command: str = ""
    schema_version: int = _SCHEMA_VERSION

    @property
    def take(self) -> MethodOutcome | None:
        """Of the methods that pay the one with most readings that lean less, then the one that leaves least."""
        paying = [each for each in self.outcomes if each.pays]
        left = {each.method: each.bias_left.value if each.bias_left else 1.0 for each in paying}
        return min(paying, key=lambda each: (-each.less, left[each.method]), default=None)

    @property
    def recommendation(self) -> str:
        """Which method to take, in words, or that none pays."""
        taken = self.take
        if taken is None:
            reasons = "; ".join(f"{each.method}: {_why_not(each)}" for each in self.outcomes)
            return f"None of these methods pays on {self.model} ({reasons})."
        others = [each.method for each in self.outcomes if each.pays and each is not taken]
        also = f" {_listed(others)} {'pays' if len(others) == 1 else 'pay'} too." if others else ""
        what = f"Take {taken.method}: {taken.in_words().partition(': ')[2]}{also}"
        if taken.trace == "hidden":
            what += " Do not treat the model as unbiased: the groups can still be found."
        return what

    def save(self, folder: Path) -> Path:
        path = folder / FILE
        write_atomically(
            path, (json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
        )
        return path

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """What ``save`` wrote."""
        path = at_home(folder) / FILE
        if not path.is_file():
            raise BadInput(f"{folder} holds no result of tiltmeter mitigate ({FILE} is missing)")
        values = read_json(path)
        if not isinstance(values, dict) or values.get("schema_version") != _SCHEMA_VERSION:
            raise BadInput(f"{path} was written by another version of tiltmeter: run tiltmeter mitigate again")
        try:
            loaded: Self = reader_of(cls).validate_python(values)
        except ValueError as error:
            reason = str(error).partition("\n")[0]
            raise BadInput(f"{path} is damaged ({reason}): run tiltmeter mitigate again") from None
        return loaded

    def rows(self) -> list[dict[str, Any]]:
        """One row per method, for a table."""
        return [_row(each) for each in self.outcomes]


def _row(each: MethodOutcome) -> dict[str, Any]:
    left, kept = each.bias_left, each.utility_kept
    return {
        "method": each.method,
        "leans less": f"{each.less} of {len(each.deciding)}" if not each.problem else "",
        "leans more": str(each.more) if not each.problem else "",
        "lean left": f"{left.value:.0%} [{left.ci.low:.0%}, {left.ci.high:.0%}]" if left else "",
        "trace": each.trace if not each.problem else each.problem,
        "utility kept": f"{kept.value:.1%} [{kept.ci.low:.1%}, {kept.ci.high:.1%}]" if kept else "",
        "pays": "yes" if each.pays else "no",
    }


def _why_not(each: MethodOutcome) -> str:
    if each.problem:
        return "not measured"
    if each.less == 0:
        return "no reading on unseen words or sentences leans less"
    if each.more:
        return f"{each.more} {'readings lean' if each.more > 1 else 'reading leans'} more"
    return f"keeps {each.utility_kept.value:.0%} of the utility" if each.utility_kept else ""


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
