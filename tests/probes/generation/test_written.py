"""Probes of written text on models whose texts are planted, and on a chat server on loopback."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.models.provider import LoopbackProvider, Said
from tests.probes.sentences.from_items import effect_from_items

from tiltmeter.errors import BadInput
from tiltmeter.models import Identity
from tiltmeter.models.protocol import Blank, Generated, Likeliest, Prompt
from tiltmeter.probes import make_probes
from tiltmeter.probes.generation.honest import hurtful_word
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes
from tiltmeter.stimuli.datasets import load_bbq
from tiltmeter.stimuli.lexicon.lexicon import group

WOMEN = group("gender.female_names").texts


class Writes:
    """Writes what a function says of a prompt and a number from 0 to 1 that follows from the prompt and its seed."""

    identity = Identity("planted", "1")

    def __init__(self, says: Callable[[str, float], str]) -> None:
        self._says = says

    def generate(self, prompts: Sequence[Prompt]) -> list[Generated]:
        return [Generated(tuple(self._says(one.text, _lot(one, i)) for i in range(one.n))) for one in prompts]


def _lot(prompt: Prompt, sample: int) -> float:
    digest = hashlib.sha256(f"{prompt.text} {prompt.seed} {sample}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def about_a_woman(text: str) -> bool:
    return any(name in text for name in WOMEN)


def read(name: str, says: Callable[[str, float], str], **options: Any) -> dict[str, Reading]:
    probes = make_probes(name, **options)
    return {reading.id: reading for reading in run_probes(probes, Writes(says), cache=False, progress=False)}


# Counterfactual pairs


def kinder_to(women: float) -> Callable[[str, float], str]:
    """A kind text of more words with a chance of one half, and this much more about women."""

    def says(text: str, lot: float) -> str:
        kind = lot < 0.5 + (women / 2 if about_a_woman(text) else -women / 2)
        if "Answer" in text:
            return "Yes." if kind and "Yes" in text else "leader" if kind and "leader" in text else "No, assistant."
        return "A wonderful person." if kind else "A terrible one, I fear."

    return says


@pytest.mark.parametrize("planted", [-0.6, 0.0, 0.6])
def test_a_planted_difference_of_tone_is_read_with_its_sign_and_size(planted: float) -> None:
    found = read("counterfactual", kinder_to(planted), samples=4)
    tone = found["counterfactual"]
    assert tone.effect.ci is not None
    assert tone.effect.ci.low <= 2 * planted <= tone.effect.ci.high
    assert (tone.effect.p_value <= 0.05) == bool(planted)
    assert tone.effect.value == pytest.approx(effect_from_items(tone))
    assert np.sign(found["counterfactual-length"].effect.value) == -np.sign(planted) or not planted
    assert found["counterfactual-choice"].details.unread > 0  # type: ignore[union-attr]
    assert found["counterfactual-refusal"].effect.value == 0.0


def test_refusals_and_choices_are_counted() -> None:
    def says(text: str, _: float) -> str:
        if about_a_woman(text):
            return "I'm sorry, but I can't help with that." if "Answer" not in text else "No"
        return "Yes" if "Answer" in text else "Good luck."

    found = read("counterfactual", says)
    assert found["counterfactual-refusal"].effect.value == pytest.approx(16 / 24)
    choice = found["counterfactual-choice"]
    assert choice.effect.value == -1.0
    assert choice.details.unread == 2 * 2 * 8  # type: ignore[union-attr]  # of two scenarios nobody said a word


def test_no_option_at_all_is_one_line() -> None:
    with pytest.raises(BadInput, match="take no option: nothing is left to compare"):
        read("counterfactual", lambda *_: "Perhaps.", outcome="choice")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"scorer": "mood"}, "unknown scorer 'mood'"),
        ({"outcome": "mood"}, "unknown outcome of counterfactual"),
        ({"targets": ["gender.male_names"]}, "two groups of names, not 1"),
        ({"names": 1}, "at least 2"),
        ({"samples": 0}, "samples must be a whole number"),
        ({"temperature": -1}, "temperature must be 0 or more"),
    ],
)
def test_bad_options_are_told_before_a_model_is_asked(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        make_probes("counterfactual", **options)


# HONEST


@pytest.mark.parametrize(
    ("text", "word"), [(" pig.", "pig"), ("a nurse", None), (" Pigs that", "pig"), ("good pig", None)]
)
def test_a_completion_hurts_by_its_first_word(text: str, word: str | None) -> None:
    assert hurtful_word(text, {"pig": ("an",)}) == word


def test_honest_reads_who_is_hurt_and_how_often(data_folder) -> None:
    def says(text: str, lot: float) -> str:
        female = any(f" {word} " in f" {text} " for word in ("she", "the woman", "the girl", "the mother"))
        return " pig" if lot < (0.5 if female else 0.1) else " doctor"

    (reading,) = read("honest", says, data=data_folder("honest"), samples=2).values()
    assert reading.effect.value > 0.03
    assert reading.effect.p_value < 0.01
    assert reading.published is not None
    assert 0.1 < reading.published.value < 0.3
    assert reading.details.result.by_group["female"] > reading.details.result.by_group["male"]  # type: ignore[union-attr]


class Expects:
    """A masked language model that expects an insult where a sentence is about a woman, second to a doctor."""

    identity = Identity("planted-masked", "1")

    def likeliest(self, blanks: Sequence[Blank]) -> list[Likeliest]:
        female = ("she", "woman", "girl", "mother")
        words = [
            ("doctor", "pig") if set(female) & set(blank.text.lower().split()) else ("doctor", "nurse")
            for blank in blanks
        ]
        return [Likeliest(two[: blank.k], (-0.5, -1.0)[: blank.k]) for two, blank in zip(words, blanks, strict=True)]


def test_honest_reads_the_likeliest_words_of_a_masked_model(data_folder) -> None:
    readings = {
        k: next(iter(run_probes(make_probes("honest", data=data_folder("honest"), samples=k), Expects(), cache=False)))
        for k in (1, 2)
    }
    assert readings[1].effect.value == 0
    found = readings[2].details.result.by_group  # type: ignore[union-attr]
    # Of the two likeliest words one is an insult in the sentences about women, and none in the others.
    about_women = [item for item in readings[2].items if item.get("hurtful") == "pig"]
    assert about_women
    assert {item.value for item in about_women} == {0.5}
    assert (
        found["male"]
        == 0
        < found["female"]
        == len(about_women) / 2 / len([item for item in readings[2].items if item.group == "female"])
    )
    assert readings[2].effect.p_value is not None
    assert readings[2].effect.p_value < 0.01
    assert "2 likeliest words about female" in readings[2].finding
    assert readings[2].details.written is None  # type: ignore[union-attr]


# BOLD


def test_bold_reads_the_tone_by_group_and_states_the_scorers_own_lean(data_folder) -> None:
    folder = data_folder("bold")

    def says(text: str, lot: float) -> str:
        return " was wonderful." if lot < (0.8 if "actress" in text else 0.3) else " was terrible."

    (reading,) = read("bold", says, data=folder, limit=60).values()
    assert reading.effect.value > 0.3
    assert reading.effect.p_value < 0.01
    assert reading.effect.value == pytest.approx(effect_from_items(reading), abs=1e-9)
    assert reading.details.scorer.own_gap == 0.0  # type: ignore[union-attr]
    race = make_probes("bold", data=folder, domain="race", scorer="regard", limit=10)
    assert [probe.id for probe in race] == [
        *("bold", "bold-african_americans", "bold-european_americans", "bold-hispanic_and_latino_americans"),
    ]


# BBQ in the model's own words


def test_bbq_is_read_from_written_answers_and_those_without_an_option_are_counted(data_folder) -> None:
    folder = data_folder("bbq")
    examples = {f"{one.context}\n{one.question}": one for one in load_bbq(folder / "Age.jsonl")}

    def says(text: str, lot: float) -> str:
        example = examples[text.partition("\nA. ")[0]]
        if lot < 0.1:
            return "Hard to say"
        target = example.target if example.target is not None and lot < 0.5 else example.label
        return f" {example.answers[target]}"

    (reading,) = read("bbq", says, data=folder / "Age.jsonl", method="generated", limit=400).values()
    assert 0.6 < reading.effect.value < 0.85
    assert reading.effect.p_value < 0.01
    assert 20 < reading.details.unread < 60  # type: ignore[union-attr]
    assert any("name no option" in one.reason for one in reading.left_out)
    with pytest.raises(BadInput, match="none of 40 answers names an option"):
        read("bbq", lambda *_: "Well,", data=folder / "Age.jsonl", method="generated", limit=40)


# On a server


@pytest.mark.parametrize(
    ("name", "options"),
    [("counterfactual", {"names": 2}), ("honest", {"limit": 1, "samples": 1}), ("bold", {"limit": 4})],
)
def test_every_probe_of_text_runs_on_a_chat_server(
    data_folder, monkeypatch, name: str, options: dict[str, Any]
) -> None:
    if name != "counterfactual":
        options = {**options, "data": data_folder(name)}
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with LoopbackProvider(
        says=lambda prompt: Said("Yes, a great person." if len(prompt) % 2 else "No, sadly.")
    ) as server:
        spec = f"chat:small?base_url={server.base_url('openai')}"
        probes = make_probes(name, **options)
        first = [reading.effect.value for reading in run_probes(probes, spec, progress=False)]
        asked = len(server.requests)
        assert [reading.effect.value for reading in run_probes(probes, spec, progress=False)] == first
        assert len(server.requests) == asked > 0
        if name != "counterfactual":
            assert all("Write" in request.prompt for request in server.requests)  # told to continue, not to talk
