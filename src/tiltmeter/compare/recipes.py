"""How an effect follows from its items: one recipe for each kind of item, told by its columns.

A recipe is used only where it gives back the effect of the reading, to six digits: whoever adds a probe with other
items gets a comparison without pairing, never a wrong one.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tiltmeter.compare import weighted as statistics
from tiltmeter.compare.unit_tables import Item, Table, make_table
from tiltmeter.readings import Reading
from tiltmeter.statistics.differences import Statistic, align
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.proportions import preferred

Scores = Callable[[Item], tuple[float, ...] | None]
_CLOSE = 1e-6
_MOST_GROUPS = 4
_CORRELATED = (("share_he", "share_men"), ("lean", "neighbour_share"), ("effect", ""))
_AVERAGED = ("gap", "position", "inner_product", "difference", "association", "lean")
_SIZES = ("cosine", "bias")


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """``read`` takes the scores out of a reading, ``statistic`` makes the effect of them.

    ``design`` says what of the scores the effect is about (groups, a line, a mean), where the rest is spread that the
    effect is measured by; None where it is measured by itself. ``margins`` is the same for the scores of which a share
    only counts the signs.
    """

    read: Callable[[Reading], Table | None]
    statistic: Callable[[Table], Statistic]
    design: Callable[[Table], Floats] | None = None
    margins: Recipe | None = None

    def gives_back(self, reading: Reading) -> Table | None:
        """The scores of the reading, where its effect follows from them by this recipe."""
        table = self.read(reading)
        if table is None:
            return None
        with np.errstate(all="ignore"):
            value = self.value(table)
        close = abs(value - reading.effect.value) <= _CLOSE * max(1.0, abs(reading.effect.value))
        return table if close else None

    def value(self, table: Table) -> float:
        """The effect."""
        return float(self.statistic(table)(np.ones((1, len(table.unit_strata))))[0])

    def aligned(self, second: Table, first: Table) -> Statistic | None:
        """The statistic of the second table once the first one's effect is imposed on it; None where it has no design.

        A property that the scores are related to must be the same in both: it belongs to the words, not to a model.
        """
        if self.design is None:
            return None
        fixed = 1 if self.design is _line else first.scores.shape[1]
        if not np.array_equal(first.scores[:, fixed:], second.scores[:, fixed:]):
            return None
        moved = align(second.scores[:, :fixed], first.scores[:, :fixed], self.design(first), first.row_weights)
        return self.statistic(second.with_scores(np.concatenate([moved, second.scores[:, fixed:]], axis=1)))

    def leverage(self, table: Table) -> Floats | None:
        """How much each unit's score counts for the effect; None where all count alike."""
        if self.design is not _line:
            return None
        fact = table.means(1)
        from_mean: Floats = fact - fact.mean()
        return from_mean


def find_recipe(first: Reading, second: Reading) -> tuple[Recipe, Table, Table] | None:
    """The first recipe that gives back the effects of both readings, with the scores of both."""
    for recipe in _candidates(first) if first.items and second.items else ():
        tables = recipe.gives_back(first), recipe.gives_back(second)
        if tables[0] is not None and tables[1] is not None:
            return recipe, tables[0], tables[1]
    return None


def _candidates(reading: Reading) -> Iterator[Recipe]:
    columns = list(reading.items[0])
    has = set(columns).issuperset
    if has({"word", "group"}) and {"lean", "association"} & set(columns):
        yield from _differences(reading, "lean" if "lean" in columns else "association")
    yield from _shares(columns)
    for prefix, statistic, design in (("lean to ", statistics.eta, _groups), ("cos to ", statistics.spearman, None)):
        named = [column for column in columns if column.startswith(prefix)]
        if len(named) >= 2 and has({"word"}):
            yield Recipe(_reader(_numbers(*named), stratum="group" if design else None), statistic, design)
    if has({"word"}):
        yield from _of_words(columns)


def _of_words(columns: Sequence[str]) -> Iterator[Recipe]:
    for first, second in _CORRELATED:
        second = second or columns[-1]  # wefat calls the property what the lexicon calls it
        if first in columns and second in columns:
            yield Recipe(_reader(_numbers(first, second)), statistics.pearson, _line)
    if {"lean", "share_men"} <= set(columns):
        yield Recipe(_reader(_numbers("lean", "share_men")), statistics.spearman)
    for column in _AVERAGED:
        if column in columns:
            yield Recipe(_reader(_numbers(column)), statistics.mean_of_units)
    for column in _SIZES:
        if column in columns:
            yield Recipe(_reader(_size(column)), statistics.mean_of_units)
    distances = [column for column in columns if column.startswith("distance to ")]
    if distances:
        yield Recipe(_reader(_average(distances)), statistics.mean_of_units)
    if "lean" in columns:
        yield Recipe(_reader(_numbers("lean")), statistics.sd)
    if "negative_share" in columns:
        yield Recipe(_reader(_numbers("negative_share")), statistics.divergence)


