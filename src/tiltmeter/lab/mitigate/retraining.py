"""GloVe trained again on its own text, with what says a group kept in dimensions that are then taken away."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.lab.glove.glove import ABOUT, PARTS, VECTORS, load_report, train_glove
from tiltmeter.lab.mitigate.fit_words import WordSets
from tiltmeter.mitigation import Eraser
from tiltmeter.models import CachedModel, load
from tiltmeter.models.debiased import DebiasedModel, Fitted, save_debiased
from tiltmeter.stimuli import Group

NEUTRAL_GLOVE = "neutral_glove"
_FOLDER = "glove"


def begun(folder: Path) -> bool:
    """Whether a folder holds such vectors, whole or half trained."""
    return (folder / _FOLDER / ABOUT).is_file() or (folder / _FOLDER / PARTS).is_dir()


def trained_again(model: str | object, *, out: Path, sets: WordSets, corpus: Path | None) -> DebiasedModel:
    """Vectors of the text and the settings that a model of ``tiltmeter train glove`` was made with, the words of the
    sets as seeds of the groups; the reserved dimensions are taken away. The training knows these words alone."""
    path = getattr(load(model), "path", None)
    if path is None or path.name != VECTORS or not (path.parent / ABOUT).is_file():
        raise BadInput(
            f"{NEUTRAL_GLOVE} trains GloVe again on the text that it was made from: give vectors of tiltmeter train "
            f"glove, static:FOLDER/{VECTORS}"
        )
    before = load_report(path.parent)
    if before.reserved:
        raise BadInput(f"{path} is neutral GloVe already: give vectors that were trained without --neutral")
    if corpus is None or before.corpus != (corpus.name,):
        texts = ", ".join(before.corpus)
        raise BadInput(f"{NEUTRAL_GLOVE} trains {path} again on its own text: give {texts} with --corpus")
    groups = [
        Group.of(f"group {number}", dict.fromkeys(members), language=sets.language)
        for number, members in enumerate(zip(*sets.sets, strict=True), 1)
    ]
    how = dataclasses.asdict(before.settings)
    report = train_glove([corpus], out=out / _FOLDER, neutral=groups, language=before.language, **how)
    if (report.words, report.vocabulary) != (before.words, before.vocabulary):
        raise BadInput(
            f"{corpus} is not the text that {path} was trained on: it has {report.words:,} words, and not "
            f"{before.words:,}"
        )
    spec = f"static:{out / _FOLDER / VECTORS}"
    base = load(spec)
    size = before.settings.size
    eraser = Eraser.projection(np.eye(size)[size - report.reserved :])
    settings = {"rank": report.reserved, "pairs": [list(members) for members in sets.sets], **how}
    seen = tuple(word for group in report.groups for word in group.words)
    fitted = Fitted(NEUTRAL_GLOVE, settings, before.settings.seed, spec, CachedModel(base).identity, seen)
    save_debiased(out, eraser, fitted)
    return DebiasedModel(out, base=base)
