"""Occupations that lean by a planted amount."""

from __future__ import annotations

import numpy as np

from tests.planted import stacked, vector, words
from tiltmeter.stimuli import group, matched_words

JOBS = group("occupations.all")
GENDERS = {"gender.female_terms": 0.8, "gender.male_terms": -0.8}


def jobs(lean: float, slope: float = 0.0) -> dict[str, np.ndarray]:
    """Occupations that lean by an amount, and by their share of women times a slope besides; men are at -."""
    ordered = sorted(JOBS.words, key=lambda word: word.properties["female_share"])
    found = {}
    for rank, word in enumerate(ordered):
        # Neighbours in share lean to opposite sides, so that nothing but the slope follows the share.
        own = 0.2 * (-1) ** (rank + rank // 2)
        found[word.text] = vector(word.text, lean + own + slope * (word.properties["female_share"] / 100 - 0.5))
    return found | words(GENDERS)


def job_sets(model: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        stacked(model, JOBS.texts),
        stacked(model, group("gender.female_terms").texts),
        stacked(model, group("gender.male_terms").texts),
    )


def gender_kin() -> dict[str, object]:
    """What the lexicon says of the two sets of attributes, as measures along a direction take it."""
    female, male = (group(f"gender.{side}_terms") for side in ("female", "male"))
    partners = [(female.texts.index(one), male.texts.index(two)) for one, two in matched_words(female, male)]
    return {"partners": partners, "families": (None, female.families, male.families)}
