"""Text from causal language models, against Transformers' own loop and against the probabilities that they give."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.cached import CachedModel
from tiltmeter.models.protocol import Generated, Prompt, Question
from tiltmeter.models.store import VectorStore
from tiltmeter.models.transformers.hub import TransformerModel

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import CAUSAL, LIMIT  # noqa: E402
from tests.models.transformers.plain_passes import one_line  # noqa: E402

TEXTS = ["The nurse said that", "He", "An engineer from Zürich repaired the old bridge near", "The bread was baked by"]


@pytest.mark.parametrize("family", CAUSAL)
def test_the_likeliest_text_is_that_of_a_plain_loop_whatever_stands_beside_it(tiny_lm, plain_lm, family):
    model, plain = tiny_lm(family), plain_lm(family)
    written = model.generate([Prompt(text, temperature=0, max_tokens=8) for text in TEXTS])
    for text, answer in zip(TEXTS, written, strict=True):
        ids = start = plain.tokens(text)[0]
        for _ in range(8):
            token = int(plain.logprobs(ids)[-1].argmax())
            if token in model._language._writer._ends:
                break
            ids = [*ids, token]
        whole, before = (
            plain.tokenizer.decode(some, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            for some in (ids, start)
        )
        assert answer == Generated((whole.removeprefix(before),))


@pytest.mark.parametrize(("family", "steps"), [("gpt2", "padded"), ("llama", "padded"), ("openai-gpt", "whole")])
def test_stored_states_are_used_where_a_trial_shows_that_they_can(tiny_lm, family, steps):
    assert tiny_lm(family)._language._writer.steps == steps


@pytest.mark.parametrize("family", CAUSAL)
@pytest.mark.parametrize("steps", ["even", "whole"])
def test_every_way_of_stepping_writes_the_same(tiny_lm, monkeypatch, family, steps):
    model = tiny_lm(family)
    prompts = [Prompt(text, n=3, max_tokens=6, seed=1) for text in TEXTS]
    fast = model.generate(prompts)
    if steps == "even" and model._language._writer.steps == "whole":
        pytest.skip("stores nothing")
    monkeypatch.setitem(model._language._writer.__dict__, "steps", steps)
    assert model.generate(prompts) == fast


def test_a_sample_depends_on_its_prompt_and_seed_and_not_on_its_company(tiny_lm, monkeypatch):
    model = tiny_lm("llama")
    prompts = [Prompt(text, n=5, max_tokens=12, seed=7) for text in TEXTS]
    together = model.generate(prompts)
    assert [model.generate([prompt])[0] for prompt in reversed(prompts)] == together[::-1]
    monkeypatch.setattr("tiltmeter.models.transformers.generation.ROWS", {"cpu": 2})
    assert model.generate(prompts) == together
    assert model.generate([Prompt(TEXTS[0], n=2, max_tokens=12, seed=7)])[0].texts == together[0].texts[:2]
    assert model.generate([Prompt(TEXTS[0], n=5, max_tokens=12, seed=8)])[0] != together[0]


def test_two_prompts_with_one_seed_are_not_drawn_alike():
    from tiltmeter.models.transformers.generation import _numbers

    one, two = (_numbers(Prompt(text, max_tokens=200), 0) for text in TEXTS[:2])
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.3


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_tokens_are_drawn_as_often_as_the_model_gives_them_probability(tiny_lm, plain_lm, temperature):
    n = 4000
    (answer,) = tiny_lm("gpt2").generate([Prompt(TEXTS[0], n=n, max_tokens=1, temperature=temperature)])
    plain = plain_lm("gpt2")
    logits = plain.logprobs(plain.tokens(TEXTS[0])[0])[-1] / temperature
    chances = np.exp(logits - np.logaddexp.reduce(logits))
    by_text = Counter[str]()  # a byte that is not a character by itself is told by the same sign as another
    for token, chance in enumerate(chances):
        by_text[plain.tokenizer.decode([token], skip_special_tokens=True)] += chance
    for text, chance in by_text.most_common(5):
        assert answer.texts.count(text) / n == pytest.approx(chance, abs=4 * np.sqrt(chance / n))


def test_all_samples_at_temperature_zero_are_the_one_likeliest(tiny_lm):
    one, three = tiny_lm("qwen2").generate([Prompt(TEXTS[0], n=n, temperature=0, max_tokens=5) for n in (1, 3)])
    assert three.texts == one.texts * 3


def test_a_text_ends_at_the_end_mark(tiny_lm):
    model = tiny_lm("gpt2")
    prompts = [Prompt(TEXTS[0], n=40, max_tokens=60)]
    (free,) = model.generate(prompts)
    ends = model._language._writer._ends
    common = model._language.tokenizer(free.texts[0])["input_ids"][3]
    ends.add(common)
    try:
        (stopped,) = model.generate(prompts)
    finally:
        ends.remove(common)
    assert all(long.startswith(short.rstrip("\ufffd")) for short, long in zip(stopped.texts, free.texts, strict=True))
    assert sum(map(len, stopped.texts)) < sum(map(len, free.texts))


def test_a_prompt_that_leaves_no_room_is_refused_in_one_line(tiny_lm):
    with pytest.raises(BadInput, match=f"asks for {LIMIT} more, and .* reads {LIMIT}: shorten it") as caught:
        tiny_lm("gpt2").generate([Prompt("The nurse", max_tokens=LIMIT)])
    assert one_line(caught)
    with pytest.raises(BadInput, match="reads 96: shorten it"):
        tiny_lm("gpt2").generate([Prompt("The nurse slept. " * 90, max_tokens=2)])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [({"n": 0}, "n must be"), ({"max_tokens": 1.5}, "max_tokens must"), ({"seed": -1}, "seed must"),
     ({"temperature": float("nan")}, "temperature must")],
)  # fmt: skip
def test_a_prompt_that_asks_for_nonsense_is_refused(options, complaint):
    with pytest.raises(BadInput, match=complaint):
        Prompt("The nurse", **options)


def test_damaged_weights_are_told_and_write_nothing(lm_copy):
    model = TransformerModel(str(lm_copy("gpt2")))
    model._language._loaded.model.lm_head.weight.data.fill_(float("nan"))
    with pytest.raises(ModelFailed, match="NaN among the probabilities"):
        model.generate([Prompt("The nurse")])


def test_a_chat_template_is_used_where_it_is_asked_for_and_stands_in_the_settings(lm_copy):
    folder = lm_copy("llama")
    plain = TransformerModel(str(folder))
    assert "chat" not in plain.identity.settings
    with pytest.raises(BadInput, match=r"chat=yes: the tokenizer of .* has no chat template; leave the option out"):
        TransformerModel(str(folder), chat="yes").generate([Prompt("He left.")])
    path = folder / "tokenizer_config.json"
    template = "{% for m in messages %}The {{ m['content'] }} said:{% endfor %}"
    path.write_text(json.dumps({**json.loads(path.read_text()), "chat_template": template}))
    chat = TransformerModel(str(folder), chat="yes")
    assert chat.identity.settings["chat"] == "yes"
    (told,) = chat.generate([Prompt("nurse", temperature=0, max_tokens=6)])
    (same,) = TransformerModel(str(folder), bos="no").generate([Prompt("The nurse said:", temperature=0, max_tokens=6)])
    assert told == same
    with pytest.raises(BadInput, match="unknown chat 'maybe'"):
        TransformerModel(str(folder), chat="maybe")


def test_texts_are_stored_as_they_are_and_not_written_again(tiny_lm, tmp_path):
    prompts = [Prompt(text, n=2, max_tokens=9) for text in TEXTS]
    with VectorStore(tmp_path) as store:
        first, again = CachedModel(tiny_lm("gpt2"), store), CachedModel(tiny_lm("gpt2"), store)
        answers = first.answers(Question.GENERATE, prompts)
        assert again.answers(Question.GENERATE, prompts) == answers
        assert (first.asked, again.asked, again.recalled) == (4, 0, 4)
        assert answers[prompts[0]] == tiny_lm("gpt2").generate(prompts)[0]


def test_a_run_that_resumes_writes_the_same_texts(tiny_lm, monkeypatch):
    monkeypatch.setattr("tiltmeter.models.transformers.generation.ROWS", {"cpu": 2})
    model = tiny_lm("gpt2")
    prompts = [Prompt(text, max_tokens=9, seed=seed) for seed in range(2) for text in TEXTS]
    whole = model.generate(prompts)
    known = {0, 4, 2}
    rest = dict(
        pair
        for positions, answers in model.stream(Question.GENERATE, prompts, known=known)
        for pair in zip(positions, answers, strict=True)
    )
    assert set(rest) >= set(range(8)) - known
    assert all(rest[i] == whole[i] for i in rest)
    assert {0, 4} - set(rest) == {0, 4}  # one text, two seeds: a batch that is known as a whole
