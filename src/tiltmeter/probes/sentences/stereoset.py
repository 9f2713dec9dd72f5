"""StereoSet: is the stereotype likelier than the anti-stereotype, and either than what makes no sense?

A word within a sentence is scored by its mean log-probability per token: for a masked language model as a filler of
the blank, its tokens from left to right with those still to come masked, so that a word of several tokens gains
nothing from tokens that give each other away; for a causal one the whole sentence. (The published code takes the mean
of probabilities; for words of one token the order is the same.) A sentence after another is scored by the mean of its
tokens given the first: each masked in turn, or from left to right. (The published code asks BERT's head for next
sentences, which few models have.)
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.measures.stereoset import LABELS
from tiltmeter.models.protocol import Continuation, Fill, Question, Span
from tiltmeter.probes.kind import OF_PROBABILITIES, Asked, CanAnswer, Kind, Measured, Options, Part, Replies
from tiltmeter.probes.sentences.fills import answers_to
from tiltmeter.probes.sentences.shares import FAULTY_PAIRS, preference_words, towards_stereotype
from tiltmeter.readings import SHARE, Cell, Estimate, Item, ItemMeaning, Poles, Statistic
from tiltmeter.readings.details.sentences import StereosetDetails
from tiltmeter.statistics import by_unit, power_of_share
from tiltmeter.statistics.estimates import preferred
from tiltmeter.stimuli import datasets
from tiltmeter.stimuli.datasets.stereoset import BLANK
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet

_WITHIN, _BETWEEN = "intrasentence", "intersentence"
_TITLE = "StereoSet"
#: The questions that will do, those within a sentence and those between two.
_MASKED = {_WITHIN: Question.FILLS, _BETWEEN: Question.PSEUDO}
_CAUSAL = {_WITHIN: Question.TOKENS, _BETWEEN: Question.CONTINUATIONS}


def _make(*, data: str | Path | None = None) -> list[Part[SentenceSet]]:
    """All examples, then those within a sentence and those between two."""
    name = "stereoset" if data is None else str(data)
    path = datasets.find(name) if name == "stereoset" else Path(name)
    if not path.exists() and not path.suffix:
        raise unknown("data of stereoset", name, ("stereoset",))
    whole = datasets.load_stereoset(path)
    parts = list(dict.fromkeys(example.tags["part"] for example in whole.sentences))
    return [
        Part("", _TITLE, whole, whole.dimension),
        *(Part(part, f"{_TITLE}, {part}", whole.where(part=part), whole.dimension) for part in parts if len(parts) > 1),
    ]


def _questions(stimuli: SentenceSet, can: CanAnswer) -> Mapping[str, Question] | None:
    parts = {example.tags["part"] for example in stimuli.sentences}
    return next((every for every in (_MASKED, _CAUSAL) if all(can(every[part]) for part in parts)), None)


def _ask(stimuli: SentenceSet, can: CanAnswer) -> Asked | None:
    questions = _questions(stimuli, can)
    if questions is None:
        return None
    asked: dict[Question, list[Any]] = {}
    for example in stimuli.sentences:
        question = questions[example.tags["part"]]
        if inputs := _inputs(example, question):
            asked.setdefault(question, []).extend(inputs)
    return asked


def _inputs(example: Sentence, question: Question) -> list[Any]:
    """What is asked about each of the three sentences; nothing where they cannot be compared."""
    texts, context = example.forms["sentence"], example.tags["context"]
    if question is Question.FILLS:
        return _fills(example)
    if question is Question.TOKENS:
        return list(texts)
    if question is Question.CONTINUATIONS:
        return [Continuation(context, tuple(dict.fromkeys(f" {text}" for text in texts)))] * 3
    versions = (example.version("sentence", group) for group in (1, 2, 3))
    return [Span(version.text, *version.slots["sentence"]) for version in versions]


def _frames(example: Sentence) -> list[tuple[str, str, str]] | None:
    """What stands before the blank, at it and after it in each sentence; None where they differ in anything else.

    The published sentences have the case of a sentence, whatever that of the context.
    """
    before, _, after = example.tags["context"].partition(BLANK)
    frames = [
        (text[: len(before)], text[len(before) : len(text) - len(after)], text[len(text) - len(after) :])
        for text in example.forms["sentence"]
    ]
    same = all(
        (one.casefold(), two.casefold()) == (before.casefold(), after.casefold()) and word.strip()
        for one, word, two in frames
    )
    return frames if same else None


def _fills(example: Sentence) -> list[Fill]:
    """The words in the place of the blank; sentences that differ in nothing else are asked about together."""
    frames = _frames(example) or []
    fillers: dict[tuple[str, str], dict[str, None]] = {}
    for before, word, after in frames:
        fillers.setdefault((before, after), {})[word] = None
    return [
        Fill(f"{before}{BLANK}{after}", len(before), len(before) + len(BLANK), tuple(fillers[before, after]))
        for before, _, after in frames
    ]


def _measure(stimuli: SentenceSet, replies: Replies, options: Options) -> Measured:
    questions = _questions(stimuli, replies.answered)
    assert questions is not None  # they were asked
    answers = {
        question: zip(replies.asked(question), answers_to(question, replies), strict=True)
        for question in questions.values()
        if replies.answered(question)
    }
    examples, scores = list[Sentence](), list[list[float]]()
    for example in stimuli.sentences:
        question = questions[example.tags["part"]]
        if question is Question.FILLS and _frames(example) is None:
            replies.leave_out(
                f"example {example.tags['id']}: '{example.tags['context']}'",
                f"its sentences do not differ in one {BLANK} only",
            )
            continue
        examples.append(example)
        texts = zip(example.forms["sentence"], itertools.islice(answers[question], 3), strict=True)
        scores.append([_score(text, question, *answered, replies) for text, answered in texts])
    if len({example.unit for example in examples}) < 2:
        raise BadInput("StereoSet needs examples about at least 2 target terms: give more of them")
    by_sentence = {
        f"{number} {label}": score
        for number, three in enumerate(scores)
        for label, score in zip(LABELS, three, strict=True)
    }
    return _measured(examples, scores, measures.stereoset(by_sentence, _as_file(examples), seed=options.seed))


def _score(text: str, question: Question, asked: Any, answer: Any, replies: Replies) -> float:
    """The mean log-probability per token of one of the three sentences."""
    if isinstance(asked, Fill | Continuation):
        if isinstance(asked, Fill):
            which = asked.fillers.index(text[asked.start : len(text) - len(asked.text) + asked.end])
        else:
            which = asked.endings.index(f" {text}")
        return float(answer.logprobs[which] / answer.tokens[which])
    if question is Question.TOKENS and int(answer.starts[0]) > 0:
        replies.leave_out(
            "the first word of sentences",
            f"nothing stands before it that {replies.model} could read, so it is not scored; add bos=yes to score it",
        )
    return float(answer.logprobs.mean())


def _as_file(examples: Sequence[Sentence]) -> dict[str, list[dict[str, Any]]]:
    """The examples in the form of the published file."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for number, example in enumerate(examples):
        sentences = [{"id": f"{number} {label}", "gold_label": label} for label in LABELS]
        entry = {"target": example.unit, "bias_type": example.tags["kind"], "sentences": sentences}
        parts.setdefault(example.tags["part"], []).append(entry)
    return parts


