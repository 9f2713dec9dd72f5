"""Log-probabilities from a completions server, against the same model asked directly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.models import provider as wire
from tests.models.provider import LoopbackProvider, refuse, slow
from tiltmeter.errors import BadInput, BudgetSpent, ModelFailed
from tiltmeter.models import CachedModel, Question, VectorStore
from tiltmeter.models.api import Budget
from tiltmeter.models.api.completions import CompletionsModel
from tiltmeter.models.protocol import Continuation, Prompt, Streams
from tiltmeter.models.registry import load
from tiltmeter.probes import make_probes
from tiltmeter.run.probe import run_probes

pytest.importorskip("torch")

from tests.models.completions_wire import CompletionsWire

TEXTS = [
    "The nurse slept in the chair while he waited.",
    "Zürich: naïve café — “quoted” … and an emoji 😀, then on.",
    "তিনি একজন শিক্ষক।",
    "彼は医者です。",
    " A space before,  two within.\nA line.",
]
STEMS = [
    Continuation("The chef said that", (" he", " she", " they were tired")),
    Continuation("The letters were written by", (" him.", " her.")),
    Continuation("The nurse", ("s slept", " slept", "’s hat")),
    Continuation("Some people are ", ("engineers", "teachers")),
    Continuation("The roof was mended by", (" the man", " the woman")),
]


@pytest.fixture(scope="module")
def direct(tmp_path_factory) -> Any:
    """A tiny model asked directly."""
    from tests.models.tiny_language_models import save_tiny

    folder = save_tiny("gpt2", tmp_path_factory.mktemp("gpt2") / "model", n_positions=512)
    return load(f"hf:{folder}?device=cpu")


@pytest.fixture(scope="module")
def completes(direct: Any) -> CompletionsWire:
    tokenizer, model = direct._with_head
    return CompletionsWire(model, tokenizer)


@pytest.fixture
def server(completes: CompletionsWire) -> Iterator[LoopbackProvider]:
    completes.answered.clear()
    with LoopbackProvider(completes=completes) as running:
        yield running


@pytest.fixture
def model(server: LoopbackProvider) -> Callable[..., CompletionsModel]:
    def make(**options: Any) -> CompletionsModel:
        return CompletionsModel("smollm2", base_url=server.base_url("openai"), sleep=lambda _: None, **options)

    return make


@pytest.mark.parametrize("way", ["echo", "prompt"])
def test_scores_through_the_server_are_those_of_the_model(direct, model, way) -> None:
    _assert_same(direct, model(logprobs=way))


def test_the_sample_model_reads_the_same_through_the_server(server, model) -> None:
    from tiltmeter.models.registry import SAMPLES

    if SAMPLES["smollm2"].folder() is None:
        pytest.skip("bundled:smollm2 is not installed")
    direct = load("bundled:smollm2")
    tokenizer, weights = direct._with_head
    server.completes = CompletionsWire(weights, tokenizer)
    _assert_same(direct, model())
    _assert_same_endings(direct, model())


def _assert_same(direct: Any, through: CompletionsModel) -> None:
    for text, here, there in zip(TEXTS, direct.score(TEXTS), through.score(TEXTS), strict=True):
        np.testing.assert_allclose(there.logprobs, here.logprobs, atol=1e-3)
        if text.isascii():  # a part of a character has no place of its own
            assert there.starts.tolist() == here.starts.tolist()
            assert there.ends.tolist() == here.ends.tolist()


def _assert_same_endings(direct: Any, through: CompletionsModel) -> None:
    for here, there in zip(direct.continue_with(STEMS), through.continue_with(STEMS), strict=True):
        np.testing.assert_allclose(there.logprobs, here.logprobs, atol=1e-3)
        assert there.tokens == here.tokens


def test_endings_through_the_server_are_those_of_the_model(direct, model) -> None:
    _assert_same_endings(direct, model())


def test_a_start_mark_of_the_server_is_no_token_of_the_text(direct, server, completes, model) -> None:
    server.completes = CompletionsWire(completes.model, completes.tokenizer, bos=True)
    marked = load(f"hf:{direct._source}?bos=yes&device=cpu")
    for way in ("echo", "prompt"):
        for here, there in zip(marked.score(TEXTS[:1]), model(logprobs=way).score(TEXTS[:1]), strict=True):
            assert there.starts.tolist() == here.starts.tolist()
            np.testing.assert_allclose(there.logprobs, here.logprobs, atol=1e-3)


def test_texts_are_written_with_a_seed_for_each_sample(server, model) -> None:
    prompt = Prompt("The nurse said that", n=2, max_tokens=3)
    (written,) = model().generate([prompt])
    assert len(written.texts) == 2
    assert len({request.body["seed"] for request in server.requests}) == 2
    assert model().generate([prompt]) == [written]
    (cold,) = model().generate([Prompt("The nurse said that", n=3, temperature=0, max_tokens=2)])
    assert len(set(cold.texts)) == 1
    assert len(cold.texts) == 3
    assert "seed" not in server.requests[-1].body


def test_one_request_holds_all_endings_of_a_stem(server, model) -> None:
    asked = model()
    asked.continue_with(STEMS[:2])
    assert sorted(len(request.body["prompt"]) for request in server.requests) == [2, 3]
    assert {request.path for request in server.requests} == {"/v1/completions"}
    body = {key: value for key, value in server.requests[0].body.items() if key != "prompt"}
    assert body == {"model": "smollm2", "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
    assert isinstance(asked, Streams)


@pytest.mark.parametrize(
    "fault",
    [refuse(429, retry_after="0"), refuse(500), wire.HALF_JSON, wire.CUT_SHORT, wire.DROPPED, wire.NOT_THE_SHAPE],
)
def test_a_fault_that_passes_is_waited_for(server, model, fault) -> None:
    server.script(fault)
    assert len(model().score(TEXTS[:1])) == 1
    assert len(server.requests) == 2


def test_no_answer_in_time_is_tried_again(server, model) -> None:
    server.script(slow(3))
    assert len(model(timeout=1.5).score(TEXTS[:1])) == 1
    assert len(server.requests) == 2


def test_a_fault_that_stays_is_one_line(server, model) -> None:
    server.script(*[refuse(500)] * 2)
    with pytest.raises(ModelFailed, match="completions:smollm2: gave up after 2 tries: HTTP 500"):
        model(max_tries=2).score(TEXTS[:1])


@pytest.mark.parametrize(
    "broken",
    [
        lambda choice: choice["logprobs"].update(token_logprobs=choice["logprobs"]["token_logprobs"][:-1]),
        lambda choice: choice["logprobs"]["tokens"].__setitem__(3, "nonsense"),
        lambda choice: choice["logprobs"]["token_logprobs"].__setitem__(3, float("nan")),
        lambda choice: choice["logprobs"]["token_logprobs"].__setitem__(3, 2.0),
        lambda choice: choice.update(index=7),
    ],
)
def test_an_answer_that_cannot_be_true_is_refused(server, model, completes, broken) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        whole = completes(body)
        broken(whole["choices"][0])
        return whole

    server.completes = answer
    with pytest.raises(ModelFailed, match="an answer that cannot be used"):
        model(max_tries=2).score(TEXTS[:1])


@pytest.mark.parametrize("way", ["ignored", "refused", "written alone"])
def test_a_server_without_log_probabilities_names_the_option_to_use(server, model, completes, way) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return completes({**body, "echo": False, **({} if way == "written alone" else {"logprobs": None})})

    server.completes = answer
    if way == "refused":
        server.script(refuse(400, "Only no echo is supported"))
    with pytest.raises(ModelFailed) as caught:
        model().score(TEXTS[:1])
    assert "gives no log-probabilities of a prompt" in str(caught.value)
    assert "try logprobs=prompt, or ask it for choices and texts by chat:smollm2?base_url=..." in str(caught.value)
    assert len(server.requests) == 1


def test_nothing_known_is_bought_and_the_budget_holds(model, completes, tmp_path: Path) -> None:
    with VectorStore(tmp_path) as store:
        asked = CachedModel(model(budget=Budget(requests=2)), store)
        with pytest.raises(BudgetSpent):
            asked.answers(Question.TOKENS, TEXTS)
        assert len(completes.answered) == 2
        CachedModel(model(), store).answers(Question.TOKENS, [*TEXTS, *TEXTS])
    assert sorted(completes.answered) == sorted(TEXTS)


@pytest.mark.parametrize("item", ["", "  ", None, Continuation("", (" he",)), Continuation("The", ("",))])
def test_what_cannot_be_scored_is_refused_before_anything_is_bought(server, model, item) -> None:
    question = Question.CONTINUATIONS if isinstance(item, Continuation) else Question.TOKENS
    with pytest.raises(BadInput):
        list(model().stream(question, [TEXTS[0] if question is Question.TOKENS else STEMS[0], item]))
    assert server.requests == []


def test_options_are_checked() -> None:
    with pytest.raises(BadInput, match="unknown logprobs 'ecko': did you mean 'echo'"):
        load("completions:m?base_url=http://127.0.0.1:1/v1&logprobs=ecko")
    with pytest.raises(BadInput, match="must be positive"):
        load("completions:m?base_url=http://127.0.0.1:1/v1&parallel=0")
    assert load("completions:davinci-002").estimate(["The nurse slept."]).dollars is not None


@pytest.mark.parametrize(
    ("probe", "options"),
    [
        ("cloze", {}),
        ("cloze", {"method": "all"}),
        ("pairs", {}),
        ("pronouns", {}),
        ("stereoset", {"data": "small"}),
        ("bbq", {"limit": 4, "data": "bbq"}),
    ],
)
def test_every_causal_probe_reads_the_same_through_the_server(
    direct, model, data_folder, tmp_path, probe, options
) -> None:
    if probe == "stereoset":
        options = {"data": str(_few(data_folder("stereoset") / "dev.json", tmp_path / "dev.json"))}
    if probe == "bbq":
        data_folder("bbq")
    here, there = (run_probes(make_probes(probe, **options)[:1], one, cache=False)[0] for one in (direct, model()))
    assert len(there.items) == len(here.items) > 0
    for one, other in zip(here.items, there.items, strict=True):
        assert other.unit == one.unit
        assert other.value == pytest.approx(one.value, abs=2e-3)
    assert there.effect.value == pytest.approx(here.effect.value, abs=1e-3)


def _few(file: Path, out: Path) -> Path:
    """The first examples of StereoSet."""
    whole = json.loads(file.read_text())
    out.write_text(json.dumps({**whole, "data": {kind: some[:60] for kind, some in whole["data"].items()}}))
    return out
