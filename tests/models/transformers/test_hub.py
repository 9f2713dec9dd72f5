"""Which questions a checkpoint answers, and what it says to the others."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Continuation, Question, Span
from tiltmeter.models.transformers.checkpoints import quiet
from tiltmeter.models.transformers.hub import TransformerModel

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import (  # noqa: E402
    CAUSAL,
    MASKED,
)
from tests.models.transformers.plain_passes import (  # noqa: E402
    HE,
    one_line,
)


@pytest.mark.parametrize("family", CAUSAL)
@pytest.mark.parametrize(
    ("method", "item"), [("fill", HE), ("pseudo_score", Span("It", 0, 2)), ("unmasked_score", "It")]
)
def test_a_causal_model_has_no_masks_to_fill(tiny_lm, family, method, item):
    with pytest.raises(BadInput, match=f"{method} asks for .*masked.*; .* is a causal language model") as caught:
        getattr(tiny_lm(family), method)([item])
    assert one_line(caught)
    assert set(tiny_lm(family).questions) == {Question.SPANS, Question.TOKENS, Question.CONTINUATIONS}


@pytest.mark.parametrize("family", MASKED)
@pytest.mark.parametrize(("method", "item"), [("score", "It left."), ("continue_with", Continuation("It", (" left",)))])
def test_a_masked_model_does_not_go_from_left_to_right(tiny_lm, family, method, item):
    with pytest.raises(BadInput, match=f"{method} asks for .*causal.*; .* is a masked language model") as caught:
        getattr(tiny_lm(family), method)([item])
    assert one_line(caught)
    assert {Question.FILLS, Question.PSEUDO, Question.UNMASKED} <= set(tiny_lm(family).questions)


def test_a_model_without_a_head_says_so(tmp_path):
    from tests.models import tiny_models

    folder = tiny_models.save_tiny("bert", tmp_path / "bare")
    with pytest.raises(BadInput, match=r"fill asks for .*has no language-model head"):
        TransformerModel(str(folder)).fill([HE])


def test_an_encoder_that_kept_the_settings_of_a_masked_model_gives_vectors_and_no_probabilities(lm_copy):
    folder = lm_copy("roberta")
    settings = (folder / "config.json").read_text(encoding="utf-8")
    with quiet():
        transformers.AutoModel.from_pretrained(folder).save_pretrained(folder)
    (folder / "config.json").write_text(settings, encoding="utf-8")
    model = TransformerModel(str(folder))
    assert set(model.questions) == {Question.WORDS, Question.TEXTS, Question.SPANS}
    assert model.embed_texts(["The nurse left."]).shape[0] == 1
    with pytest.raises(BadInput, match="has no language-model head") as error:
        model.fill([HE])
    assert one_line(error)


def test_a_stem_and_its_endings_can_be_given_as_they_are(tiny_lm):
    model = tiny_lm("gpt2")
    (filled,) = model.continue_with([Continuation("The nurse said", (" he", " she"))])
    assert model.continue_with("The nurse said", [" he", " she"]) == list(filled.logprobs)


def test_a_masked_sentence_is_embedded_with_the_models_own_mask(tiny_lm):
    model = tiny_lm("roberta")
    assert model._language.tokenizer.mask_token == "<mask>"
    ours, theirs = "The nurse said [MASK] left.", "The nurse said <mask> left."
    one, two = model.embed_spans([Span(ours, 22, 26), Span(theirs, 22, 26)])
    assert ours[22:26] == theirs[22:26] == "left"
    assert one == pytest.approx(two, abs=1e-5)
    ours_masked, theirs_masked = model.embed_spans([Span(ours, 15, 21), Span(theirs, 15, 21)])
    assert ours_masked == pytest.approx(theirs_masked, abs=1e-5)
    (literal,) = model.embed_texts(["The nurse said ( MASK ) left."])
    assert model.embed_texts([ours])[0] != pytest.approx(literal, abs=1e-3)
