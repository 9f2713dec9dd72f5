"""CEAT over natural sentences: do words lean as they are used, and how far does the context move them?"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.measures.ceat import Sampling
from tiltmeter.models.protocol import Question, Span, Vector
from tiltmeter.probes.kind import OF_VECTORS, Asked, CanAnswer, Kind, Measured, Options, Part, Replies
from tiltmeter.readings import D, Estimate, Item, ItemMeaning, Poles, Power, tilt_in_words
from tiltmeter.readings.details.ceat import CeatDetails, PublishedPooling, RepairedPooling
from tiltmeter.statistics import Alternative, minimum_detectable_effect
from tiltmeter.stimuli import group as find_group

if TYPE_CHECKING:
    from tiltmeter.stimuli.mining import Mined, Occurrence

#: Characters kept on either side of a word where a window is as long as its text: a model reads only so far.
_REACH = 400


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """How contexts are read and drawn. With ``fixed`` draws the same contexts stand for a word in every model."""

    sampling: Sampling = "fixed"
    draws: int = 5000
    at_least: int = 2
    root_only: bool = False

    @classmethod
    def parse(cls, text: str | None) -> Method:
        """Words and numbers with commas between them.

        >>> Method.parse("random,draws=1000,root-only")
        Method(sampling='random', draws=1000, at_least=2, root_only=True)
        """
        options: dict[str, Any] = {}
        for part in (piece.strip() for piece in (text or "").split(",")):
            name, _, value = part.partition("=")
            if part in get_args(Sampling):
                options["sampling"] = part
            elif part == "root-only":
                options["root_only"] = True
            elif name in ("draws", "at-least"):
                options[name.replace("-", "_")] = _number(name, value)
            elif part:
                raise unknown("method of ceat", part, ["fixed", "random", "root-only", "draws=N", "at-least=N"])
        return cls(**options)


@dataclasses.dataclass(frozen=True, slots=True)
class ContextWords:
    """The words of one group, and the places where each was found; ``dimension`` is what such groups differ in."""

    address: str
    label: str
    dimension: str
    words: Mapping[str, tuple[Span, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class WordsInContext:
    """Two sets of targets and two of attributes, in windows of one length; of all lengths where ``length`` is empty.

    ``mined`` identifies the occurrences as they were mined.
    """

    length: str
    targets: tuple[ContextWords, ContextWords]
    attributes: tuple[ContextWords, ContextWords]
    method: Method
    language: str
    mined: str
    cut: int

    @property
    def sets(self) -> tuple[ContextWords, ...]:
        return (*self.targets, *self.attributes)

    @property
    def labels(self) -> tuple[tuple[str, str], tuple[str, str]]:
        (x, y), (a, b) = self.targets, self.attributes
        return (x.label, y.label), (a.label, b.label)

    @property
    def title(self) -> str:
        targets, attributes = map(" / ".join, self.labels)
        return f"{targets} × {attributes}, {self.around}"

    @property
    def around(self) -> str:
        """How much text there is around a word, in words."""
        return in_words(self.length)


def in_words(length: str) -> str:
    """A length as it stands in a sentence.

    >>> in_words("9"), in_words(">75"), in_words("sentence"), in_words("")
    ('in 9 words', 'in more than 75 words', 'in a sentence', 'in context')
    """
    if length.startswith(">"):
        return f"in more than {length[1:]} words"
    return {"sentence": "in a sentence", "": "in context"}.get(length, f"in {length} words")


def _addresses(
    mined: Mined, folder: str | Path, targets: Sequence[str] | None, attributes: Sequence[str] | None
) -> list[str]:
    """Which groups are X, Y, A and B: those named, or the four that were asked for, in their order."""
    if targets is None and attributes is None:
        if len(mined.groups) != 4:
            raise BadInput(
                f"{folder} holds {len(mined.groups)} group(s) of words, and ceat compares four: name them with "
                f"--targets X,Y --attributes A,B from {', '.join(mined.groups)}"
            )
        return list(mined.groups)
    for name, pair in (("targets", targets), ("attributes", attributes)):
        if pair is None or len(pair) != 2:
            raise BadInput(f"ceat needs two {name}, and {len(pair or ())} were given: name two groups that were mined")
    chosen = [*(targets or ()), *(attributes or ())]
    for address in chosen:
        if address not in mined.groups:
            raise unknown(f"group of words in {folder}", address, mined.groups)
    if len(set(chosen)) < 4:
        raise BadInput("ceat compares four different groups, and one of them was named twice")
    return chosen


def _of_length(mined: Mined, addresses: Sequence[str], method: Method, length: str) -> WordsInContext:
    rows = [row for row in mined.rows if not length or row.length == length]
    named = _named(addresses)
    sets = []
    for address in addresses:
        # Words that were looked for and never found are there too, to be named.
        places: dict[str, dict[Span, None]] = {
            count["word"]: {} for count in mined.about["counts"] if address in count["groups"]
        }
        for row in rows:
            if row.group == address:
                if row.word not in places:
                    raise BadInput(
                        f"the mined texts hold '{row.word}' of {address}, which is not among the words counted: mine "
                        "them again"
                    )
                places[row.word][_span(row, root_only=method.root_only)] = None
        sets.append(ContextWords(address, *named[address], {word: tuple(spans) for word, spans in places.items()}))
    cut = sum(_is_open(row) and len(row.text) > len(_span(row, root_only=False).text) for row in rows)
    x, y, a, b = sets
    return WordsInContext(length, (x, y), (a, b), method, mined.language, mined.sha256, cut)


def _is_open(row: Occurrence) -> bool:
    return not row.length.isdigit()


def _span(row: Occurrence, *, root_only: bool) -> Span:
    """The word where it was found; a window as long as its text is cut around it, at a space where there is one."""
    end = row.root_end if root_only else row.end
    first, last = 0, len(row.text)
    if _is_open(row):
        if row.start > _REACH:
            first = row.start - _REACH
            first = max(first, row.text.find(" ", first, row.start) + 1)
        if last - row.end > _REACH:
            space = row.text.rfind(" ", row.end, row.end + _REACH)
            last = space if space > 0 else row.end + _REACH
    return Span(row.text[first:last], row.start - first, end - first)


def _named(addresses: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The label and the dimension of each group; two labels that are the same bear their addresses."""
    named = {}
    for address in addresses:
        try:
            group = find_group(address)
            named[address] = group.label, group.dimension
        except BadInput:  # the file it came from is no longer there
            named[address] = address.rpartition(".")[2].replace("_", " "), ""
    often = Counter(label for label, _ in named.values())
    return {
        address: (f"{label} ({address})" if often[label] > 1 else label, dimension)
        for address, (label, dimension) in named.items()
    }


