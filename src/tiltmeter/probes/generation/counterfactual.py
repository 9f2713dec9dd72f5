"""Counterfactual pairs: the same prompt with a name of one group or of another; does what is written change?

Four outcomes of the same texts: how kindly they speak (``sentiment``, by a scorer), how long they are, whether the
model refuses, and which of two options it takes where a scenario offers two.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Prompt, Question
from tiltmeter.probes.generation.answers import read_option, refuses
from tiltmeter.probes.generation.sampling import OF_TEXTS, Sampling, written_texts
from tiltmeter.probes.generation.scorers import find_scorer
from tiltmeter.probes.kind import Asked, CanAnswer, Kind, Measured, Options, Part, Replies
from tiltmeter.readings import Estimate, Evidence, Item, ItemMeaning, Poles, Statistic, interval_text
from tiltmeter.readings.details.generation import CounterfactualDetails, ScoredBy, Written
from tiltmeter.readings.scale import DIFFERENCE
from tiltmeter.statistics import power_of_mean
from tiltmeter.stimuli.lexicon.lexicon import Group, group
from tiltmeter.stimuli.sentences.scenarios import Scenario, load_scenarios

#: What is compared: the part's title, and what more of it is called.
_OUTCOMES: Mapping[str, tuple[str, str]] = {
    "sentiment": ("how kindly the texts speak", "kinder texts"),
    "length": ("how long the texts are", "longer texts"),
    "refusal": ("how often the model refuses", "more refusals"),
    "choice": ("how often the favourable option is taken", "the favourable option"),
}
_TARGETS = ("gender.female_names", "gender.male_names")


@dataclasses.dataclass(frozen=True, slots=True)
class Counterfactuals:
    """Scenarios, pairs of names, and what is compared in the texts about them."""

    scenarios: tuple[Scenario, ...]
    names: tuple[tuple[str, str], ...]
    labels: tuple[str, str]
    outcome: str
    scorer: str
    sampling: Sampling

    @property
    def compared(self) -> list[Scenario]:
        """Options are taken where they are offered, texts compared where none are."""
        if self.outcome == "refusal":
            return list(self.scenarios)
        return [one for one in self.scenarios if bool(one.options) == (self.outcome == "choice")]

    def prompts(self, scenario: Scenario, person: str) -> list[Prompt]:
        return self.sampling.prompts(scenario.about(person))


def _make(
    *, data: str | Path | None = None, targets: Sequence[Any] | None = None, names: int = 8, outcome: str | None = None,
    scorer: str = "sentiment", samples: int = 1, temperature: float = 1.0, max_tokens: int = 48,
) -> list[Part[Counterfactuals]]:  # fmt: skip
    """The sentiment of the texts first, then the other outcomes."""
    if outcome is not None and outcome not in _OUTCOMES:
        raise unknown("outcome of counterfactual", str(outcome), _OUTCOMES)
    find_scorer(scorer)
    chosen = list(targets or _TARGETS)
    if len(chosen) != 2:
        raise BadInput(f"counterfactual compares two groups of names, not {len(chosen)}: give two targets")
    groups = [group(one) for one in chosen]
    if not isinstance(names, int) or isinstance(names, bool) or names < 2:
        raise BadInput(f"names of counterfactual is how many names of each group are used, at least 2, not {names!r}")
    pairs = _pairs(groups, names)
    scenarios, sampling = load_scenarios(data), Sampling(samples, temperature, max_tokens)
    labels = (groups[0].label, groups[1].label)
    dimension = next((one.dimension for one in groups if getattr(one, "dimension", "")), "gender")
    parts = []
    for name in [outcome] if outcome else _OUTCOMES:
        stimuli = Counterfactuals(scenarios, pairs, labels, name, scorer, sampling)
        if stimuli.compared:
            title = f"{labels[0]} and {labels[1]} in the same prompts: {_OUTCOMES[name][0]}"
            parts.append(Part("" if name in ("sentiment", outcome) else name, title, stimuli, dimension))
    if not parts or parts[0].name:
        raise BadInput("these scenarios offer nothing to compare: add some without options, or name another outcome")
    return parts


def _pairs(groups: Sequence[Group], n: int) -> tuple[tuple[str, str], ...]:
    """Names paired by lot: none is another's partner."""
    rng = np.random.default_rng(0)
    drawn = [[one.texts[i] for i in rng.permutation(len(one.texts))] for one in groups]
    both = set(drawn[0]) & set(drawn[1])
    first, second = ([name for name in some if name not in both][:n] for some in drawn)
    if min(len(first), len(second)) < 2:
        raise BadInput("counterfactual needs at least two names of each group that are not in the other")
    return tuple(zip(first, second, strict=False))


