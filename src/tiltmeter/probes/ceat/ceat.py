"""CEAT over natural sentences: do words lean as they are used, and how far does the context move them?"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
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
from tiltmeter.readings import D, Estimate, Item, ItemMeaning, Poles, tilt_in_words
from tiltmeter.readings.details.ceat import CeatDetails, PublishedPooling, RepairedPooling
from tiltmeter.statistics import Alternative
from tiltmeter.stimuli import group as find_group
from tiltmeter.stimuli.languages import language

if TYPE_CHECKING:
    from tiltmeter.stimuli.mining import Mined, Occurrence

#: Texts of no more bytes than this are read whole by every model, and none is asked whether it does.
_SHORT = 100
#: How many words of each set must have contexts, targets first.
_NEEDED = (2, 2, 1, 1)


@dataclasses.dataclass(frozen=True, slots=True)
class CeatMethod:
    """How contexts are read and drawn. With ``fixed`` draws the same contexts stand for a word in every model."""

    sampling: Sampling = "fixed"
    draws: int = 5000
    at_least: int = 2
    root_only: bool = False
    #: The length of the windows that the headline is about; each occurrence in its longest window where it is empty.
    length: str = ""

    @classmethod
    def parse(cls, text: str | None) -> CeatMethod:
        """Words and numbers with commas between them.

        >>> CeatMethod.parse("random,draws=1000,root-only,length=25")
        CeatMethod(sampling='random', draws=1000, at_least=2, root_only=True, length='25')
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
            elif name == "length" and value:
                options["length"] = value
            elif part:
                known = ["fixed", "random", "root-only", "draws=N", "at-least=N", "length=L"]
                raise unknown("method of ceat", part, known)
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
    """Two sets of targets and two of attributes, in windows of one ``length``.

    Where it is empty, every occurrence stands in the longest of the windows that were mined around it, and so counts
    once, however many lengths there are. ``mined`` identifies the occurrences as they were mined; ``too_thin`` says of
    which lengths there is no reading of their own, and why.
    """

    length: str
    targets: tuple[ContextWords, ContextWords]
    attributes: tuple[ContextWords, ContextWords]
    method: CeatMethod
    language: str
    mined: str
    too_thin: tuple[str, ...] = ()

    @property
    def spans(self) -> list[Span]:
        """Every context of a word that has enough of them: words that will be left out are not embedded either."""
        words = (spans for group in self.sets for spans in group.words.values() if len(spans) >= self.method.at_least)
        return list(itertools.chain.from_iterable(words))

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
            raise BadInput(f"ceat needs two {name}, but got {len(pair or ())}: name two groups that were mined")
    chosen = [*(targets or ()), *(attributes or ())]
    for address in chosen:
        if address not in mined.groups:
            raise unknown(f"group of words in {folder}", address, mined.groups)
    if len(set(chosen)) < 4:
        raise BadInput("ceat compares four different groups, and one of them was named twice")
    return chosen


def _of_length(mined: Mined, addresses: Sequence[str], method: CeatMethod, length: str) -> WordsInContext:
    rows = [row for row in mined.rows if row.length == length] if length else _longest(mined.rows)
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
                places[row.word][Span(row.text, row.start, row.root_end if method.root_only else row.end)] = None
        sets.append(ContextWords(address, *named[address], {word: tuple(spans) for word, spans in places.items()}))
    x, y, a, b = sets
    return WordsInContext(length, (x, y), (a, b), method, mined.language, mined.sha256)


def _longest(rows: Sequence[Occurrence]) -> list[Occurrence]:
    """Every occurrence once, in the longest of its windows."""
    longest: dict[tuple[Any, ...], Occurrence] = {}
    for row in rows:
        place = row.group, row.word, row.source, row.line, row.at
        if place not in longest or len(row.text) > len(longest[place].text):
            longest[place] = row
    return list(longest.values())


def _thin(stimuli: WordsInContext) -> str:
    """Why there are too few words with enough contexts to measure anything; empty where there are enough."""
    least = stimuli.method.at_least
    for group, needed in zip(stimuli.sets, _NEEDED, strict=True):
        enough = sum(len(spans) >= least for spans in group.words.values())
        if enough < needed:
            return _too_few(stimuli, group, enough, needed)
    return ""


