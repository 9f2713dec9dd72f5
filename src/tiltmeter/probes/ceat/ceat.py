"""CEAT over natural sentences: do words lean as they are used, and how far does the context move them?"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question, Vector
from tiltmeter.probes.ceat.ceat_sets import ContextWords, Method, WordsInContext, words_in_context
from tiltmeter.probes.kind import OF_VECTORS, Asked, CanAnswer, Kind, Measured, Options, Part, Replies
from tiltmeter.readings import D, Estimate, Item, ItemMeaning, Poles, tilt_in_words
from tiltmeter.readings.details.ceat import CeatDetails, PublishedPooling, RepairedPooling
from tiltmeter.statistics import Alternative, minimum_detectable_effect


def make(
    *,
    data: str | Path | None = None,
    method: str | None = None,
    targets: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
) -> list[Part[WordsInContext]]:
    """All windows that were mined into a folder, then those of each length where there are several.

    Args:
        data: A folder made by ``tiltmeter mine``.
        method: fixed or random draws, root-only, draws=N, at-least=N; with commas between.
        targets: Two of the groups that were mined; needed where there are more than four.
        attributes: Two others of them.
    """
    if data is None:
        raise BadInput("ceat needs words in their contexts: run tiltmeter mine, and name its folder with --from (data)")
    by_length = words_in_context(data, targets, attributes, Method.parse(method))
    names = ["", *(each.length.replace(">", "over-") for each in by_length[1:])]
    return [
        Part(name, each.title, each, each.targets[0].dimension) for name, each in zip(names, by_length, strict=True)
    ]


def _ask(stimuli: WordsInContext, can: CanAnswer) -> Asked | None:
    if not can(Question.SPANS):
        return None
    # Words that will be left out are not embedded either.
    needed = stimuli.method.at_least
    words = (spans for group in stimuli.sets for spans in group.words.values() if len(spans) >= needed)
    return {Question.SPANS: list(itertools.chain.from_iterable(words))}


#: The words of a set that a model could be asked about, and a vector for each of their contexts.
_Vectors: TypeAlias = dict[str, list[Vector]]


def _words(
    stimuli: WordsInContext, group: ContextWords, answers: Iterator[Vector | None], replies: Replies, *, at_least: int
) -> _Vectors:
    needed = stimuli.method.at_least
    read: _Vectors = {}
    for word, spans in group.words.items():
        asked = len(spans) if len(spans) >= needed else 0
        vectors = [vector for vector in itertools.islice(answers, asked) if vector is not None]
        if len(vectors) >= needed:
            read[word] = vectors
        else:
            have = f"{replies.model} knows {len(vectors)} of its {len(spans)}" if asked else f"found in {len(spans)}"
            replies.leave_out(f"'{word}' ({group.label})", f"{have} contexts, and {needed} are needed")
    if len(read) < at_least:
        raise BadInput(
            f"{group.label} {stimuli.around}: {len(read)} of {len(group.words)} word(s) have {needed} contexts or "
            f"more, and {at_least} words are needed: mine more text, or lower at-least"
        )
    return read


def _measure(stimuli: WordsInContext, replies: Replies, options: Options) -> Measured:
    answers = iter(replies.all(Question.SPANS))
    x, y = (_words(stimuli, group, answers, replies, at_least=2) for group in stimuli.targets)
    a, b = (_words(stimuli, group, answers, replies, at_least=1) for group in stimuli.attributes)
    method = stimuli.method
    result = measures.ceat(
        *([np.stack(rows) for rows in words.values()] for words in (x, y, a, b)),
        draws=method.draws,
        sampling=method.sampling,
        alternative=cast(Alternative, options.alternative),
        permutations=options.permutations,
        seed=options.seed if method.sampling == "fixed" else _seed_of(options.seed, replies.model),
    )
    repaired = result.repaired
    d, ci, p = repaired.effect_size, repaired.ci, repaired.p_value
    groups, attributes = stimuli.labels
    detectable = _narrower(repaired) * minimum_detectable_effect(len(x), len(y))
    sentence = tilt_in_words(groups, attributes, d, ci, p, (len(x), len(y)), detectable=detectable)
    test = options.alternative, repaired.exact, repaired.p_standard_error
    cut = f"{stimuli.cut:,} window(s) as long as their texts were cut around the word"
    return Measured(
        Estimate("effect size d", d, D, ci, p, *test),
        Poles.crossed(groups, attributes),
        f"{sentence} {_spread(result, stimuli)}",
        (*_items(groups[0], x, repaired.scores_x), *_items(groups[1], y, repaired.scores_y)),
        ItemMeaning("lean", Poles(*attributes)),
        None,  # draws of single contexts are pooled, and an item is the mean of a word over its contexts
        result.n_contexts,
        result.n,
        Estimate("combined effect size", result.effect_size, D, None, result.p_value, "two-sided", False),
        f"The published p takes the {result.draws:,} draws for independent studies. All of them share the same "
        f"{result.n} words, so that p only says how often one drew; the headline permutes and resamples words.",
        (cut,) if stimuli.cut else (),
        _details(stimuli, result, {attributes[0]: a, attributes[1]: b}),
    )


def _seed_of(seed: int, model: str) -> int:
    """Random draws differ from model to model, and are the same each time."""
    return int.from_bytes(hashlib.sha256(f"{seed} {model}".encode()).digest()[:6], "big")


def _narrower(repaired: measures.RepairedCeat) -> float:
    """d is in SDs of single contexts; what can be found depends on how words vary, which is less."""
    if not repaired.effect_size:
        return 1.0
    between = float(np.std([*repaired.scores_x, *repaired.scores_y], ddof=1))
    return min(1.0, between / abs(repaired.score / repaired.effect_size))


def _spread(result: measures.CeatResult, stimuli: WordsInContext) -> str:
    window = f" {stimuli.around}" if stimuli.length else ""
    return (
        f"Drawing one context{window} for each word gives a d between {result.effects.low:.2f} and "
        f"{result.effects.high:.2f} in 95% of {result.draws:,} draws."
    )


def _items(group: str, words: _Vectors, leans: Sequence[float]) -> Iterator[Item]:
    for (word, rows), lean in zip(words.items(), leans, strict=True):
        yield Item(word, word, group, lean, {"contexts": len(rows)})


def _details(stimuli: WordsInContext, result: measures.CeatResult, attributes: Mapping[str, _Vectors]) -> CeatDetails:
    return CeatDetails(
        length=stimuli.length,
        published=PublishedPooling(result.effect_size, result.tau2, result.standard_error, result.p_value),
        repaired=RepairedPooling(result.repaired.tau2, result.repaired.score),
        draws=result.draws,
        sampling=result.sampling,
        root_only=stimuli.method.root_only,
        effects=result.effects,
        attribute_contexts={
            label: {word: len(rows) for word, rows in words.items()} for label, words in attributes.items()
        },
        language=stimuli.language,
        mined=stimuli.mined,
    )


KIND = Kind(
    "ceat",
    "Do two groups of words lean towards two sets of attributes as they stand in natural sentences?",
    "Guo & Caliskan 2021, AIES; Sadhu, Khan, Bhattacharjee & Shahriyar 2024 (length of the context)",
    "words for two groups of people should be equally similar to two sets of attribute words wherever they stand.",
    Question.SPANS.about,
    make,
    _ask,
    _measure,
    (
        *OF_VECTORS,
        "It tells of the words as the mined text uses them: another corpus gives other contexts, and a word may lean "
        "because its sentences do.",
    ),
)
