"""StereoSet: is the stereotype likelier than the anti-stereotype, and either than what makes no sense?

A word within a sentence is scored by its mean log-probability per token: for a masked language model as a filler of
the blank, its tokens from left to right with those still to come masked, so that a word of several tokens gains
nothing from tokens that give each other away; for a causal one the whole sentence. (The published code takes the mean
of probabilities; for words of one token the order is the same.) A sentence after another is scored by the mean of its
tokens given the first: each masked in its turn, or from left to right. (The published code asks BERT's head for next
sentences, which few models have.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Continuation, Fill, Question, Span
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Asked, Estimate, Measured
from tiltmeter.probes.old_language import LanguageKind, LanguageProbe, Replies
from tiltmeter.probes.sentences.shares import BETTER, FAULTY_PAIRS, preference_words
from tiltmeter.stimuli import datasets
from tiltmeter.stimuli.sentences.sets import StereoExample

_BLANK = "BLANK"
_WITHIN, _BETWEEN = "intrasentence", "intersentence"
_TITLE = "StereoSet"
#: The questions that will do, those within a sentence and those between two.
_MASKED = {_WITHIN: Question.FILLS, _BETWEEN: Question.PSEUDO}
_CAUSAL = {_WITHIN: Question.TOKENS, _BETWEEN: Question.CONTINUATIONS}


@dataclasses.dataclass(frozen=True, slots=True)
class StereoSet:
    """Examples of one file."""

    examples: tuple[StereoExample, ...]


def make(
    *, data: str | Path | None = None, vectors: str | None = None, method: str | None = None, options: Options
) -> list[LanguageProbe]:
    """All examples, then those within a sentence and those between two."""
    for name, value in (("vectors", vectors), ("method", method)):
        if value is not None:
            raise BadInput(f"stereoset takes no {name}: leave it out")
    examples = _load(data)
    kinds = list(dict.fromkeys(each.kind for each in examples))
    parts = [
        LanguageProbe(
            f"stereoset-{kind}",
            f"{_TITLE}, {kind}",
            KIND,
            StereoSet(tuple(each for each in examples if each.kind == kind)),
            options,
        )
        for kind in (kinds if len(kinds) > 1 else ())
    ]
    return [LanguageProbe("stereoset", _TITLE, KIND, StereoSet(examples), options), *parts]


def _load(data: str | Path | None) -> tuple[StereoExample, ...]:
    name = "stereoset" if data is None else str(data)
    path = datasets.find(name) if name == "stereoset" else Path(name)
    if not path.exists() and not path.suffix:
        raise unknown("data of stereoset", name, ("stereoset",))
    return datasets.load_stereoset(path)


def _questions(examples: Sequence[StereoExample], can: Callable[[Question], bool]) -> Mapping[str, Question] | None:
    kinds = {each.kind for each in examples}
    return next((every for every in (_MASKED, _CAUSAL) if all(can(every[kind]) for kind in kinds)), None)


def _ask(stimuli: StereoSet, answers: Callable[[Question], bool]) -> Asked | None:
    questions = _questions(stimuli.examples, answers)
    if questions is None:
        return None
    asked: dict[Question, dict[Any, None]] = {}
    for example in stimuli.examples:
        question = questions[example.kind]
        inputs = _inputs(example, question)
        asked.setdefault(question, {}).update(dict.fromkeys(each for each, _ in inputs.values()))
    return {question: list(inputs) for question, inputs in asked.items() if inputs}


def _inputs(example: StereoExample, question: Question) -> dict[str, tuple[Any, int]]:
    """What is asked about each label's sentence, and which number of the answer is its own; {}: none can be."""
    texts = {label: text for label, (_, text) in example.sentences.items()}
    if question is Question.FILLS:
        return _fills(example.context, texts)
    if question is Question.TOKENS:
        return {label: (text, 0) for label, text in texts.items()}
    if question is Question.CONTINUATIONS:
        endings = tuple(dict.fromkeys(f" {text}" for text in texts.values()))
        stem = Continuation(example.context, endings)
        return {label: (stem, endings.index(f" {text}")) for label, text in texts.items()}
    start = len(example.context) + 1
    whole = {label: f"{example.context} {text}" for label, text in texts.items()}
    return {label: (Span(text, start, len(text)), 0) for label, text in whole.items()}


def _fills(context: str, texts: Mapping[str, str]) -> dict[str, tuple[Fill, int]]:
    """The words in the place of the blank; sentences that differ in nothing else are asked about together."""
    before, _, after = context.partition(_BLANK)
    frames: dict[tuple[str, str], dict[str, str]] = {}
    for label, text in texts.items():
        frame = text[: len(before)], text[len(text) - len(after) :]
        # The published sentences have the case of a sentence, whatever that of the context.
        same = [part.casefold() for part in frame] == [before.casefold(), after.casefold()]
        word = text[len(before) : len(text) - len(after)]
        if not same or not word.strip():
            return {}
        frames.setdefault(frame, {})[label] = word
    found: dict[str, tuple[Fill, int]] = {}
    for (start, end), words in frames.items():
        fillers = tuple(dict.fromkeys(words.values()))
        fill = Fill(f"{start}{_BLANK}{end}", len(start), len(start) + len(_BLANK), fillers)
        found |= {label: (fill, fillers.index(word)) for label, word in words.items()}
    return found