def _ask(stimuli: Counterfactuals, can: CanAnswer) -> Asked | None:
    if not can(Question.GENERATE):
        return None
    prompts = [
        prompt
        for scenario in stimuli.compared
        for pair in stimuli.names
        for person in pair
        for prompt in stimuli.prompts(scenario, person)
    ]
    return {Question.GENERATE: list(dict.fromkeys(prompts))}


@dataclasses.dataclass(frozen=True, slots=True)
class _Versions:
    """The two versions of a prompt, as many samples as both have a value for."""

    scenario: Scenario
    names: str
    first: float
    second: float
    example: tuple[str, str]


def _measure(stimuli: Counterfactuals, replies: Replies, options: Options) -> Measured:
    scorer = find_scorer(stimuli.scorer)
    texts = written_texts(replies)
    values = _values(stimuli, texts)
    pairs, unread = _compared(stimuli, texts, values)
    if len({pair.scenario.id for pair in pairs}) < 2:
        raise BadInput(
            f"of {len(texts)} texts, {unread} take no option: nothing is left to compare in two scenarios"
            if unread
            else "counterfactual pairs need at least two scenarios"
        )
    if unread:
        replies.leave_out(f"{unread} answers", "they take neither option, or both: their pair is left out")
    scenarios, names = [pair.scenario.id for pair in pairs], [pair.names for pair in pairs]
    first, second = ([getattr(pair, side) for pair in pairs] for side in ("first", "second"))
    test = {"permutations": options.permutations, "seed": options.seed}
    result = measures.counterfactual(first, second, scenarios=scenarios, names=names, **test)
    differences = np.subtract(first, second)
    by_kind = {
        kind: float(np.mean([one for one, pair in zip(differences, pairs, strict=True) if pair.scenario.kind == kind]))
        for kind in dict.fromkeys(pair.scenario.kind for pair in pairs)
    }
    scored = None
    if stimuli.outcome == "sentiment":
        people = [list(some) for some in zip(*stimuli.names, strict=True)]
        scored = ScoredBy(scorer.name, scorer.gap(*people))
    refused = sum(map(refuses, texts.values()))
    sampling = stimuli.sampling
    effect = Estimate(
        f"difference in {stimuli.outcome}",
        result.difference,
        DIFFERENCE,
        result.ci,
        result.p_value,
        "two-sided",
        result.exact,
    )
    more = _OUTCOMES[stimuli.outcome][1]
    by_names = () if result.by_names is None else (("other names", result.by_names.p_value),)
    return Measured(
        effect,
        Poles(*(f"{label} → {more}" for label in stimuli.labels)),
        _words(stimuli, result, scored, refused, len(texts)),
        tuple(_item(pair) for pair in pairs),
        ItemMeaning(f"{stimuli.outcome} with the first name less that with the second", Poles(*stimuli.labels)),
        Statistic("mean"),
        n_units=result.by_scenario.n_clusters,
        details=CounterfactualDetails(
            outcome=stimuli.outcome,
            written=Written(sampling.samples, sampling.temperature, sampling.max_tokens, len(texts), refused),
            scorer=scored,
            result=result,
            by_kind=by_kind,
            unread=unread,
        ),
        evidence=Evidence((("other scenarios", result.by_scenario.p_value), *by_names), ()),
        power=power_of_mean(differences, clusters=scenarios, permutations=options.permutations),
    )


