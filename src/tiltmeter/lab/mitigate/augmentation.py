"""Language models taught anew: on a user's text and its counterfactual, or with a higher dropout.

The lab's fine-tuning engine does the work, so that a run that was killed resumes at its last checkpoint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tiltmeter import stimuli
from tiltmeter.errors import BadInput
from tiltmeter.files import read_text
from tiltmeter.lab.inject.fine_tuning import Dosage
from tiltmeter.lab.inject.injection import Lesson, Training, train, trainable
from tiltmeter.lab.mitigate.fit_words import WordSets
from tiltmeter.mitigation import swap_groups
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.stimuli import normalise
from tiltmeter.stimuli.languages import language

#: Names change places with names, as many as both lists have.
_NAMES = ("gender.female_names", "gender.male_names")
_HELD_OUT = 0.1
#: Webster et al. raise the usual .1 to as much.
DROPOUT = 0.15
#: A gentle touch: the model should unlearn a lean, not its language.
USUAL = Dosage(sentences=4_000, steps=200, rate=5e-5, look=25)


def read_texts(corpus: Sequence[str] | Path | None) -> list[str]:
    """The different texts of a file, one per line, or those that are given."""
    if not isinstance(corpus, Path):
        return list(corpus or ())
    lines = [normalise(line) for line in read_text(corpus).splitlines()]
    return list(dict.fromkeys(line for line in lines if line))


def held_out_texts(corpus: Sequence[str], *, seed: int) -> tuple[list[str], list[str]]:
    """The texts to learn from and those held out, by the seed."""
    order = np.random.default_rng(seed).permutation(len(corpus)).tolist()
    cut = max(1, int(len(corpus) * _HELD_OUT))
    return [corpus[place] for place in order[cut:]], [corpus[place] for place in order[:cut]]


def taught(
    method: str, spec: str, *, out: Path, sets: WordSets, corpus: Sequence[str], dosage: Dosage = USUAL
) -> tuple[TransformerModel, Training]:
    """The model after its lesson; ``out/model`` is an ordinary Transformers folder, ``out/text.json`` says what was
    left out of the text."""
    source = trainable(spec)
    made_of = {
        "method": method,
        "pairs": [list(members) for members in sets.sets],
        "corpus": hashlib.sha256("\n".join(corpus).encode()).hexdigest()[:16],
    }
    training = train(source, lambda: lesson(method, sets, corpus, dosage), out, dosage, made_of=made_of)
    return TransformerModel(str(out / "model")), training


def lesson(method: str, sets: WordSets, corpus: Sequence[str], dosage: Dosage) -> Lesson:
    """What is taught: texts that name a group, and for ``cda`` the same texts of the other group beside them.

    A text in which the role of a word cannot be told (her: his or him?) is left out, and counted.
    """
    rules, partners = language(sets.language).swaps, partners_of(sets)
    learn, test = held_out_texts(corpus, seed=dosage.seed)
    swapped = [(text, swap_groups(text, partners, rules=rules)) for text in learn]
    usable = [(text, each.text) for text, each in swapped if each.text is not None][: dosage.sentences]
    if not usable:
        raise BadInput(f"none of the {len(corpus):,} texts names a group of {sets.label}: give other texts or pairs")
    counts = {
        "texts": len(learn),
        "swapped": len(usable),
        "left out, the role of a word is unclear": sum(bool(each.open) for _, each in swapped),
        "left out, no word of a group": sum(not each.open and not each.swapped for _, each in swapped),
    }
    texts = [text for pair in usable for text in pair] if method == "cda" else [text for text, _ in usable]
    marks = frozenset(word.lower() for word in (*partners, *rules))
    return Lesson(texts, test, marks, {"counts": counts}, DROPOUT if method == "dropout" else None)


def partners_of(sets: WordSets) -> dict[str, str]:
    """The partner of every word, both ways; for gender also of names."""
    pairs = [(members[0], members[1]) for members in sets.sets]
    if sets.dimension == "gender":
        pairs += zip(*(stimuli.group(address).texts for address in _NAMES), strict=False)
    # The first pair of a word counts: her is in one with his and in another with him, which rules decide.
    partners: dict[str, str] = {}
    for one, two in pairs:
        partners.setdefault(one, two)
        partners.setdefault(two, one)
    return partners