def _differences(reading: Reading, column: str) -> Iterator[Recipe]:
    """d between any two of the groups that occur; whichever it is gives back the effect."""
    groups = list(dict.fromkeys(item["group"] for item in reading.items))
    if len(groups) > _MOST_GROUPS:
        return
    for pair in itertools.permutations(groups, 2):
        for statistic in (statistics.d_of_rows, statistics.d_of_units):
            yield Recipe(_between(column, pair), statistic, _groups)


def _shares(columns: Sequence[str]) -> Iterator[Recipe]:
    has = set(columns).issuperset
    if has({"score_stereotyped", "score_other", "prefers"}):
        yield _share(_preference_of_pair, None)
    if has({"log_odds_men", "expected", "prefers", "occupation"}):
        yield _share(_preference_of_pronoun, "occupation")
    if has({"score_stereotype", "score_anti_stereotype", "target"}):
        yield _share(_preference_of_example, "target", statistics.mean_of_units)
    if has({"corrected_1", "corrected_2", "lean", "word"}):
        yield _share(_side, "word")
    if has({"first", "second", "word"}):
        yield Recipe(_reader(_votes), statistics.mean)


def _share(scores: Scores, unit: str | None, statistic: Callable[[Table], Statistic] = statistics.mean) -> Recipe:
    """A share of items on one side (first score), and how far they are on it (second score)."""

    def margin(item: Item) -> tuple[float, ...] | None:
        found = scores(item)
        return None if found is None else found[1:]

    margins = Recipe(_reader(margin, unit=unit), statistics.mean_over_sd, _level)
    return Recipe(_reader(scores, unit=unit), statistic, margins=margins)


def _reader(
    scores: Scores, *, unit: str | None = "word", stratum: str | None = None
) -> Callable[[Reading], Table | None]:
    return lambda reading: make_table(reading.items, scores, unit=unit, stratum=stratum)


def _between(column: str, pair: tuple[str, str]) -> Callable[[Reading], Table | None]:
    def read(reading: Reading) -> Table | None:
        # The first stratum of the table is the first group, whatever the order of the items.
        items = [item for group in pair for item in reading.items if item["group"] == group]
        table = make_table(items, _numbers(column), stratum="group")
        return table if table and len(set(table.unit_strata)) == 2 else None

    return read


def _numbers(*columns: str) -> Scores:
    def scores(item: Item) -> tuple[float, ...] | None:
        found = tuple(float(item[column]) for column in columns if item.get(column) is not None)
        return found if len(found) == len(columns) else None

    return scores


def _size(column: str) -> Scores:
    return lambda item: (abs(item[column]),)


def _average(columns: Sequence[str]) -> Scores:
    return lambda item: (sum(item[column] for column in columns) / len(columns),)


def _preference_of_pair(item: Item) -> tuple[float, ...]:
    won = {"stereotyped": 1.0, "neither": 0.5}.get(item["prefers"], 0.0)
    return won, item["score_stereotyped"] - item["score_other"]


def _preference_of_pronoun(item: Item) -> tuple[float, ...] | None:
    expected = item["expected"]
    if expected is None:
        return None
    won = 0.5 if item["prefers"] == "neither" else float(item["prefers"] == expected)
    return won, item["log_odds_men"] if expected == "men" else -item["log_odds_men"]


def _preference_of_example(item: Item) -> tuple[float, ...]:
    one, two = item["score_stereotype"], item["score_anti_stereotype"]
    return float(preferred(np.array(one), np.array(two))), one - two


def _side(item: Item) -> tuple[float, ...] | None:
    return None if item["lean"] == 0 else (float(item["lean"] > 0), item["lean"])


def _votes(item: Item) -> tuple[float, ...] | None:
    votes = [item[column] for column in ("first", "second") if item[column] is not None]
    return (sum(vote == 1 for vote in votes) / len(votes),) if votes else None


def _groups(table: Table) -> Floats:
    names = list(dict.fromkeys(table.unit_strata))
    of_units = np.array([[float(stratum == name) for name in names] for stratum in table.unit_strata])
    return of_units[table.index]


def _line(table: Table) -> Floats:
    return np.stack([np.ones(len(table.scores)), table.scores[:, 1]], axis=1)


def _level(table: Table) -> Floats:
    return np.ones((len(table.scores), 1))
