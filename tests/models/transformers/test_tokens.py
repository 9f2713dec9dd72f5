"""Which tokens a word in its sentence is made of."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Reach, Span
from tiltmeter.models.transformers.encoder import TransformerEncoder
from tiltmeter.models.transformers.tokens import find_reach, within

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_models import FAMILIES, SENTENCES  # noqa: E402
from tests.models.transformers.hidden_states import CLOSE, hidden_states  # noqa: E402


@pytest.mark.parametrize("family", ["bert", "roberta", "llama"])
def test_the_empty_span_at_0_is_the_mark_that_the_tokenizer_puts_before_a_text(tiny, family):
    spans = [Span(sentence, 0, end) for sentence in SENTENCES[:2] for end in (0, 3)]
    found = TransformerEncoder(str(tiny[family])).embed_spans(spans)
    expected = [hidden_states(tiny[family], sentence)[1][-1][0, 0].numpy() for sentence in SENTENCES[:2]]
    np.testing.assert_allclose(found[::2], expected, **CLOSE)
    assert np.abs(found[1::2] - found[::2]).max(axis=1).min() > 0.01


def test_a_model_without_a_mark_before_a_text_says_so(tiny):
    with pytest.raises(BadInput, match=r"^'The nurse slept.' has no \[CLS\]: .*puts no mark of its own before a text$"):
        TransformerEncoder(str(tiny["gpt2"])).embed_spans([Span("The nurse slept.", 0, 0)])


def test_accents_taken_apart_do_not_shift_a_word(tiny):
    composed, taken_apart = "The café owner slept.", "The cafe\u0301 owner slept."
    owner = Span(taken_apart, taken_apart.index("owner"), taken_apart.index("owner") + 5)
    encoder = TransformerEncoder(str(tiny["bert"]))
    same = encoder.embed_spans([Span(composed, 9, 14), owner, Span(composed, 4, 8), Span(taken_apart, 4, 9)])
    np.testing.assert_allclose(same[0], same[1], **CLOSE)
    np.testing.assert_allclose(same[2], same[3], **CLOSE)


@pytest.mark.parametrize("family", FAMILIES)
def test_white_space_at_the_ends_of_a_span_brings_in_no_neighbour(tiny, family):
    sentence = SENTENCES[0]
    bare, wide = TransformerEncoder(str(tiny[family])).embed_spans([Span(sentence, 4, 9), Span(sentence, 3, 10)])
    np.testing.assert_array_equal(bare, wide)


@pytest.mark.parametrize(
    ("span", "line"),
    [
        (Span("The nurse slept.", 9, 9), "is not a word"),
        (Span("The nurse slept.", 4, 99), "is not a word"),
        (Span("The nurse slept.", 9, 10), "is not a word"),
        (Span("The nurse \u200b slept.", 10, 11), "no token of its own"),
        (Span("nurse " * 60 + "slept", 0, 365), "limit of 40 tokens: shorten"),
        (Span(" ", 0, 1), "empty text"),
    ],
)
def test_a_span_without_a_vector_names_the_text_and_what_to_do(tiny, span, line):
    with pytest.raises(BadInput, match=line):
        TransformerEncoder(str(tiny["bert"])).embed_spans([Span("The nurse slept.", 4, 9), span])


def test_a_long_text_is_read_around_its_word_in_whole_words(minilm):
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)
    text = "big " * 50 + "nurse " + "slept " * 50
    middle, start = Span(text, 200, 205), Span(text, 0, 3)
    room = 40 - 2
    for span in (middle, start, Span(text, len(text) - 6, len(text) - 1)):
        (found,) = find_reach(tokenizer, [span], limit=40)
        shown = within(span, found)
        assert shown.word == span.word
        assert len(shown.text.split()) == room
        assert set(shown.text.split()) <= {"big", "nurse", "slept"}
    (around,) = find_reach(tokenizer, [middle], limit=40)
    before, after = text[around.start : 200].split(), text[205 : around.end].split()
    assert abs(len(before) - len(after)) <= 1
    assert find_reach(tokenizer, [middle], limit=200) == find_reach(tokenizer, [middle], limit=None)
    assert find_reach(tokenizer, [middle], limit=None) == [Reach(0, len(text))]


def test_a_word_far_into_a_long_text_has_the_vector_it_has_in_what_is_read_around_it(tiny):
    text = "nurse " * 60 + "slept"
    encoder, far = TransformerEncoder(str(tiny["bert"])), Span(text, 360, 365)
    shown = within(far, *encoder.reach([far]))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny["bert"])
    assert len(tokenizer(shown.text)["input_ids"]) == 40  # as many as the model reads
    np.testing.assert_allclose(encoder.embed_spans([far]), encoder.embed_spans([shown]), **CLOSE)
