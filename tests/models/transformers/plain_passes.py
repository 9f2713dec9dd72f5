"""What Transformers says of one text at a time, over the whole vocabulary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tiltmeter.errors import TiltmeterError
from tiltmeter.models.protocol import Continuation, Fill, Span
from tiltmeter.models.transformers.weights.checkpoints import quiet

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import TEXT  # noqa: E402

CLOSE = 1e-4
TEXTS = [TEXT[1][:42], TEXT[8][:44], TEXT[9][:16], "He left.", "We saw Özil\tand 3 cats — twice?", "He left early."]
SPANS = [*(Span(text, 0, len(text)) for text in TEXTS[2:5]), Span(TEXTS[0], 12, 42), Span(TEXTS[1], 3, 10)]


def fill_of(before: str, after: str, *fillers: str, hide: str = "") -> Fill:
    at = (before + "X" + after).find(hide) if hide else 0
    hidden = ((at, at + len(hide)),) if hide else ()
    return Fill(f"{before}X{after}", len(before), len(before) + 1, fillers, hidden)


FILLS = [
    fill_of("The nurse said that ", " slept.", "he", "she", "they", "the engineer"),
    fill_of("The nurse said that ", " slept.", "he", "she", "they", hide="nurse"),
    fill_of("", " met the midwife near the café.", "She", "Zürich", "The Zürich engineer", hide="midwife"),
    fill_of("Nobody asked ", " until the doctor left", "him", "Zürich", hide="the doctor left"),
    fill_of("It was made by ", "", "her", "people"),
]


CONTINUATIONS = [
    Continuation("The bread was baked by", (" him", " her", " them", " a man", " her mother")),
    Continuation("The letters were written by", (" him", " him.", " her.", " Zürich")),
    Continuation("彼は医者です。", ("彼女は", "彼")),
    Continuation("An engineer from Zürich repaired the old bridge near the café for", (" her", " the teacher")),
    Continuation("It was", (" his",)),
]


class Plain:
    """What Transformers says of one text at a time."""

    def __init__(self, folder: Path, *, causal: bool) -> None:
        kind = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForMaskedLM
        with quiet():
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            self.model = kind.from_pretrained(folder).eval()

    def tokens(self, text: str) -> tuple[list[int], list[int]]:
        """All token ids, and the places of those that are not the model's own marks."""
        found = self.tokenizer(text, return_special_tokens_mask=True)
        return found["input_ids"], [at for at, mark in enumerate(found["special_tokens_mask"]) if not mark]

    def upto(self, text: str) -> int:
        """How many tokens there are up to the end of a beginning of a text, marks included."""
        return self.tokens(text)[1][-1] + 1 if text.strip() else self.tokens("a")[1][0]

    def logprobs(self, ids: list[int]):
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # threads that wait for each other take ten times as long on a shared machine
        try:
            with torch.no_grad():
                return torch.log_softmax(self.model(input_ids=torch.tensor([ids])).logits[0].double(), dim=-1).numpy()
        finally:
            torch.set_num_threads(threads)

    def masked(self, ids: list[int], places) -> np.ndarray:
        return self.logprobs([self.tokenizer.mask_token_id if at in places else one for at, one in enumerate(ids)])

    def score(self, text: str) -> list[float]:
        ids, own = self.tokens(text)
        found = self.logprobs(ids)
        return [found[at - 1, ids[at]] for at in own if at]

    def unmasked(self, text: str) -> list[float]:
        ids, own = self.tokens(text)
        found = self.logprobs(ids)
        return [found[at, ids[at]] for at in own]

    def pseudo(self, span: Span) -> list[float]:
        ids, _ = self.tokens(span.text)
        places = range(self.upto(span.text[: span.start].rstrip()), self.upto(span.text[: span.end]))
        return [self.masked(ids, {at})[at, ids[at]] for at in places]

    def fill(self, item: Fill, filler: str) -> list[float]:
        text, (start, end), hidden = item.with_filler(filler)
        ids, _ = self.tokens(text)
        places = range(self.upto(text[:start].rstrip()), self.upto(text[:end]))
        hide = {at for a, b in hidden for at in range(self.upto(text[:a].rstrip()), self.upto(text[:b]))}
        return [self.masked(ids, {*places[step:], *hide})[at, ids[at]] for step, at in enumerate(places)]

    def endings(self, item: Continuation) -> list[list[float]]:
        """An ending starts where its tokens or those of another ending part from the stem's."""
        texts = [self.tokens(item.stem + ending)[0] for ending in ("", *item.endings)]
        start = next((at for at, same in enumerate(zip(*texts, strict=False)) if len(set(same)) > 1), len(texts[0]))
        found = [(ids, self.logprobs(ids)) for ids in texts[1:]]
        return [[some[at - 1, ids[at]] for at in range(start, len(ids))] for ids, some in found]


def flat(answers) -> list[np.ndarray]:
    return [np.asarray(answer.logprobs, dtype=np.float64) for answer in answers]


def assert_close(found, expected) -> None:
    for one, other in zip(flat(found), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=CLOSE)


HE = Fill("The nurse said he left.", 15, 17, ("he", "she"))


def one_line(error: pytest.ExceptionInfo[TiltmeterError]) -> bool:
    return "\n" not in str(error.value) and len(str(error.value)) < 300
