"""CEAT over natural sentences: do words lean as they are used, and how far does the context move them?"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question, Vector
from tiltmeter.probes.ceat.ceat_sets import Method, WordSet, WordsInContext, words_in_context
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import HARM, INTRINSIC, WORD_LISTS, Asked, Estimate, Measured
from tiltmeter.probes.old_language import LanguageKind, LanguageProbe, Replies
from tiltmeter.probes.wording import p_text, tilt
from tiltmeter.statistics import Alternative, minimum_detectable_effect

#: What the probe can be told besides ``data``, ``vectors`` and ``method``.
OPTIONS = ("targets", "attributes")
_NEARER_ZERO = "nearer to 0 is better"


def make(
    *,
    data: str | Path | None = None,
    vectors: str | None = None,
    method: str | None = None,
    targets: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
    options: Options,
) -> list[LanguageProbe]:
    """All windows that were mined into a folder, then those of each length where there are several."""
    if vectors is not None:
        raise BadInput("ceat takes no vectors: leave them out; it takes data, targets, attributes and method")
    if data is None:
        raise BadInput("ceat needs words in their contexts: run tiltmeter mine, and name its folder with --from (data)")
    found = words_in_context(data, targets=targets, attributes=attributes, method=Method.parse(method))
    return [
        LanguageProbe("ceat" if not place else f"ceat-{_id(each.length)}", each.title, KIND, each, options)
        for place, each in enumerate(found)
    ]


def _id(length: str) -> str:
    return length.replace(">", "over-")


def _ask(stimuli: WordsInContext, answers: Callable[[Question], bool]) -> Asked | None:
    if not answers(Question.SPANS):
        return None
    # Words that will be left out are not embedded either.
    return {
        Question.SPANS: [span for each in stimuli.sets for found in _used(stimuli, each).values() for span in found]
    }


def _used(stimuli: WordsInContext, each: WordSet) -> dict[str, Any]:
    return {word: found for word, found in each.words.items() if len(found) >= stimuli.method.at_least}


@dataclasses.dataclass(frozen=True, slots=True)
class _Words:
    """The words of a set that a model could be asked about, and a vector for each of their contexts."""

    label: str
    vectors: dict[str, list[Vector]]

    def __len__(self) -> int:
        return len(self.vectors)


def _words(stimuli: WordsInContext, each: WordSet, replies: Replies, *, at_least: int) -> _Words:
    needed = stimuli.method.at_least
    found: dict[str, list[Vector]] = {}
    for word, spans in each.words.items():
        asked = spans if len(spans) >= needed else ()
        known = [vector for span in asked if (vector := replies.of(Question.SPANS, span)) is not None]
        if len(known) >= needed:
            found[word] = known
        else:
            have = f"{replies.model} knows {len(known)} of its {len(spans)}" if asked else f"found in {len(spans)}"
            replies.leave_out(f"'{word}' ({each.label})", f"{have} contexts, and {needed} are needed")
    if len(found) < at_least:
        raise BadInput(
            f"{each.label} {stimuli.around}: {len(found)} of {len(each.words)} word(s) have {needed} contexts or more, "
            f"and {at_least} words are needed: mine more text, or lower at-least"
        )
    return _Words(each.label, found)


def _measure(stimuli: WordsInContext, replies: Replies, options: Options) -> Measured:
    x, y = (_words(stimuli, each, replies, at_least=2) for each in stimuli.targets)
    a, b = (_words(stimuli, each, replies, at_least=1) for each in stimuli.attributes)
    method = stimuli.method
    found = measures.ceat(
        *([np.stack(rows) for rows in each.vectors.values()] for each in (x, y, a, b)),
        draws=method.draws,
        sampling=method.sampling,
        alternative=cast(Alternative, options.alternative),
        permutations=options.permutations,
        seed=options.seed if method.sampling == "fixed" else _own_seed(options.seed, replies.model),
    )
    corrected = found.corrected
    leans, strength, sentence = tilt(
        (x.label, y.label),
        (a.label, b.label),
        corrected.effect_size,
        corrected.ci,
        corrected.p_value,
        (len(x), len(y)),
        detectable=_narrower(found) * minimum_detectable_effect(len(x), len(y)),
    )
    effect = Estimate(
        "effect size d",
        corrected.effect_size,
        0.0,
        _NEARER_ZERO,
        corrected.ci,
        corrected.p_value,
        options.alternative,
        corrected.exact,
        corrected.p_standard_error,
    )
    return Measured(
        effect,
        leans,
        strength,
        f"{sentence} {_spread(found, stimuli)}",
        _items((x, corrected.scores_x), (y, corrected.scores_y)),
        found.n_contexts,
        found.n,
        Estimate("combined effect size", found.effect_size, 0.0, _NEARER_ZERO, None, found.p_value, "two-sided", False),
        f"The published p takes the {found.draws:,} draws for independent studies. All of them share the same "
        f"{found.n} words, so that p only says how often one drew; the headline permutes and resamples words.",
        _details(stimuli, found, (a, b)),
    )


def _own_seed(seed: int, model: str) -> int:
    """Random draws differ from model to model, and are the same each time."""
    return int.from_bytes(hashlib.sha256(f"{seed} {model}".encode()).digest()[:6], "big")


def _narrower(found: measures.CeatResult) -> float:
    """d is in SDs of single contexts; what can be found depends on how words vary, which is less."""
    corrected = found.corrected
    if not corrected.effect_size:
        return 1.0
    between = float(np.std([*corrected.scores_x, *corrected.scores_y], ddof=1))
    return min(1.0, between / abs(corrected.score / corrected.effect_size))


def _spread(found: measures.CeatResult, stimuli: WordsInContext) -> str:
    low, high = found.effects.low, found.effects.high
    window = f" {stimuli.around}" if stimuli.length else ""
    return (
        f"Drawing one context{window} for each word gives a d between {low:.2f} and {high:.2f} in 95% of "
        f"{found.draws:,} draws."
    )


def _items(*scored: tuple[_Words, tuple[float, ...]]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"word": word, "group": each.label, "lean": lean, "contexts": len(rows)}
        for each, leans in scored
        for (word, rows), lean in zip(each.vectors.items(), leans, strict=True)
    )


def _details(stimuli: WordsInContext, found: measures.CeatResult, attributes: Sequence[_Words]) -> dict[str, Any]:
    cut = f"{stimuli.cut:,} window(s) as long as their texts were cut around the word"
    return {
        "length": stimuli.length,
        "published": {
            "effect_size": found.effect_size,
            "tau2": found.tau2,
            "standard_error": found.standard_error,
            "p_value": found.p_value,
            "p": p_text(found.p_value),
        },
        "corrected": {"tau2": found.corrected.tau2, "mean_difference": found.corrected.score},
        "draws": found.draws,
        "sampling": found.sampling,
        "root_only": stimuli.method.root_only,
        "effects": found.effects.to_dict(),
        "attribute_contexts": {
            each.label: {word: len(rows) for word, rows in each.vectors.items()} for each in attributes
        },
        "language": stimuli.language,
        "mined": stimuli.mined,
        "warnings": [cut] if stimuli.cut else [],
    }


class _Kind(LanguageKind):
    """It reads vectors of words, so what is said of vectors is said of it."""

    __slots__ = ()

    @property
    def caveats(self) -> tuple[str, ...]:
        return (f"What counts as bias here: {self.idea}", HARM, INTRINSIC, WORD_LISTS, *self.warnings)


KIND = _Kind(
    "ceat",
    "Do two groups of words lean towards two sets of attributes as they stand in natural sentences?",
    "Guo & Caliskan 2021, AIES; Sadhu, Khan, Bhattacharjee & Shahriyar 2024 (length of the context)",
    "words for two groups of people should be equally similar to two sets of attribute words wherever they stand.",
    Question.SPANS.about,
    _ask,
    _measure,
    (
        "It tells of the words as the mined text uses them: another corpus gives other contexts, and a word may lean "
        "because its sentences do.",
    ),
)
