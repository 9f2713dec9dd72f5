"""Log-probabilities against plain forward passes with Transformers: one text at a time, over the whole vocabulary."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path

import numpy as np
import pytest

from tiltmeter.models.protocol import Continuation, Fill, Question, Span
from tiltmeter.models.transformers.checkpoints import quiet

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import CAUSAL, FAMILIES, MASKED, TEXT  # noqa: E402
from tiltmeter.models.transformers.projection import Projection  # noqa: E402

CLOSE = 1e-4
TEXTS = [TEXT[1][:42], TEXT[8][:44], TEXT[9][:16], "He left.", "We saw Özil\tand 3 cats — twice?", "He left early."]
SPANS = [*(Span(text, 0, len(text)) for text in TEXTS[2:5]), Span(TEXTS[0], 12, 42), Span(TEXTS[1], 3, 10)]


def _fill(before: str, after: str, *fillers: str, hide: str = "") -> Fill:
    at = (before + "X" + after).find(hide) if hide else 0
    hidden = ((at, at + len(hide)),) if hide else ()
    return Fill(f"{before}X{after}", len(before), len(before) + 1, fillers, hidden)


FILLS = [
    _fill("The nurse said that ", " slept.", "he", "she", "they", "the engineer"),
    _fill("The nurse said that ", " slept.", "he", "she", "they", hide="nurse"),
    _fill("", " met the midwife near the café.", "She", "Zürich", "The Zürich engineer", hide="midwife"),
    _fill("Nobody asked ", " until the doctor left", "him", "Zürich", hide="the doctor left"),
    _fill("It was made by ", "", "her", "people"),
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


@pytest.fixture(scope="module")
def plain(tiny_lm):
    return functools.cache(lambda family: Plain(tiny_lm(family)._source, causal=family in CAUSAL))


def flat(answers) -> list[np.ndarray]:
    return [np.asarray(answer.logprobs, dtype=np.float64) for answer in answers]


def assert_close(found, expected) -> None:
    for one, other in zip(flat(found), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("family", CAUSAL)
def test_tokens_from_left_to_right_equal_a_plain_forward_pass(tiny_lm, plain, family):
    assert_close(tiny_lm(family).score(TEXTS), [plain(family).score(text) for text in TEXTS])


@pytest.mark.parametrize("family", MASKED)
def test_tokens_masked_in_turn_equal_a_plain_forward_pass_each(tiny_lm, plain, family):
    assert_close(tiny_lm(family).pseudo_score(SPANS), [plain(family).pseudo(span) for span in SPANS])


@pytest.mark.parametrize("family", MASKED)
def test_unmasked_tokens_equal_a_plain_forward_pass(tiny_lm, plain, family):
    assert_close(tiny_lm(family).unmasked_score(TEXTS), [plain(family).unmasked(text) for text in TEXTS])


@pytest.mark.parametrize("family", MASKED)
def test_fillers_are_filled_in_from_left_to_right_with_the_hidden_words_masked_whole(tiny_lm, plain, family):
    expected = [[plain(family).fill(item, filler) for filler in item.fillers] for item in FILLS]
    found = tiny_lm(family).fill(FILLS)
    assert_close(found, [[sum(steps) for steps in item] for item in expected])
    assert [answer.tokens for answer in found] == [tuple(map(len, item)) for item in expected]
    assert max(max(answer.tokens) for answer in found) > 2


@pytest.mark.parametrize("family", CAUSAL)
def test_endings_equal_a_plain_forward_pass_over_each_whole_text(tiny_lm, plain, family):
    expected = [plain(family).endings(item) for item in CONTINUATIONS]
    found = tiny_lm(family).continue_with(CONTINUATIONS)
    assert_close(found, [[sum(steps) for steps in item] for item in expected])
    assert [answer.tokens for answer in found] == [tuple(map(len, item)) for item in expected]


QUESTIONS = [
    *(("score", family, TEXTS) for family in CAUSAL),
    *(("continue_with", family, CONTINUATIONS) for family in CAUSAL),
    *(("pseudo_score", family, SPANS) for family in MASKED),
    *(("unmasked_score", family, TEXTS) for family in MASKED),
    *(("fill", family, FILLS) for family in MASKED),
]


@pytest.mark.parametrize(("method", "family", "items"), QUESTIONS)
def test_neither_company_nor_order_nor_duplicates_change_a_score(tiny_lm, method, family, items):
    ask = getattr(tiny_lm(family), method)
    alone = [flat(ask([item]))[0] for item in items]
    assert_close(ask(items), alone)
    assert_close(ask([*items[::-1], *items, items[0]]), [*alone[::-1], *alone, alone[0]])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_vocabulary_is_projected_only_where_it_is_read(tiny_lm, family):
    projection = tiny_lm(family)._language._projection
    assert projection._short
    seen: list[int] = []
    head = projection.model.get_output_embeddings()
    hook = head.register_forward_hook(lambda _module, given, _output: seen.append(given[0].shape[-2]))
    try:
        (found,) = tiny_lm(family).score(TEXTS[:1]) if family in CAUSAL else tiny_lm(family).pseudo_score(SPANS[:1])
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


@pytest.mark.parametrize("family", CAUSAL)
def test_endings_read_from_stored_states_equal_whole_rows(tiny_lm, monkeypatch, family):
    language = tiny_lm(family)._language
    assert language._caches == (family != "openai-gpt")  # the one family here that stores nothing
    stored = tiny_lm(family).continue_with(CONTINUATIONS)
    monkeypatch.setitem(language.__dict__, "_caches", False)
    whole = tiny_lm(family).continue_with(CONTINUATIONS)
    assert_close(stored, flat(whole))
    assert [each.tokens for each in stored] == [each.tokens for each in whole]


def test_all_words_of_the_vocabulary_together_have_probability_one(tiny_lm):
    model = tiny_lm("bert")
    words = [word for word in model._language.tokenizer.get_vocab() if not word.startswith(("##", "["))]
    item = _fill("The nurse said that ", " slept.", *words)
    (found,) = model.fill([item])
    assert set(found.tokens) == {1}
    by_fill = dict(zip(words, np.exp(found.logprobs), strict=True))
    assert 0 < sum(by_fill.values()) <= 1
    top = model.top(item.text, (item.start, item.end), k=10_000)
    assert len(top) == len(model._language.tokenizer)
    assert sum(p for _, p in top) == pytest.approx(1, abs=CLOSE)
    assert [p for _, p in top] == sorted((p for _, p in top), reverse=True)
    assert all(by_fill[word] == pytest.approx(p, abs=CLOSE) for word, p in top if word in by_fill)


def test_the_chain_rule_by_hand_for_a_filler_of_two_tokens(tiny_lm, plain):
    tokenizer, vocabulary = plain("bert").tokenizer, plain("bert").tokenizer.get_vocab()
    assert tokenizer.tokenize("him") == ["hi", "##m"]
    mask, hi, m = vocabulary["[MASK]"], vocabulary["hi"], vocabulary["##m"]
    before, after = tokenizer("baked by", add_special_tokens=False)["input_ids"], [vocabulary["."], vocabulary["[SEP]"]]
    start = [vocabulary["[CLS]"], *before]
    first = plain("bert").logprobs([*start, mask, mask, *after])[len(start), hi]
    second = plain("bert").logprobs([*start, hi, mask, *after])[len(start) + 1, m]
    (found,) = tiny_lm("bert").fill([_fill("Baked by ", ".", "him")])
    assert found.logprobs[0] == pytest.approx(first + second, abs=CLOSE)
    # all second pieces together take the probability of the first, no more and no less
    assert np.exp(plain("bert").logprobs([*start, hi, mask, *after])[len(start) + 1]).sum() == pytest.approx(1)


def test_what_is_hidden_makes_no_difference_and_what_is_not_does(tiny_lm):
    def asked(word: str, **options: str) -> float:
        return tiny_lm("bert").fill([_fill(f"The {word} said that ", " slept.", "he", **options)])[0].logprobs[0]

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


@pytest.mark.parametrize(
    ("method", "family", "items"), [q for q in QUESTIONS if q[1] in ("bert", "gpt2", "openai-gpt")]
)
def test_a_run_that_goes_on_after_a_kill_gives_the_very_same_numbers(tiny_lm, method, family, items):
    question = {"score": Question.TOKENS, "continue_with": Question.CONTINUATIONS, "fill": Question.FILLS}.get(
        method, Question.PSEUDO if method == "pseudo_score" else Question.UNMASKED
    )
    more = [*items * 3, *items]
    stream = tiny_lm(family)._language.stream
    batches = list(stream(question, more))
    whole = {at: answer for positions, answers in batches for at, answer in zip(positions, answers, strict=True)}
    for done in range(1, len(batches)):
        known = {at for positions, _ in batches[:done] for at in positions}
        rest = list(stream(question, more, known=known))
        found = dict(itertools.chain(*(zip(positions, answers, strict=True) for positions, answers in rest)))
        assert found.keys() == whole.keys() - known
        for at, answer in found.items():
            np.testing.assert_array_equal(answer.logprobs, whole[at].logprobs)
