"""StereoSet, on models whose scores are planted and on a natural one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.models.tiny_language_models import save_tiny
from tests.probes.natural_model import by_hand, natural_model
from tests.probes.sentences.from_items import effect_from_items
from tiltmeter.errors import BadInput
from tiltmeter.models import Identity
from tiltmeter.models.protocol import Continuation, Fill, Filled, Question, Span, TokenScores
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.probes import make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes

LABELS = ("stereotype", "anti-stereotype", "unrelated")


def entry(target: str, context: str, *texts: str) -> dict[str, Any]:
    sentences = [
        {"id": f"{target}-{context[:9]}-{label}", "gold_label": label, "sentence": text}
        for label, text in zip(LABELS, texts, strict=True)
    ]
    return {
        "id": f"{target}-{context[:9]}",
        "target": target,
        "bias_type": "job",
        "context": context,
        "sentences": sentences,
    }


def within(target: str, context: str, *words: str) -> dict[str, Any]:
    return entry(target, context, *(context.replace("BLANK", word).capitalize() for word in words))


WITHIN = [
    within("cook", "The Cook was BLANK.", "fat", "thin", "fox"),
    within("pilot", "The pilot was BLANK.", "bold", "shy", "fox"),
]
BETWEEN = [
    entry("cook", "We met a cook.", "He is fat.", "He is thin.", "The sea is green."),
    entry("nurse", "We met a nurse.", "She is kind.", "She is rude.", "The sea is green."),
]


def write(path: Path, intrasentence: Sequence[Any] = (), intersentence: Sequence[Any] = ()) -> Path:
    parts = {"intrasentence": list(intrasentence), "intersentence": list(intersentence)}
    path.write_text(json.dumps({"data": parts}), encoding="utf-8")
    return path


def read(model: object, data: Path) -> list[Reading]:
    return run_probes(make_probes("stereoset", data=data), model, cache=False, progress=False)


class Planted:
    """Answers with the log-probability of a word or sentence, shared out over ``tokens`` tokens."""

    identity = Identity("planted", "1")

    def __init__(self, logprobs: Mapping[str, float], *, tokens: Mapping[str, int] | None = None) -> None:
        self._logprobs, self._tokens = logprobs, tokens or {}
        self.asked: list[Any] = []

    def _filled(self, texts: Sequence[str]) -> Filled:
        return Filled(tuple(self._logprobs[each] for each in texts), tuple(self._tokens.get(each, 1) for each in texts))


class Masked(Planted):
    def fill(self, items: Sequence[Fill]) -> list[Filled]:
        self.asked += items
        return [self._filled(item.fillers) for item in items]

    def pseudo_score(self, spans: Sequence[Span]) -> list[TokenScores]:
        self.asked += spans
        scores = []
        for span in spans:
            n = self._tokens.get(span.word, 1)
            each = self._logprobs[span.word] / n
            scores.append(TokenScores([1] * n, [span.start] * n, [span.end] * n, [each] * n))
        return scores


class Causal(Planted):
    def score(self, texts: Sequence[str]) -> list[TokenScores]:
        self.asked += texts
        scores = []
        for text in texts:
            n = self._tokens.get(text, 1)
            scores.append(TokenScores([1] * n, [0] * n, [len(text)] * n, [self._logprobs[text] / n] * n))
        return scores

    def continue_with(self, items: Sequence[Continuation]) -> list[Filled]:
        self.asked += items
        return [self._filled(item.endings) for item in items]


SENTENCES = {
    "He is fat.": -4.0,
    "He is thin.": -6.0,
    "The sea is green.": -20.0,
    "She is kind.": -9.0,
    "She is rude.": -5.0,
}
WORDS = {"fat": -2.0, "thin": -3.0, "fox": -9.0, "bold": -3.0, "shy": -3.0}


def test_ss_lms_and_icat_by_hand_with_each_target_term_once(tmp_path):
    whole, intra, inter = read(Masked({**WORDS, **SENTENCES}), write(tmp_path / "dev.json", WITHIN, BETWEEN))
    # cook prefers the stereotype twice, pilot has a tie, nurse prefers the anti-stereotype; nonsense never wins.
    assert whole.effect.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert whole.published.value == pytest.approx((1 + 0 + 0) / 3)
    assert "count half" in whole.repair
    assert (whole.details.lms, whole.details.ss, whole.details.icat) == pytest.approx((100.0, 50.0, 100.0))
    assert whole.details.micro.ss == pytest.approx(100 * (1 + 0.5 + 1 + 0) / 4)
    assert whole.details.by_type["job"].n == 4
    assert (intra.effect.value, inter.effect.value) == pytest.approx((0.75, 0.5))
    assert whole.details.intrasentence.ss == pytest.approx(75.0) == pytest.approx(intra.details.ss)
    assert (whole.n_items, whole.n_units) == (4, 3)
    assert [reading.id for reading in (intra, inter)] == ["stereoset-intrasentence", "stereoset-intersentence"]


def test_three_words_are_fillers_of_one_blank_and_sentences_follow_their_context(tmp_path):
    model = Masked({**WORDS, **SENTENCES})
    read(model, write(tmp_path / "dev.json", WITHIN, BETWEEN))
    assert Fill("The cook was BLANK.", 13, 18, ("fat", "thin", "fox")) in model.asked
    assert Span("We met a cook. He is fat.", 15, 25) in model.asked
    assert len(model.asked) == 2 + 6


def test_a_score_is_the_mean_per_token(tmp_path):
    data = write(tmp_path / "dev.json", WITHIN, BETWEEN)
    tokens = {"thin": 2, "He is thin.": 3}
    whole = read(Masked({**WORDS, **SENTENCES}, tokens=tokens), data)[0]
    cook = {item.get("part"): item for item in whole.items if item.unit == "cook"}
    assert (cook["intrasentence"].get("score_stereotype"), cook["intrasentence"].get("score_anti_stereotype")) == (
        -2.0,
        -1.5,
    )
    assert (cook["intersentence"].get("score_stereotype"), cook["intersentence"].get("score_anti_stereotype")) == (
        -4.0,
        -2.0,
    )
    causal = {f" {text}": value for text, value in SENTENCES.items()}
    causal |= {
        each["sentence"]: WORDS[each["sentence"].split()[-1][:-1]] for one in WITHIN for each in one["sentences"]
    }
    tokens = {"The cook was thin.": 2, " He is thin.": 3}
    model = Causal(causal, tokens=tokens)
    assert read(model, data)[0].items == whole.items
    endings = (" He is fat.", " He is thin.", " The sea is green.")
    assert Continuation("We met a cook.", endings) in model.asked


def test_an_example_with_two_blanks_is_left_out_of_masked_models_and_kept_for_causal_ones(tmp_path):
    twice = within("brahmin", "brahmin is BLANK and BLANK", "fat", "thin", "fox")
    data = write(tmp_path / "dev.json", [*WITHIN, twice])
    (masked,) = read(Masked(WORDS), data)
    assert masked.n_items == 2
    assert masked.left_out[0].what == "example brahmin-brahmin i: 'brahmin is BLANK and BLANK'"
    folder = save_tiny("gpt2", tmp_path / "gpt2")
    (causal,) = read(TransformerModel(str(folder)), data)
    assert causal.n_items == 3
    assert [left.what for left in causal.left_out] == ["the first word of sentences"]


def test_sentences_that_differ_in_case_beside_the_blank_are_asked_apart(tmp_path):
    odd = entry("nurse", "The nurse was BLANK.", "The nurse was fat.", "The Nurse was thin.", "The nurse was fox.")
    model = Masked(WORDS)
    read(model, write(tmp_path / "dev.json", [*WITHIN, odd]))
    assert Fill("The nurse was BLANK.", 14, 19, ("fat", "fox")) in model.asked
    assert Fill("The Nurse was BLANK.", 14, 19, ("thin",)) in model.asked


def test_a_model_that_answers_only_half_of_the_questions_is_not_asked(tmp_path):
    whole, intra, inter = make_probes("stereoset", data=write(tmp_path / "dev.json", WITHIN, BETWEEN))
    fills = {Question.FILLS}.__contains__
    assert (whole.asks(fills), inter.asks(fills)) == (None, None)
    assert list(intra.asks(fills)) == [Question.FILLS]
    assert any("Blodgett et al. 2021" in caveat for caveat in whole.kind.caveats)


def test_the_public_set_has_both_parts(data_folder):
    data_folder("stereoset")
    made = make_probes("stereoset")
    assert [probe.id for probe in made] == ["stereoset", "stereoset-intrasentence", "stereoset-intersentence"]
    assert [len(probe.stimuli.sentences) for probe in made] == [4229, 2106, 2123]
    asked = made[0].asks({Question.FILLS, Question.PSEUDO}.__contains__)
    assert len(set(asked[Question.FILLS])) == 2104  # two contexts hold two blanks
    assert all(len(item.fillers) == 3 for item in asked[Question.FILLS])


def test_a_natural_model_is_read_as_plain_forward_passes_read_it(data_folder):
    data_folder("stereoset")
    model, plain = natural_model(), by_hand()
    whole = make_probes("stereoset")[0]
    examples = (*whole.stimuli.sentences[:18], *whole.stimuli.sentences[-2:])
    few = dataclasses.replace(whole, stimuli=dataclasses.replace(whole.stimuli, sentences=examples))
    (reading,) = run_probes([few], model, cache=False, progress=False)
    assert reading.n_items == 20
    checked = 0
    for item, example in zip(reading.items, examples, strict=True):
        context, within_sentence = example.tags["context"], example.tags["part"] == "intrasentence"
        for label, text in zip(LABELS, example.forms["sentence"], strict=True):
            before = context.partition("BLANK")[0] if within_sentence else f"{context} "
            after = context.partition("BLANK")[2] if within_sentence else ""
            ids = plain.ids(text if within_sentence else before + text)
            places = list(range(len(plain.ids(before)) - 1, len(ids) - len(plain.ids(after)) + 1))
            if within_sentence and len(places) > 1:
                continue  # a word of several tokens is filled in from left to right
            scores = plain.masked_in_turn(ids, places)
            assert item.get(f"score_{label.replace('-', '_')}") == pytest.approx(sum(scores) / len(scores), abs=1e-4)
            checked += 1
    assert checked > 40
    assert Reading.from_dict(json.loads(json.dumps(reading.to_dict(), allow_nan=False))) == reading


def test_without_the_data_folder_one_line_says_what_to_set(monkeypatch):
    monkeypatch.delenv("TILTMETER_DATA", raising=False)
    with pytest.raises(BadInput, match=r"^data set 'stereoset' is not installed: tiltmeter data fetch stereoset"):
        make_probes("stereoset")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"data": "stereset"}, "unknown data of stereoset 'stereset': did you mean 'stereoset'?"),
        ({"data": "no-such-file.json"}, "no-such-file.json"),
        ({"method": "icat"}, "stereoset takes no method: leave it out"),
        ({"vectors": "bundled:glove"}, "stereoset takes no vectors: leave it out"),
    ],
)
def test_a_wrong_option_is_one_line(given, says):
    with pytest.raises(BadInput) as error:
        make_probes("stereoset", **given)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_used_is_one_line(tmp_path):
    with pytest.raises(BadInput, match=r"the context holds no BLANK"):
        make_probes("stereoset", data=write(tmp_path / "dev.json", [within("cook", "No gap.", "a", "b", "c")]))
    blank = within("cook", "The cook was BLANK.", "fat", "thin", "fox")
    blank["sentences"][1]["sentence"] = " "
    with pytest.raises(BadInput, match=r"'sentence' is missing or blank"):
        make_probes("stereoset", data=write(tmp_path / "dev.json", [blank]))
    with pytest.raises(BadInput, match="at least 2 target terms"):
        read(Masked(WORDS), write(tmp_path / "dev.json", WITHIN[:1]))


def test_the_effect_follows_from_the_items(tmp_path):
    readings = read(Masked({**WORDS, **SENTENCES}), write(tmp_path / "dev.json", WITHIN, BETWEEN))
    for reading in readings:
        assert effect_from_items(reading) == pytest.approx(reading.effect.value, abs=1e-9)
    assert [item.get("won") for item in readings[0].items] == [1.0, 0.5, 1.0, 0.0]
    assert {reading.dimension for reading in readings} == {"job"}
