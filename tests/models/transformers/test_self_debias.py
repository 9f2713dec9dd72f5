"""Self-Debias against two plain forward passes, done by hand."""

from __future__ import annotations

import numpy as np
import pytest

import tiltmeter
from tests.models.tiny_language_models import save_tiny
from tiltmeter.errors import BadInput
from tiltmeter.mitigation import self_debias
from tiltmeter.models import CachedModel, Question
from tiltmeter.models.protocol import Continuation, Fill

PROMPT = "The following text discriminates against people because of their gender:\n"


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def folder(request, tmp_path_factory):
    return save_tiny(request.param, tmp_path_factory.mktemp(request.param) / "model")


def passes(folder, ids):
    """The distribution after every token of a row."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    kind = AutoModelForMaskedLM if "bert" in str(folder) else AutoModelForCausalLM
    model = kind.from_pretrained(folder).eval()
    with torch.inference_mode():
        return torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0].float(), -1).numpy()


def made(folder, tmp_path):
    spec = f"hf:{folder}"
    tiltmeter.debias("self_debias", spec, out=tmp_path / "made", cache=False)
    return tiltmeter.load(f"debiased:{tmp_path / 'made'}"), tiltmeter.load(spec)


def test_probabilities_are_those_of_two_passes(folder, tmp_path):
    from transformers import AutoTokenizer

    model, base = made(folder, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompt = tokenizer(PROMPT, add_special_tokens=False)["input_ids"]
    if base.head == "masked":
        text = "The nurse said that he was tired."
        place = text.index("he was")
        (answer,) = model.fill([Fill(text, place, place + 2, ("he", "she"))])
        ids = tokenizer(text[:place] + tokenizer.mask_token + text[place + 2 :])["input_ids"]
        at = ids.index(tokenizer.mask_token_id)
        plain, biased = passes(folder, ids)[at], passes(folder, [ids[0], *prompt, *ids[1:]])[at + len(prompt)]
        words = [tokenizer.convert_tokens_to_ids(word) for word in ("he", "she")]
    else:
        (answer,) = model.continue_with([Continuation("The nurse said that", (" he", " she"))])
        ids = tokenizer("The nurse said that")["input_ids"]
        plain, biased = passes(folder, ids)[-1], passes(folder, [*prompt, *ids])[-1]
        words = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in (" he", " she")]
        if max(map(len, words)) > 1:
            pytest.skip("this tokenizer cuts he or she")
        words = [word for (word,) in words]
    expected = self_debias(plain, biased[None])[words]
    np.testing.assert_allclose(answer.logprobs, expected, atol=1e-4)


def test_it_says_where_it_comes_from_and_keeps_its_vectors(folder, tmp_path):
    model, base = made(folder, tmp_path)
    assert model.identity.revision.startswith(f"{CachedModel(base).identity.revision}+self_debias-")
    assert "after self_debias, which is fitted on nothing; its vectors are as they were" in model.note
    assert set(model.questions) == set(base.questions) - {Question.GENERATE, Question.LIKELIEST}
    if Question.TEXTS in base.questions:
        np.testing.assert_array_equal(model.embed_texts(["a nurse"]), base.embed_texts(["a nurse"]))


def test_another_base_is_refused(folder, tmp_path):
    made(folder, tmp_path)
    other = save_tiny("roberta", tmp_path / "other")
    model = tiltmeter.load(f"debiased:{tmp_path / 'made'}?base=hf:{other}")
    with pytest.raises(BadInput, match="belongs to"):
        model.questions  # noqa: B018


def test_vectors_are_none_of_its_business(tmp_path):
    with pytest.raises(BadInput, match="self_debias is for language models"):
        tiltmeter.debias("self_debias", "bundled:glove", out=tmp_path / "made", cache=False)
    assert not (tmp_path / "made").exists()
