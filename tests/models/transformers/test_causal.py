"""Causal language models against plain forward passes."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Continuation
from tiltmeter.models.transformers.hub import TransformerModel

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import (  # noqa: E402
    CAUSAL,
    LIMIT,
)
from tests.models.transformers.plain_passes import (  # noqa: E402
    CONTINUATIONS,
    TEXTS,
    assert_close,
    flat,
)


@pytest.mark.parametrize("family", CAUSAL)
def test_tokens_from_left_to_right_equal_a_plain_forward_pass(tiny_lm, plain_lm, family):
    assert_close(tiny_lm(family).score(TEXTS), [plain_lm(family).score(text) for text in TEXTS])


@pytest.mark.parametrize("family", CAUSAL)
def test_endings_equal_a_plain_forward_pass_over_each_whole_text(tiny_lm, plain_lm, family):
    expected = [plain_lm(family).endings(item) for item in CONTINUATIONS]
    found = tiny_lm(family).continue_with(CONTINUATIONS)
    assert_close(found, [[sum(steps) for steps in item] for item in expected])
    assert [answer.tokens for answer in found] == [tuple(map(len, item)) for item in expected]


@pytest.mark.parametrize("family", CAUSAL)
def test_endings_read_from_stored_states_equal_whole_rows(tiny_lm, monkeypatch, family):
    language = tiny_lm(family)._language
    assert language._caches == (family != "openai-gpt")  # the one family here that stores nothing
    stored = tiny_lm(family).continue_with(CONTINUATIONS)
    monkeypatch.setitem(language.__dict__, "_caches", False)
    whole = tiny_lm(family).continue_with(CONTINUATIONS)
    assert_close(stored, flat(whole))
    assert [each.tokens for each in stored] == [each.tokens for each in whole]


def test_an_unknown_word_is_reported_from_left_to_right_too(tiny_lm):
    model = tiny_lm("openai-gpt")
    (found,) = model.score(["The ღ nurse said he saw ვ there."])
    assert found.unknown == [(4, 5), (24, 25)]
    stem = Continuation("The nurse ღ said that", (" he", " she slept"))
    assert model.continue_with([stem])[0].unknown == (10, 11)
    assert model.continue_with([Continuation("The nurse said that", (" he",))])[0].unknown is None


@pytest.mark.parametrize("family", ["roberta", "gpt2", "llama"])
def test_bytes_leave_nothing_unknown(tiny_lm, family):
    ask = tiny_lm(family).score if family in CAUSAL else tiny_lm(family).unmasked_score
    (found,) = ask(["The ღ nurse left."])
    assert found.unknown == []


def test_a_start_mark_is_put_before_a_text_where_it_is_asked_for_and_not_there(tiny_lm):
    folder = tiny_lm("gpt2")._source
    text = "He left early."
    plain, started = TransformerModel(folder).score([text]), TransformerModel(folder, bos="yes").score([text])
    assert started[0].ids[1:].tolist() == plain[0].ids.tolist()
    assert started[0].starts[0] == 0
    assert len(TransformerModel(folder, bos="yes").score(["The"])[0]) == 1
    llama = tiny_lm("llama")._source
    for option in ("yes", "no"):  # its tokenizer puts one there anyway, and never two
        assert TransformerModel(llama, bos=option).score([text])[0].starts[0] == 0
    ours, marked = (TransformerModel(llama, bos=option).score([text])[0].logprobs for option in ("no", "yes"))
    assert ours.tolist() == marked.tolist()


def test_a_start_mark_counts_towards_the_limit(tiny_lm):
    folder = tiny_lm("gpt2")._source
    text = "The" + " nurse" * (LIMIT - 1)
    assert len(TransformerModel(folder).score([text])[0]) == LIMIT - 1
    with pytest.raises(BadInput, match=f"{LIMIT + 1} tokens with its start mark, and .* reads {LIMIT}: shorten it"):
        TransformerModel(folder, bos="yes").score([text])
