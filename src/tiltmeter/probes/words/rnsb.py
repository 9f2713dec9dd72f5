"""RNSB: is negative sentiment spread evenly over identity terms?"""

from __future__ import annotations

import numpy as np

from tiltmeter import measures
from tiltmeter.probes.kind import Measured, Options, Part
from tiltmeter.probes.words.word_sets import (
    PLEASANT,
    RELIGIONS,
    SomeGroups,
    WordStimuli,
    WordVectors,
    compared_sets,
    word_kind,
)
from tiltmeter.readings import SIZE, Estimate, ItemMeaning, Poles, Statistic, interval_text, p_text


def _make(*, targets: SomeGroups = RELIGIONS, attributes: SomeGroups = PLEASANT) -> list[Part[WordStimuli]]:
    return compared_sets("rnsb", targets, attributes, (1, 20), (2, 2))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    groups = vectors.targets()
    good, bad = vectors.attributes(at_least=5)
    found = measures.rnsb(
        np.concatenate([group.vectors for group in groups]), good.vectors, bad.vectors, seed=options.seed
    )
    effect = Estimate("KL from even shares", found.score, SIZE, found.ci, found.p_value, "greater", False)
    shares = np.split(np.array(found.shares), np.cumsum([len(group) for group in groups])[:-1])
    worst = groups[int(np.argmax([part.mean() for part in shares]))].label
    clear = effect.significant
    return Measured(
        effect,
        Poles(f"{worst} → {bad.label}"),
        f"Negative sentiment is spread {'unevenly' if clear else 'about as evenly as chance would'} over the words "
        f"(KL = {found.score:.3f}, {interval_text(found.ci, digits=3)}, {p_text(found.p_value)})"
        f"{f'; {worst} get most' if clear else ''}. The sentiment classifier behind it is right {found.accuracy:.0%} "
        "of the time.",
        tuple(item for group, part in zip(groups, shares, strict=True) for item in group.items(part.tolist())),
        ItemMeaning("share of negative sentiment"),
        Statistic("kl from even"),
        n_items=found.n,
        n_units=found.n,
    )


RNSB = word_kind(
    "rnsb",
    _measure,
    _make,
    summary="Relative negative sentiment: is it spread evenly over identity terms?",
    citation="Sweeney & Najafian 2019, ACL",
    idea="a sentiment classifier trained on the vectors should find identity terms equally negative.",
)