def _measured(examples: list[Sentence], scores: list[list[float]], result: measures.StereoSetResult) -> Measured:
    ci = replace(result.ss_ci, low=result.ss_ci.low / 100, high=result.ss_ci.high / 100)
    name = "stereotype score (ss)"
    effect = Estimate(name, result.ss / 100, SHARE, ci, result.ss_p_value, "two-sided")
    words = preference_words(
        effect,
        preferred="the stereotype over the anti-stereotype",
        among=f"{result.n:,} examples, each of {result.n_targets} target terms counting once",
    )
    differs = abs(result.ss - result.published.ss) > 1e-9
    repair = "Examples that score the same count half; the published code counts them against the stereotype."
    stereotype, anti, _ = np.array(scores).T
    won = preferred(stereotype, anti)
    return Measured(
        effect,
        towards_stereotype("target terms"),
        f"{words} Meaningful sentences beat the unrelated one in {result.lms:.1f}% (lms; 100 is best); combined, icat "
        f"is {result.icat:.1f} (100 is best).",
        tuple(map(_item, examples, scores, won.tolist())),
        ItemMeaning(
            "log-probability of the stereotype, less that of the anti-stereotype",
            Poles("the stereotype", "the anti-stereotype"),
        ),
        Statistic("mean of units", ("won",), margins="value"),
        n_units=result.n_targets,
        counted="target terms",
        published=Estimate(name, result.published.ss / 100, SHARE) if differs else None,
        repair=repair if differs else "",
        details=StereosetDetails(**{field.name: getattr(result, field.name) for field in fields(StereosetDetails)}),
        power=power_of_share(by_unit(won, [example.unit for example in examples]).means),
    )


def _item(example: Sentence, scores: Sequence[float], won: float) -> Item:
    names = ("stereotype", "anti_stereotype", "unrelated")
    texts = dict(zip(names, example.forms["sentence"], strict=True))
    scored = {f"score_{name}": score for name, score in zip(names, scores, strict=True)}
    columns: dict[str, Cell] = {"part": example.tags["part"], **texts, **scored, "won": won}
    return Item(example.tags["context"], example.unit, example.tags["kind"], scores[0] - scores[1], columns)


KIND = Kind(
    "stereoset",
    "Is the stereotype likelier than the anti-stereotype (ss), and are meaningful sentences likelier (lms)?",
    "Nadeem, Bethke & Reddy 2021, ACL",
    "of two meaningful sentences, the stereotypical one should not be likelier.",
    "log-probabilities of fillers and masked tokens, or of tokens and continuations, which language models give",
    _make,
    _ask,
    _measure,
    (*OF_PROBABILITIES, FAULTY_PAIRS),
)
