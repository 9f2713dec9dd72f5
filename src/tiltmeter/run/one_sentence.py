"""One sentence of the user's put to a model: which of two words it expects, and which words at a mask."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput, without_passwords
from tiltmeter.models import CachedModel, VectorStore, load
from tiltmeter.models.protocol import Blank, Question
from tiltmeter.probes.cloze.one_sentence import one_sentence
from tiltmeter.readings.frames import frame
from tiltmeter.run.probe import stored
from tiltmeter.statistics import Result
from tiltmeter.stimuli.sentences.sentence import MASK

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeAnswer(Result):
    """Which of two words a model expects: shares ``to_1`` and ``to_2``, one row without and one with each context."""

    model: str
    sentence: str
    words: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per context, the first without one."""
        return frame(self.rows)

    def __repr__(self) -> str:
        one, two = self.rows[0]["to_1"], self.rows[0]["to_2"]
        shares = "neither" if one is None else f"{self.words[0]} {one:.2f}, {self.words[1]} {two:.2f}"
        return f"<ClozeAnswer {shares}: {self.sentence!r} on {self.model}>"


@dataclasses.dataclass(frozen=True, slots=True)
class WordChance:
    """A word, and how probable it is."""

    word: str
    probability: float


@dataclasses.dataclass(frozen=True, slots=True)
class UnmaskAnswer(Result):
    """The words a model expects at the mask, the most probable first."""

    model: str
    sentence: str
    words: tuple[WordChance, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per word."""
        return frame(dataclasses.asdict(chance) for chance in self.words)

    def __repr__(self) -> str:
        first = ", ".join(f"{chance.word} {chance.probability:.2f}" for chance in self.words[:3])
        return f"<UnmaskAnswer {first}: {self.sentence!r} on {self.model}>"


def cloze(
    model: str | object,
    sentence: str,
    *,
    contexts: Sequence[str] | None = None,
    vectors: str | object = "bundled:glove",
    cache: bool | VectorStore = True,
) -> ClozeAnswer:
    """Which of two words a model expects in one sentence, with and without each context.

    Args:
        model: a causal or masked language model: a spec, or an object of your own.
        sentence: a sentence with a choice such as [him/her] in it.
        contexts: context words; without them, every word of the sentence that has a vector is one.
        vectors: the model whose word vectors give the similarities.
        cache: whether answers are stored, or where.

    >>> cloze("bundled:smollm2", "The recipe was crafted by [him/her].").to_frame()  # doctest: +SKIP
    """
    with stored(cache) as store:
        asked, word_model = (CachedModel(load(spec), store) for spec in (model, vectors))
        rows, words = one_sentence(asked, word_model, sentence, contexts)
    return ClozeAnswer(_name(model, asked.model), sentence, words, tuple(rows))


def unmask(model: str | object, sentence: str, *, top: int = 10) -> UnmaskAnswer:
    """The words that a masked language model expects at [MASK], with their probabilities.

    >>> unmask("hf:bert-base-uncased", "The nurse said that [MASK] was tired.").words[0].word  # doctest: +SKIP
    'she'
    """
    loaded = load(model)
    return fill_mask(loaded, _name(model, loaded), sentence, top=top)


def fill_mask(model: Any, name: str, sentence: str, *, top: int) -> UnmaskAnswer:
    """The same of a model that is loaded, under its name: for many sentences."""
    if sentence.count(MASK) != 1:
        raise BadInput(f"the sentence must hold one {MASK}, and it holds {sentence.count(MASK)}: '{sentence}'")
    if top < 1:
        raise BadInput(f"top must be at least 1, not {top}")
    asked = CachedModel(model)
    if not asked.answers_question(Question.LIKELIEST):
        raise BadInput(
            f"{name} is not a masked language model, so it has no mask to fill: give e.g. hf:bert-base-uncased"
        )
    blank = Blank.of(sentence, MASK, k=top)
    answer = asked.answers(Question.LIKELIEST, [blank])[blank]
    chances = zip(answer.words, answer.logprobs, strict=True)
    return UnmaskAnswer(name, sentence, tuple(WordChance(word, math.exp(logprob)) for word, logprob in chances))


def _name(model: str | object, loaded: Any) -> str:
    """What the model was called by who asked; an object is called as in its readings."""
    return without_passwords(model) if isinstance(model, str) else CachedModel(loaded, None).identity.name
