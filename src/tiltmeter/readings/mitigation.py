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
Pays: TypeAlias = Literal["yes", "perhaps", "no"]


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
    def pays(self) -> Pays:
        """Something leans less, nothing leans more, and the vectors are as good as before or nearly so.

        perhaps: the interval of the utility that is kept reaches to both sides of what is asked for.
        """
        if self.problem or not self.less or self.more:
            return "no"
        if self.utility_kept is None or self.utility_kept.ci.low >= KEEPS:
            return "yes"
        return "perhaps" if self.utility_kept.ci.high >= KEEPS else "no"

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
                    "undecided": f"Whether it is gone cannot be told: {how}",
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
class AnotherSplit(Result):
    """What came of a method where another seed had split the words; ``deciding`` readings, of which ``less`` and
    ``more`` lean so."""

    method: str
    seed: int
    less: int
    deciding: int
    more: int
    left: float | None
    kept: float | None
    pays: Pays
    problem: str = ""

    @classmethod
    def of(cls, outcome: MethodOutcome, *, seed: int) -> Self:
        shares = outcome.bias_left, outcome.utility_kept
        left, kept = (None if each is None else each.value for each in shares)
        counts = outcome.less, len(outcome.deciding), outcome.more
        return cls(outcome.method, seed, *counts, left, kept, outcome.pays, outcome.problem)


@dataclasses.dataclass(frozen=True, slots=True)
class Mitigation(Result):
    """A model before and after every method; ``fit`` and ``test`` are the two halves of the pairs.

    ``others`` is the same for other splits of the words, where it was measured more than once.
    """

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
    others: tuple[AnotherSplit, ...] = ()
    schema_version: int = _SCHEMA_VERSION

    def others_of(self, outcome: MethodOutcome) -> tuple[AnotherSplit, ...]:
        """What came of a method in other splits."""
        return tuple(each for each in self.others if each.method == outcome.method)

    def pays(self, outcome: MethodOutcome) -> Pays:
        """Over all splits: yes where it pays in each, no where it does not in most of them."""
        found = [outcome.pays, *(each.pays for each in self.others_of(outcome))]
        if set(found) == {"yes"}:
            return "yes"
        return "no" if 2 * found.count("no") > len(found) else "perhaps"

    @property
    def take(self) -> MethodOutcome | None:
        """The method that pays; of several the one with most readings that lean less, then the one that leaves least.

        Where none is sure to pay, one that perhaps does, at best one that keeps what is asked for itself.
        """

        def rank(each: MethodOutcome) -> tuple[bool, bool, int, float]:
            costs = each.utility_kept is not None and each.utility_kept.value < KEEPS
            left = each.bias_left.value if each.bias_left else 1.0
            return self.pays(each) != "yes", costs, -each.less, left

        return min((each for each in self.outcomes if self.pays(each) != "no"), key=rank, default=None)

    @property
    def recommendation(self) -> str:
        """Which method to take, in words, or that none pays; and how sure that is."""
        taken = self.take
        if taken is None:
            reasons = "; ".join(f"{each.method}: {self._why_not(each)}" for each in self.outcomes)
            return f"None of these methods pays on {self.model} ({reasons})."
        sure = self.pays(taken) == "yes"
        what = f"{'Take' if sure else 'Perhaps take'} {taken.method}: {taken.in_words().partition(': ')[2]}"
        if self.others:
            what += f" {self._over_splits(taken)}"
        if not sure:
            what += " Whether it pays is not certain"
            what += f": {reason}." if (reason := self._doubt(taken)) else "."
        for pays, verb in (("yes", "pays"), ("perhaps", "perhaps pays")):
            others = [each.method for each in self.outcomes if self.pays(each) == pays and each is not taken]
            if others:
                what += f" {_listed(others)} {verb if len(others) == 1 else verb[:-1]} too."
        if taken.trace == "hidden":
            what += " Do not treat the model as unbiased: the groups can still be found."
        return what

    def _splits_of(self, outcome: MethodOutcome) -> tuple[AnotherSplit, ...]:
        return AnotherSplit.of(outcome, seed=self.seed), *self.others_of(outcome)

    def _over_splits(self, outcome: MethodOutcome) -> str:
        """In how many splits it pays, and how far apart they are."""
        splits = self._splits_of(outcome)
        found = [each.pays for each in splits]
        counted = [f"in {found.count(some)} {verb}" for some, verb in _COUNTED if some in found]
        left, kept = (_between([getattr(each, name) for each in splits], " to ") for name in ("left", "kept"))
        ranges = f"{left} of the lean is left and {kept} of the utility is kept"
        return f"Of {len(found)} splits of the words, {_listed(counted)}; {ranges}."

    def split_rows(self) -> list[dict[str, str]]:
        """One row per method that was measured, from the lowest value to the highest of all splits, for a table."""
        rows = []
        for outcome in self.outcomes if self.others else ():
            splits = [each for each in self._splits_of(outcome) if not each.problem]
            counts = [(pays, sum(each.pays == pays for each in splits)) for pays, _ in _COUNTED]
            if splits:
                rows.append(
                    {
                        "method": outcome.method,
                        "splits": str(len(splits)),
                        "leans less": _count_between([each.less for each in splits], [e.deciding for e in splits]),
                        "leans more": _count_between([each.more for each in splits]),
                        "lean left": _between([each.left for each in splits]),
                        "utility kept": _between([each.kept for each in splits]),
                        "pays": ", ".join(f"{pays} in {count}" for pays, count in counts if count),
                    }
                )
        return rows

    def _doubt(self, outcome: MethodOutcome) -> str:
        """Why it is not sure that a method pays."""
        kept = outcome.utility_kept
        if kept is not None and kept.ci.low < KEEPS <= kept.ci.high:
            more = "" if self.others else "; --splits 5 measures with other splits of the words"
            return f"the interval of the utility that is kept reaches below and above {KEEPS:.0%}{more}"
        return "it does not in every split" if self.others else ""

    def _why_not(self, outcome: MethodOutcome) -> str:
        if outcome.pays != "no":
            return "does not pay in most splits of the words"
        return _why_not(outcome)

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
        return [_row(each, self.pays(each)) for each in self.outcomes]


#: How often a method pays, perhaps does and does not, as it is said.
_COUNTED: tuple[tuple[Pays, str], ...] = (("yes", "it pays"), ("perhaps", "it perhaps does"), ("no", "it does not"))


def _between(values: Sequence[float | None], to: str = "-") -> str:
    """The lowest and the highest share."""
    shares = [value for value in values if value is not None]
    low, high = (f"{value:.0%}" for value in (min(shares, default=0.0), max(shares, default=0.0)))
    return "nothing" if not shares else low if low == high else f"{low}{to}{high}"


def _count_between(counts: Sequence[int], of: Sequence[int] = ()) -> str:
    low, high = min(counts), max(counts)
    said = str(low) if low == high else f"{low}-{high}"
    return f"{said} of {max(of)}" if of else said


def _row(each: MethodOutcome, pays: Pays) -> dict[str, Any]:
    left, kept = each.bias_left, each.utility_kept
    return {
        "method": each.method,
        "leans less": f"{each.less} of {len(each.deciding)}" if not each.problem else "",
        "leans more": str(each.more) if not each.problem else "",
        "lean left": f"{left.value:.0%} [{left.ci.low:.0%}, {left.ci.high:.0%}]" if left else "",
        "trace": each.trace if not each.problem else each.problem,
        "utility kept": f"{kept.value:.1%} [{kept.ci.low:.1%}, {kept.ci.high:.1%}]" if kept else "",
        "pays": pays,
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