def _too_few(stimuli: WordsInContext, group: ContextWords, enough: int, needed: int) -> str:
    least = stimuli.method.at_least
    have, remedy = ("a context", "") if least == 1 else (f"{least} contexts or more", ", or lower at-least")
    return (
        f"{group.label} {stimuli.around}: {enough} of {len(group.words)} word(s) have {have}, and {needed} words are "
        f"needed: mine more text{remedy}"
    )


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
    """All occurrences that were mined into a folder, each once; then the windows of each length, where it has several.

    Args:
        data: A folder made by ``tiltmeter mine``.
        method: fixed or random draws, root-only, draws=N, at-least=N, length=L for the headline; with commas between.
        targets: Two of the groups that were mined; needed where there are more than four.
        attributes: Two others of them.
    """
    from tiltmeter.stimuli.mining import load_mined

    if data is None:
        raise BadInput("ceat needs words in their contexts: run tiltmeter mine, and name its folder with --from (data)")
    how, mined = CeatMethod.parse(method), load_mined(data)
    addresses = _addresses(mined, data, targets, attributes)
    if how.length and how.length not in mined.lengths:
        raise unknown(f"length of the windows in {data}", how.length, mined.lengths)
    first = how.length or ("" if len(mined.lengths) > 1 else mined.lengths[0])
    whole, *others = (_of_length(mined, addresses, how, length) for length in dict.fromkeys((first, *mined.lengths)))
    if thin := _thin(whole):
        raise BadInput(thin)
    skipped = tuple(f"no reading {each.around}: {thin}" for each in others if (thin := _thin(each)))
    parts = [("", dataclasses.replace(whole, too_thin=skipped))]
    parts += [(each.length.replace(">", "over-"), each) for each in others if not _thin(each)]
    return [Part(name, each.title, each, each.targets[0].dimension) for name, each in parts]


def _ask(stimuli: WordsInContext, can: CanAnswer) -> Asked | None:
    if not can(Question.SPANS):
        return None
    spans = stimuli.spans
    long = [span for span in spans if len(span.text.encode()) > _SHORT] if can(Question.REACH) else []
    return {Question.SPANS: spans, **({Question.REACH: long} if long else {})}


def _cut(stimuli: WordsInContext, replies: Replies) -> tuple[str, ...]:
    """How many windows hold more than the model reads, and how many words it reads of them."""
    if not replies.answered(Question.REACH):
        return ()
    spans, reaches = replies.asked(Question.REACH), replies.all(Question.REACH)
    cut = [
        span.text[reach.start : reach.end]
        for span, reach in zip(spans, reaches, strict=True)
        if reach.end - reach.start < len(span.text)
    ]
    if not cut:
        return ()
    spoken = language(stimuli.language)
    words = sorted(len(spoken.words(text)) for text in cut)
    seen = f"{words[0]}"
    if words[0] < words[-1]:
        seen += f" to {words[-1]} (median {words[len(words) // 2]})"
    all_windows = f"{len(cut):,} of {len(stimuli.spans):,} windows"
    note = f"{all_windows} hold more than {replies.model} reads: of these it sees {seen} words"
    asked = stimuli.length.removeprefix(">")
    short = sum(number <= int(asked) for number in words) if stimuli.length.startswith(">") else 0
    return (note + (f", of {short:,} no more than {asked}" if short else ""),)


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
        raise BadInput(_too_few(stimuli, group, len(read), at_least))
    return read


def _measure(stimuli: WordsInContext, replies: Replies, options: Options) -> Measured:
    answers = iter(replies.all(Question.SPANS))
    x, y, a, b = (
        _words(stimuli, group, answers, replies, at_least=needed)
        for group, needed in zip(stimuli.sets, _NEEDED, strict=True)
    )
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
        f"The published p treats the {result.draws:,} draws as independent studies. All of them share the same "
        f"{result.n} words, so that p only reflects the number of draws; the headline permutes and resamples words.",
        (*_cut(stimuli, replies), *stimuli.too_thin),
        _details(stimuli, result, {attributes[0]: a, attributes[1]: b}),
        power=repaired.power,
    )


def _seed_of(seed: int, model: str) -> int:
    """Random draws differ from model to model, and are the same each time."""
    return int.from_bytes(hashlib.sha256(f"{seed} {model}".encode()).digest()[:6], "big")


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
    "Do two groups of words lean towards two sets of attributes in natural sentences?",
    "Guo & Caliskan 2021, AIES; Sadhu, Khan, Bhattacharjee & Shahriyar 2024 (length of the context)",
    "words for two groups of people should be equally similar to two sets of attribute words in any context.",
    Question.SPANS.about,
    make,
    _ask,
    _measure,
    (
        *OF_VECTORS,
        "It describes the words as the mined text uses them: another corpus gives other contexts, and a word may lean "
        "because its sentences do.",
    ),
)
