"""The vocabulary is projected only where it is read, and the ends of an encoder are shortened, with the same result."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import (  # noqa: E402
    CAUSAL,
    FAMILIES,
)
from tests.models.transformers.plain_passes import (  # noqa: E402
    CLOSE,
    SPANS,
    TEXTS,
    fill_of,
)
from tiltmeter.models.protocol import Blank  # noqa: E402
from tiltmeter.models.transformers.projection import Projection  # noqa: E402


@pytest.mark.parametrize("family", FAMILIES)
def test_the_vocabulary_is_projected_only_where_it_is_read(tiny_lm, family):
    model = tiny_lm(family)
    ask = (lambda: model.score(TEXTS[:1])) if family in CAUSAL else (lambda: model.pseudo_score(SPANS[:1]))
    ask()  # at the first question trees are tried, on a few tokens of their own
    projection = model._language._projection
    assert projection._short
    if family in CAUSAL:
        tiny_lm(family).score(TEXTS[:1])  # what is tried once, at the first question, is not counted
    seen: list[int] = []
    head = projection.model.get_output_embeddings()
    hook = head.register_forward_hook(lambda _module, given, _output: seen.append(given[0].shape[-2]))
    try:
        (found,) = ask()
    finally:
        hook.remove()
    assert sum(seen) == len(found)


class MixedHead(torch.nn.Module):
    """A head that looks at all positions, which no picked states can serve."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.config = transformers.BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
        self.base_model = transformers.BertModel(self.config)
        self.head = torch.nn.Linear(16, 50)
        self.device = torch.device("cpu")

    def forward(self, input_ids):
        states = self.base_model(input_ids=input_ids)[0]
        return transformers.modeling_outputs.MaskedLMOutput(logits=self.head(states - states.mean(1, keepdim=True)))


def test_a_head_that_mixes_positions_is_given_all_of_them():
    model = MixedHead().eval()
    projection = Projection(model)
    assert not projection._short
    tokens = torch.arange(8).reshape(2, 4)
    with torch.inference_mode():
        found, _ = projection.logprobs(([0, 1], [3, 2]), input_ids=tokens)
        whole = torch.log_softmax(model(input_ids=tokens).logits, dim=-1)
    np.testing.assert_allclose(found, whole[[0, 1], [3, 2]], rtol=0, atol=1e-6)


@pytest.mark.skipif(transformers.__version__ < "5", reason="layers of Transformers 4 are left whole")
@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta", "electra"])
def test_both_ends_of_a_bert_like_encoder_are_shortened_and_give_the_same(tiny_lm, family):
    projection = tiny_lm(family)._language._projection
    ends = projection._ends
    assert ends is not None
    tokens = torch.tensor([[7, 5, 6, 9, 8], [7, 9, 6, 5, 8], [7, 5, 9, 6, 8]])
    real = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
    places = [0, 1, 2], [3, 1, 2]
    with torch.inference_mode():
        short, _ = projection.logprobs(places, input_ids=tokens, attention_mask=real)
        projection._ends = None
        try:
            whole, _ = projection.logprobs(places, input_ids=tokens, attention_mask=real)
        finally:
            projection._ends = ends
    assert not torch.equal(short, whole)  # it was another way to the same numbers
    np.testing.assert_allclose(short, whole, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["distilbert", "albert", "modernbert"])
def test_other_encoders_are_left_as_they_are(tiny_lm, family):
    assert tiny_lm(family)._language._projection._ends is None


def test_all_words_of_the_vocabulary_together_have_probability_one(tiny_lm):
    model = tiny_lm("bert")
    words = [word for word in model._language.tokenizer.get_vocab() if not word.startswith(("##", "["))]
    item = fill_of("The nurse said that ", " slept.", *words)
    (found,) = model.fill([item])
    assert set(found.tokens) == {1}
    by_fill = dict(zip(words, np.exp(found.logprobs), strict=True))
    assert 0 < sum(by_fill.values()) <= 1
    (likeliest,) = model.likeliest([Blank(item.text, item.start, item.end, k=10_000)])
    chances = np.exp(likeliest.logprobs)
    assert len(likeliest.words) == len(model._language.tokenizer)
    assert chances.sum() == pytest.approx(1, abs=CLOSE)
    assert (np.diff(chances) <= 0).all()
    words_and_chances = zip(likeliest.words, chances, strict=True)
    assert all(by_fill[word] == pytest.approx(p, abs=CLOSE) for word, p in words_and_chances if word in by_fill)
