"""SAME: how far words lie along what separates the groups."""

from __future__ import annotations

from tiltmeter import measures
from tiltmeter.probes.kind import Measured, Options, Part
from tiltmeter.probes.words.word_sets import (
    GENDERS,
    OCCUPATIONS,
    SomeGroups,
    WordStimuli,
    WordVectors,
    compared_sets,
    word_kind,
)
from tiltmeter.readings import SIZE, Estimate, ItemMeaning, Poles, Statistic, interval_text
from tiltmeter.statistics import bootstrap_interval


def _make(*, targets: SomeGroups = OCCUPATIONS, attributes: SomeGroups = GENDERS[::-1]) -> list[Part[WordStimuli]]:
    return compared_sets("same", targets, attributes, (1, 1), (2, 20))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    sets = vectors.attributes()
    found = measures.same(words.vectors, [to.vectors for to in sets], seed=options.seed)
    poles, item_poles, detail = None, None, ""
    if found.skew is not None and found.stereotype is not None:
        # The effect is a size. Which way the words lean on the whole is another question, with an interval of its own.
        ci = bootstrap_interval(found.by_word, seed=options.seed)
        towards = sets[0].label if found.skew > 0 else sets[1].label
        clear = 0.0 not in ci
        poles = Poles(f"{words.label} → {towards}" if clear else "")
        item_poles = Poles(sets[0].label, sets[1].label)
        detail = (
            f" On the whole they lean {f'to {towards}' if clear else 'neither way clearly'} (skew {found.skew:+.3f}, "
            f"{interval_text(ci, digits=3)}); single words differ by {found.stereotype:.3f} (stereotype)."
        )
    return Measured(
        Estimate("mean bias", found.score, SIZE, found.ci),
        poles,
        f"{words.title} lie {found.score:.3f} along what separates {' and '.join(to.label for to in sets)} "
        f"({interval_text(found.ci, digits=3)}), where 0 is level and 1 the most.{detail}",
        tuple(words.items(found.by_word)),
        ItemMeaning("bias", item_poles),
        Statistic("mean of units", absolute=True),
        n_items=len(words),
        n_units=len(words),
    )


SAME = word_kind(
    "same",
    _measure,
    _make,
    summary="SAME: how far words lie along what separates the groups",
    citation="Schroeder, Schulz & Hammer 2022, arXiv:2203.14603; IJCNN 2024",
    idea="neutral words should have no part in the directions that separate groups.",
)
