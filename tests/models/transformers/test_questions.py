"""Masked language models against plain forward passes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Blank, Continuation, Fill, Span
from tiltmeter.models.transformers.hub import TransformerModel

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import (  # noqa: E402
    MASKED,
)
from tests.models.transformers.plain_passes import (  # noqa: E402
    CLOSE,
    FILLS,
    HE,
    SPANS,
    TEXTS,
    assert_close,
    fill_of,
)


@pytest.mark.parametrize("family", MASKED)
def test_tokens_masked_in_turn_equal_a_plain_forward_pass_each(tiny_lm, plain_lm, family):
    assert_close(tiny_lm(family).pseudo_score(SPANS), [plain_lm(family).pseudo(span) for span in SPANS])


@pytest.mark.parametrize("family", MASKED)
def test_unmasked_tokens_equal_a_plain_forward_pass(tiny_lm, plain_lm, family):
    assert_close(tiny_lm(family).unmasked_score(TEXTS), [plain_lm(family).unmasked(text) for text in TEXTS])


@pytest.mark.parametrize("family", MASKED)
def test_fillers_are_filled_in_from_left_to_right_with_the_hidden_words_masked_whole(tiny_lm, plain_lm, family):
    expected = [[plain_lm(family).fill(item, filler) for filler in item.fillers] for item in FILLS]
    found = tiny_lm(family).fill(FILLS)
    assert_close(found, [[sum(steps) for steps in item] for item in expected])
    assert [answer.tokens for answer in found] == [tuple(map(len, item)) for item in expected]
    assert max(max(answer.tokens) for answer in found) > 2


def test_the_chain_rule_by_hand_for_a_filler_of_two_tokens(tiny_lm, plain_lm):
    tokenizer, vocabulary = plain_lm("bert").tokenizer, plain_lm("bert").tokenizer.get_vocab()
    assert tokenizer.tokenize("him") == ["hi", "##m"]
    mask, hi, m = vocabulary["[MASK]"], vocabulary["hi"], vocabulary["##m"]
    before, after = tokenizer("baked by", add_special_tokens=False)["input_ids"], [vocabulary["."], vocabulary["[SEP]"]]
    start = [vocabulary["[CLS]"], *before]
    first = plain_lm("bert").logprobs([*start, mask, mask, *after])[len(start), hi]
    second = plain_lm("bert").logprobs([*start, hi, mask, *after])[len(start) + 1, m]
    (found,) = tiny_lm("bert").fill([fill_of("Baked by ", ".", "him")])
    assert found.logprobs[0] == pytest.approx(first + second, abs=CLOSE)
    # all second pieces together take the probability of the first, no more and no less
    assert np.exp(plain_lm("bert").logprobs([*start, hi, mask, *after])[len(start) + 1]).sum() == pytest.approx(1)


def test_what_is_hidden_makes_no_difference_and_what_is_not_does(tiny_lm):
    def asked(word: str, **options: str) -> float:
        return tiny_lm("bert").fill([fill_of(f"The {word} said that ", " slept.", "he", **options)])[0].logprobs[0]

    assert len(tiny_lm("bert")._language.tokenizer.tokenize("nurse teacher")) == 2
    assert asked("nurse", hide="nurse") == pytest.approx(asked("teacher", hide="teacher"), abs=1e-6)
    # The tokenizer numbers its words anew each time, so two of them may fall close together by chance; six do not.
    shown = [asked(word) for word in ("nurse", "teacher", "engineer", "bridge", "café", "children")]
    assert max(shown) - min(shown) > 0.01


def test_a_space_that_is_a_token_of_its_own_belongs_to_the_word_after_it(tiny_lm):
    for family in ("xlm-roberta", "modernbert", "roberta"):
        model = tiny_lm(family)
        tokens = model._language.tokenizer.tokenize("by Zürich")
        assert tokens[-5] in ("▁", "Ġ")  # the case in point: ▁ Z ü ri ch
        text = "made by Zürich."
        (word,) = model.pseudo_score([Span(text, 8, 14)])
        (whole,) = model.pseudo_score([Span(text, 0, len(text))])
        (unmasked,) = model.unmasked_score([text])
        assert len(word) == 5
        assert whole.ids.tolist() == unmasked.ids.tolist()
        assert len(whole.within(8, 14)) == 5


@pytest.mark.parametrize("family", MASKED)
def test_the_likeliest_words_are_those_of_the_fill_mask_pipeline(tiny_lm, family):
    model = tiny_lm(family)
    # Transformers 4 gives token types to a DistilBERT that takes none.
    pipeline = transformers.pipeline(
        "fill-mask", model=str(model._root), top_k=4, tokenizer_kwargs={"return_token_type_ids": False}
    )
    # Sentences of several lengths stand in one batch, and each asks for as many words as it likes.
    texts = ["She works as a [MASK].", "[MASK] slept in the chair while he waited.", "The [MASK] was baked by him."]
    blanks = [Blank.of(text, k=k) for text, k in zip(texts, (4, 2, 3), strict=True)]
    for blank, answer in zip(blanks, model.likeliest(blanks), strict=True):
        theirs = pipeline(blank.text.replace("[MASK]", pipeline.tokenizer.mask_token))[: blank.k]
        assert answer.words == tuple(one["token_str"].strip() for one in theirs)
        np.testing.assert_allclose(np.exp(answer.logprobs), [one["score"] for one in theirs], rtol=1e-4)


def test_a_blank_that_is_no_place_of_its_sentence_is_refused(tiny_lm):
    for blank in (Blank("She slept.", 4, 99), Blank("She slept.", 0, 3, k=0)):
        with pytest.raises(BadInput, match="give a place in the sentence, and at least one word"):
            tiny_lm("bert").likeliest([blank])


@pytest.mark.parametrize("family", ["bert", "bert-cased", "xlm-roberta", "albert"])
def test_an_unknown_word_is_reported_by_its_characters(tiny_lm, family):
    text = "The ღ nurse said he saw ვ there."
    model = tiny_lm(family)
    (unmasked,), (masked,) = model.unmasked_score([text]), model.pseudo_score([Span(text, 0, len(text))])
    assert unmasked.unknown == masked.unknown == [(4, 5), (24, 25)]
    (inside,) = model.pseudo_score([Span(text, 17, 32)])
    assert inside.unknown == [(24, 25)]


@pytest.mark.parametrize("family", ["bert", "xlm-roberta"])
@pytest.mark.parametrize("fillers", [("he", "she"), ("the engineer", "he"), ("it", "the old bridge")])
def test_an_unknown_word_beside_a_filler_is_reported_in_the_characters_of_the_item(tiny_lm, family, fillers):
    ask = tiny_lm(family).fill
    before, after = Fill("A ღ said he left.", 9, 11, fillers), Fill("A nurse said he saw ვ.", 13, 15, fillers)
    hidden = Fill("A nurse said he saw ვ.", 13, 15, fillers, hidden=((20, 21),))
    found = ask([before, after, hidden, HE])
    assert [answer.unknown for answer in found] == [(2, 3), (20, 21), None, None]


from tests.models.tiny_language_models import (  # noqa: E402
    CAUSAL,
    LIMIT,
)
from tests.models.transformers.plain_passes import (  # noqa: E402
    CONTINUATIONS,
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
def test_texts_that_begin_alike_are_scored_as_trees_where_a_trial_shows_that_they_can_be(tiny_lm, monkeypatch, family):
    language = tiny_lm(family)._language
    # OpenAI's first GPT takes no mask of its own; no tree is larger than what a model reads.
    assert language._largest_tree == (0 if family == "openai-gpt" else LIMIT)
    texts = [item.stem + ending for item in CONTINUATIONS for ending in item.endings]
    trees = tiny_lm(family).continue_with(CONTINUATIONS), tiny_lm(family).score(texts)
    monkeypatch.setitem(language.__dict__, "_largest_tree", 0)
    whole = tiny_lm(family).continue_with(CONTINUATIONS), tiny_lm(family).score(texts)
    for some, others in zip(trees, whole, strict=True):
        assert_close(some, flat(others))
    assert [each.tokens for each in trees[0]] == [each.tokens for each in whole[0]]


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
    llama = tiny_lm("llama")._source  # its tokenizer puts one there, and never two
    ours, marked = (TransformerModel(llama, bos=option).score([text])[0] for option in ("auto", "yes"))
    assert ours.starts[0] == marked.starts[0] == 0
    assert ours.logprobs.tolist() == marked.logprobs.tolist()
    # Without one, nothing stands before the first token, and the others are read without it.
    bare = TransformerModel(llama, bos="no").score([text])[0]
    assert bare.ids.tolist() == ours.ids[1:].tolist()
    assert bare.logprobs.tolist() != pytest.approx(ours.logprobs[1:].tolist())


@pytest.mark.parametrize(("declared", "says"), [(True, "declared yes"), (False, "declared no")])
def test_a_start_mark_is_decided_by_the_files_of_the_model_and_not_by_the_library(lm_copy, declared, says):
    folder = lm_copy("llama")
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**settings, "add_bos_token": declared}), encoding="utf-8")
    model = TransformerModel(str(folder))
    assert model.identity.settings["bos"] == says
    (scores,) = model.score(["He left early."])
    assert (scores.starts[0] == 0) == declared


def test_a_start_mark_counts_towards_the_limit(tiny_lm):
    folder = tiny_lm("gpt2")._source
    text = "The" + " nurse" * (LIMIT - 1)
    assert len(TransformerModel(folder).score([text])[0]) == LIMIT - 1
    with pytest.raises(BadInput, match=f"{LIMIT + 1} tokens with its start mark, and .* reads {LIMIT}: shorten it"):
        TransformerModel(folder, bos="yes").score([text])