def _values(stimuli: Counterfactuals, texts: Mapping[Prompt, str]) -> dict[tuple[str, Prompt], float | None]:
    """The outcome of each text, None where it has none, by scenario and prompt."""
    asked = [
        (scenario, prompt)
        for scenario in stimuli.compared
        for pair in stimuli.names
        for person in pair
        for prompt in stimuli.prompts(scenario, person)
    ]
    written = [texts[prompt] for _, prompt in asked]
    values: Sequence[float | None]
    if stimuli.outcome == "sentiment":
        values = find_scorer(stimuli.scorer)(written)
    elif stimuli.outcome == "length":
        values = [float(len(text.split())) for text in written]
    elif stimuli.outcome == "refusal":
        values = [float(refuses(text)) for text in written]
    else:
        taken = [
            None if refuses(text) else read_option(text, scenario.options or ())
            for (scenario, _), text in zip(asked, written, strict=True)
        ]
        values = [None if place is None else float(place == 0) for place in taken]
    return {(scenario.id, prompt): value for (scenario, prompt), value in zip(asked, values, strict=True)}


def _compared(
    stimuli: Counterfactuals, texts: Mapping[Prompt, str], values: Mapping[tuple[str, Prompt], float | None]
) -> tuple[list[_Versions], int]:
    pairs, unread = list[_Versions](), 0
    for scenario in stimuli.compared:
        for one, two in stimuli.names:
            versions = list(zip(stimuli.prompts(scenario, one), stimuli.prompts(scenario, two), strict=True))
            read = [tuple(values[scenario.id, prompt] for prompt in version) for version in versions]
            unread += sum(value is None for both in read for value in both)
            whole = [both for both in read if None not in both]
            if whole:
                first, second = (float(np.mean([both[side] for both in whole])) for side in (0, 1))
                shown = texts[versions[0][0]], texts[versions[0][1]]
                pairs.append(_Versions(scenario, f"{one}/{two}", first, second, shown))
    return pairs, unread


def _item(pair: _Versions) -> Item:
    columns: dict[str, Any] = {"names": pair.names, "first": pair.first, "second": pair.second}
    written = {"text_first": pair.example[0], "text_second": pair.example[1]}
    label = f"{pair.scenario.about(pair.names)}"
    return Item(label, pair.scenario.id, pair.scenario.kind, pair.first - pair.second, {**columns, **written})


def _words(
    stimuli: Counterfactuals, result: measures.CounterfactualResult, scored: ScoredBy | None, refused: int, texts: int
) -> str:
    one, two = stimuli.labels
    digits = 1 if stimuli.outcome == "length" else 3
    what = {
        "sentiment": f"the mean score of the texts (scorer {stimuli.scorer}, from -1 to 1)",
        "length": "the mean number of words",
        "refusal": "the share of refusals",
        "choice": "the share of favourable options",
    }[stimuli.outcome]
    words = (
        f"In {result.by_scenario.n_clusters} scenarios with nothing but the name changed, {what} is "
        f"{result.first:.{digits}f} with {one} and {result.second:.{digits}f} with {two}: a difference of "
        f"{result.difference:+.{digits}f} ({interval_text(result.ci, digits=digits)}; 0 is level)."
    )
    if scored is not None:
        words += f" The scorer itself rates the names {scored.own_gap:+.3f} apart on neutral sentences."
    return f"{words} {refused} of {texts} texts refuse or are empty." if refused else words


KIND = Kind(
    "counterfactual",
    "Does what a model writes change when only the name in the prompt changes?",
    "tiltmeter's own scenarios; after Huang et al. 2020 (counterfactual evaluation of sentiment, Findings of EMNLP) "
    "and Wan et al. 2023 (reference letters, Findings of EMNLP)",
    "the same request about another person should get an equally kind, long and favourable answer.",
    Question.GENERATE.about,
    _make,
    _ask,
    _measure,
    (
        *OF_TEXTS,
        "That an answer should not change with the name is tiltmeter's idea of equal treatment; where a group has "
        "particular needs, a different answer may be better.",
        "First names stand for a group as they are mostly used in the United States; they also signal age, class and "
        "region.",
    ),
)
