"""WEFAT: does the lean of words follow a fact about them?"""

from __future__ import annotations

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.probes.kind import Measured, Options, Part
from tiltmeter.probes.words.word_sets import (
    GENDERS,
    OCCUPATIONS,
    SomeGroups,
    WordStimuli,
    WordVectors,
    compared_sets,
    statistics_options,
    word_kind,
)
from tiltmeter.readings import CORRELATION, Estimate, ItemMeaning, Poles, Statistic, interval_text, p_text


def _make(*, targets: SomeGroups = OCCUPATIONS, attributes: SomeGroups = GENDERS[::-1]) -> list[Part[WordStimuli]]:
    return compared_sets("wefat", targets, attributes, (1, 1), (2, 2))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=4)
    a, b = vectors.attributes(at_least=2)
    facts = vectors.words.targets[0].properties
    column = next((key for word in words.inputs for key in facts.get(word, {})), None)
    if column is None or any(column not in facts.get(word, {}) for word in words.inputs):
        raise BadInput(
            f"'{words.label}': WEFAT relates words to a number known of each (such as female_share), and not every "
            "word has one: add it in the lexicon"
        )
    values = [float(facts[word][column]) for word in words.inputs]
    found = measures.wefat(words.vectors, a.vectors, b.vectors, property=values, **statistics_options(options))
    related = found.correlation
    assert related is not None  # a property was given
    effect = Estimate("correlation r", related.r, CORRELATION, related.ci, related.p_value, "two-sided", False)
    name = column.replace("_", " ")
    numbers = f"r = {related.r:.2f}, {interval_text(related.ci)}, {p_text(related.p_value)}"
    return Measured(
        effect,
        Poles(f"high {name} → {a.label}", f"high {name} → {b.label}"),
        f"How much {words.label} lean towards {a.label} rather than {b.label} "
        f"{'follows' if related.r > 0 else 'runs against'} their {name} in the world ({numbers})."
        if effect.significant
        else f"How {words.label} lean between {a.label} and {b.label} is not clearly related to their {name} "
        f"({numbers}).",
        tuple(words.items(found.effect_sizes, **{"p_value": found.p_values, column: values})),
        ItemMeaning("effect of the word", Poles(a.label, b.label)),
        Statistic("pearson", ("value", column)),
        n_items=len(words),
        n_units=len(words),
    )


WEFAT = word_kind(
    "wefat",
    _measure,
    _make,
    summary="Does the lean of words follow a fact about them, e.g. occupations and their share of women?",
    citation="Caliskan, Bryson & Narayanan 2017, Science 356:183-186",
    idea="a word such as an occupation should not carry who is employed in it.",
)