def _measure(stimuli: StereoSet, replies: Replies, options: Options) -> Measured:
    questions = _questions(stimuli.examples, replies.answered)
    assert questions is not None  # they were asked
    scores: dict[str, dict[str, float]] = {}
    for example in stimuli.examples:
        inputs = _inputs(example, questions[example.kind])
        if inputs:
            scores[example.id] = {
                label: _score(questions[example.kind], *each, replies) for label, each in inputs.items()
            }
        else:
            replies.leave_out(
                f"example {example.id}: '{example.context}'", f"its sentences do not differ in one {_BLANK} only"
            )
    kept = [example for example in stimuli.examples if example.id in scores]
    if len({example.target for example in kept}) < 2:
        raise BadInput("StereoSet needs examples about at least 2 target terms: give more of them")
    by_sentence = {
        example.sentences[label][0]: value for example in kept for label, value in scores[example.id].items()
    }
    found = measures.stereoset(by_sentence, _as_file(kept), seed=options.seed)
    return _measured(kept, scores, found)


def _score(question: Question, item: Any, which: int, replies: Replies) -> float:
    """The mean log-probability per token."""
    answer = replies.of(question, item)
    text = item if isinstance(item, str) else item.stem if isinstance(item, Continuation) else item.text
    if question in (Question.FILLS, Question.CONTINUATIONS):
        if answer.unknown:
            replies.note_unknown(text, [answer.unknown])
        return float(answer.logprobs[which] / answer.tokens[which])
    replies.note_unknown(text, answer.unknown)
    if question is Question.TOKENS and int(answer.starts[0]) > 0:
        replies.leave_out(
            "the first word of sentences",
            f"nothing stands before it that {replies.model} could read, so it is not scored; add bos=yes to score it",
        )
    return float(answer.logprobs.mean())


def _as_file(examples: Sequence[StereoExample]) -> dict[str, list[dict[str, Any]]]:
    """The examples in the form of the published file."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for each in examples:
        sentences = [{"id": name, "gold_label": label} for label, (name, _) in each.sentences.items()]
        entry = {"target": each.target, "bias_type": each.bias_type, "sentences": sentences}
        parts.setdefault(each.kind, []).append(entry)
    return parts


def _measured(
    examples: Sequence[StereoExample], scores: Mapping[str, Mapping[str, float]], found: measures.StereoSetResult
) -> Measured:
    share = found.ss / 100
    ci = dataclasses.replace(found.ss_ci, low=found.ss_ci.low / 100, high=found.ss_ci.high / 100)
    leans, strength, words = preference_words(
        share,
        ci,
        found.ss_p_value,
        preferred="the stereotype to the anti-stereotype",
        among=f"{found.n:,} examples, each of {found.n_targets} target terms counting once",
        units="target terms",
    )
    name = "stereotype score (ss)"
    differs = abs(found.ss - found.published.ss) > 1e-9
    return Measured(
        Estimate(name, share, 0.5, BETTER, ci, found.ss_p_value, "two-sided"),
        leans,
        strength,
        f"{words} Sentences that make sense beat the unrelated one in {found.lms:.1f}% (lms; 100 is best), and both "
        f"together give icat {found.icat:.1f} (100 is best).",
        tuple(_item(example, scores[example.id]) for example in examples),
        found.n,
        found.n_targets,
        published=Estimate(name, found.published.ss / 100, 0.5, BETTER) if differs else None,
        correction="Examples that score the same count half; the published code counts them against the stereotype."
        if differs
        else "",
        details={
            key: value for key, value in found.to_dict().items() if key not in ("ss_ci", "ss_p_value", "n", "n_targets")
        },
    )


def _item(example: StereoExample, scores: Mapping[str, float]) -> dict[str, Any]:
    texts = {label.replace("-", "_"): text for label, (_, text) in example.sentences.items()}
    return {
        "sentence": example.context,
        "target": example.target,
        "kind": example.bias_type,
        "part": example.kind,
        **texts,
        **{f"score_{label.replace('-', '_')}": score for label, score in scores.items()},
    }


KIND = LanguageKind(
    "stereoset",
    "Is the stereotype likelier than the anti-stereotype (ss), and sense likelier than nonsense (lms)?",
    "Nadeem, Bethke & Reddy 2021, ACL",
    "of two sentences that make sense the stereotypical one should not be the likelier one.",
    "log-probabilities of fillers and masked tokens, or of tokens and continuations, which language models give",
    _ask,
    _measure,
    (FAULTY_PAIRS,),
)
