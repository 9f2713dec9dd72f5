"""One sentence put to a model from Python: what the commands print."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

import tiltmeter
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Blank, Likeliest


class Masked:
    """A masked language model that always expects the same."""

    def likeliest(self, blanks: Sequence[Blank]) -> list[Likeliest]:
        assert all(blank.text[blank.start : blank.end] == "[MASK]" for blank in blanks)
        logprobs = tuple(math.log(p) for p in (0.6, 0.3, 0.1))
        return [Likeliest(("she", "he", "it")[: blank.k], logprobs[: blank.k]) for blank in blanks]


def test_unmask_gives_the_most_probable_words_first() -> None:
    answer = tiltmeter.unmask(Masked(), "The nurse said that [MASK] was tired.", top=2)
    assert [chance.word for chance in answer.words] == ["she", "he"]
    assert [chance.probability for chance in answer.words] == pytest.approx([0.6, 0.3])
    assert answer.to_frame().shape == (2, 2)
    assert repr(answer).startswith("<UnmaskAnswer she 0.60, he 0.30: 'The nurse said that [MASK] was tired.' on ")


@pytest.mark.parametrize(
    ("sentence", "top", "message"),
    [
        ("no mask", 5, "must hold one .MASK."),
        ("[MASK] [MASK]", 5, "it holds 2"),
        ("[MASK]", 0, "top must be at least 1"),
    ],
)
def test_what_cannot_be_unmasked_is_one_line(sentence: str, top: int, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        tiltmeter.unmask(Masked(), sentence, top=top)


def test_a_model_without_a_mask_is_named() -> None:
    with pytest.raises(BadInput, match="is not a masked language model"):
        tiltmeter.unmask({"he": [1.0, 0.0]}, "[MASK]")