def _number(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise BadInput(f"{name} must be a whole number from 1 on, not '{value}': write e.g. {name}=1000")
    return int(value)


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
    from tiltmeter.stimuli.mining import load_mined

    if data is None:
        raise BadInput("ceat needs words in their contexts: run tiltmeter mine, and name its folder with --from (data)")
    how, mined = Method.parse(method), load_mined(data)
    addresses = _addresses(mined, data, targets, attributes)
    lengths = mined.lengths if len(mined.lengths) == 1 else ("", *mined.lengths)
    by_length = [_of_length(mined, addresses, how, length) for length in lengths]
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
    sentence = tilt_in_words(groups, attributes, d, ci)
    test = options.alternative, repaired.exact, repaired.p_standard_error
    window = f" {stimuli.around}" if stimuli.length else ""
    cut = f"{stimuli.cut:,} window(s) as long as their texts were cut around the word"
    return Measured(
        Estimate("effect size d", d, D, ci, p, *test),
        Poles.crossed(groups, attributes),
        f"{sentence} Drawing one context{window} for each word gives a d between {result.effects.low:.2f} and "
        f"{result.effects.high:.2f} in 95% of {result.draws:,} draws.",
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
        power=Power(minimum_detectable_effect(len(x), len(y), narrower=_narrower(repaired)), 0.0),
    )


def _seed_of(seed: int, model: str) -> int:
    """Random draws differ from model to model, and are the same each time."""
    return int.from_bytes(hashlib.sha256(f"{seed} {model}".encode()).digest()[:6], "big")


def _narrower(repaired: measures.RepairedCeat) -> float:
    """d is in SDs of single contexts; what can be found depends on how words vary, which is less."""
    if not repaired.effect_size:
        return 1.0
    x, y = np.array(repaired.scores_x), np.array(repaired.scores_y)
    n = x.size + y.size
    between = float(np.square(x - x.mean()).sum() + np.square(y - y.mean()).sum()) / max(n - 2, 1)
    # The SD of all contexts holds the difference between the groups, which is none of their spread.
    single = (repaired.score / repaired.effect_size) ** 2 - x.size * y.size / n**2 * repaired.score**2
    return min(1.0, math.sqrt(between / single)) if single > 0 else 1.0


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
