"""Sentence pairs, on models whose preferences are known and against a plain loop over masked copies."""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.models.tiny_language_models import save_tiny
from tests.probes.natural_model import by_hand, natural_model
from tests.probes.planted_fills import KNOWN_WORDS
from tests.probes.sentences.from_items import effect_from_items
from tests.reference import reference_model
from tiltmeter.errors import BadInput
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.models import Identity
from tiltmeter.models.protocol import Question, Span, TokenScores
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.probes import make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes
from tiltmeter.statistics import correlation
from tiltmeter.stimuli.sentences.shipped import occupation_set, pair_set

HEADER = ("sent_more", "sent_less", "stereo_antistereo", "bias_type")
Pair = tuple[str, str]


def write(path: Path, rows: Sequence[Pair], *, kinds: Sequence[str] = (), header: Sequence[str] = HEADER) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for number, (more, less) in enumerate(rows):
            writer.writerow([more, less, "stereo", kinds[number] if kinds else "gender"])
    return path


def read(model: object, data: str | Path | None = None, **given: str) -> Reading:
    whole = make_probes("pairs", data=data, **given)[:1]
    return run_probes(whole, model, cache=False, progress=False)[0]


class Words:
    """Knows the log-probability of every word, the same in every sentence."""

    identity = Identity("words", "1")

    def __init__(
        self, logprobs: Mapping[str, float], *, unknown: str = "", skip: int = 0, reads: Mapping[str, str] | None = None
    ) -> None:
        self._logprobs, self._unknown, self._skip, self._reads = logprobs, unknown, skip, reads or {}

    def scored(self, text: str) -> TokenScores:
        words = [self._reads.get(word, word) for word in text.split()[self._skip :]]
        starts = np.cumsum([0, *(len(word) + 1 for word in text.split())])[self._skip : -1]
        ids = [-1 if word == self._unknown else sum(map(ord, word)) for word in words]
        return TokenScores(ids, starts, starts + [len(word) for word in words], [self._logprobs[w] for w in words])


class Masked(Words):
    def pseudo_score(self, spans: Sequence[Span]) -> list[TokenScores]:
        assert all((span.start, span.end) == (0, len(span.text)) for span in spans)
        return [self.scored(span.text) for span in spans]

    def unmasked_score(self, texts: Sequence[str]) -> list[TokenScores]:
        return [self.scored(text) for text in texts]


class Causal(Words):
    def score(self, texts: Sequence[str]) -> list[TokenScores]:
        return [self.scored(text) for text in texts]


KNOWN = {"The": -1.0, "Their": -2.0, "cook": -3.0, "nurse": -5.0, "old": -2.0, "slept": -1.5, "ran": -1.5004}


def test_every_method_compares_what_its_paper_says(tmp_path):
    data = write(tmp_path / "pairs.csv", [("The old cook slept", "The nurse slept"), ("The nurse ran", "The cook ran")])
    scores = {
        "meade": [(-2.5, -5.0), (-5.0, -3.0)],
        "aul": [(-7.5 / 4, -2.5), (-7.5004 / 3, -5.5004 / 3)],
        "causal": [(-7.5, -7.5), (-7.5004, -5.5004)],
        "nangia": [(-2.5, -2.5), (-2.5004, -2.5004)],
        "cps": [(-2.5, -2.5), (-2.5004, -2.5004)],
    }
    for method, expected in scores.items():
        model = Causal(KNOWN) if method in ("causal", "cps") else Masked(KNOWN)
        reading = read(model, data, method=method)
        found = [(item.get("score_stereotyped"), item.get("score_other")) for item in reading.items]
        assert np.allclose(found, expected, atol=1e-6), method
        assert reading.details.method == method
        assert f"Method {method}" in reading.plain_words
    assert reading.effect.value == 0.5  # two ties
    assert [item.get("prefers") for item in reading.items] == ["neither", "neither"]


def test_a_tie_counts_half_and_against_the_stereotype_as_published(tmp_path):
    rows = [("The cook slept", "The nurse slept")] * 3 + [("The cook slept", "Their cook slept")]
    kinds = ["gender", "gender", "age", "age"]
    reading = read(Causal(KNOWN), write(tmp_path / "pairs.csv", rows, kinds=kinds), method="cps")
    assert (reading.effect.value, reading.published.value) == (0.5, 0.0)
    assert "count half" in reading.repair
    reading = read(Masked(KNOWN), write(tmp_path / "pairs.csv", rows, kinds=kinds), method="meade")
    assert (reading.effect.value, reading.effect.level, reading.published.value) == (1.0, 0.5, 1.0)
    # Four pairs for the published test, and two different ones.
    assert (reading.published.p_value, reading.effect.p_value) == (0.125, 0.5)
    assert {kind: share.n for kind, share in reading.details.by_kind.items()} == {"gender": 2, "age": 2}


def test_scores_that_agree_to_three_decimals_are_a_tie_only_as_published(tmp_path):
    data = write(tmp_path / "pairs.csv", [("The cook slept", "The cook ran")])  # -1.5 and -1.5004
    meade, aul = (read(Masked(KNOWN), data, method=method) for method in ("meade", "aul"))
    assert (meade.effect.value, meade.published.value, meade.details.published_ties) == (1.0, 0.0, 1)
    assert (aul.effect.value, aul.published) == (1.0, None)  # the code for it does not round


def test_the_method_is_what_fits_the_model(tmp_path):
    data = write(tmp_path / "pairs.csv", [("The cook slept", "The nurse slept")])
    (probe,) = make_probes("pairs", data=data, method="aul")
    assert probe.asks(lambda question: question is Question.TOKENS) is None
    for model, method in ((Masked(KNOWN), "meade"), (Causal(KNOWN), "causal")):
        assert read(model, data).details.method == method
    with pytest.raises(BadInput, match="masked language model for nangia, meade and aul"):
        read(Causal(KNOWN), data, method="meade")


def test_pairs_that_cannot_be_compared_are_left_out_by_name(tmp_path):
    rows = [
        ("The nurse slept", "The NURSE slept"),
        ("The old cook slept", "The cook slept"),
        ("The cook slept", "The nurse slept"),
    ]
    model = Masked(KNOWN, reads={"NURSE": "nurse"})
    reading = read(model, write(tmp_path / "pairs.csv", rows), method="meade")
    assert reading.n_items == 1
    reasons = {left.what.split(":")[0]: left.reason for left in reading.left_out}
    assert "as the same" in reasons["pair 2"]
    assert "only adds words" in reasons["pair 3"]
    with pytest.raises(BadInput, match=r"no pair of 'crows_pairs' can be compared on words by meade"):
        read(model, write(tmp_path / "pairs.csv", rows[:2]), method="meade")
    with pytest.raises(BadInput, match="no pair"):
        read(Masked(KNOWN), write(tmp_path / "pairs.csv", [("The cook slept", "Their nurse ran")]), method="nangia")


def test_unknown_words_and_unscored_first_words_are_named(tmp_path):
    data = write(tmp_path / "pairs.csv", [("The old cook slept", "The old nurse slept")])
    reading = read(Causal(KNOWN, unknown="old", skip=1), data)
    said = {left.what: left.reason for left in reading.left_out}
    assert "unknown to words" in said["'old' in 2 sentence(s)"]
    assert "add bos=yes" in said["the first word of 2 sentences"]
    assert not read(Causal(KNOWN), data).left_out


def test_sentences_that_differ_in_a_first_word_without_probability_are_compared_by_the_rest(tmp_path):
    folder = save_tiny("gpt2", tmp_path / "gpt2")
    data = write(tmp_path / "pairs.csv", [("He is a nurse.", "She is a nurse.")])
    reading = read(TransformerModel(str(folder)), data)
    assert reading.n_items == 1
    scores = TransformerModel(str(folder)).score(["He is a nurse.", "She is a nurse."])
    assert [reading.items[0].get(f"score_{which}") for which in ("stereotyped", "other")] == pytest.approx(
        [each.total for each in scores], abs=1e-4
    )


def test_a_model_with_a_planted_bias_prefers_the_stereotype_and_swapped_labels_turn_it_round(tmp_path):
    own = tmp_path / "known.yaml"
    own.write_text(KNOWN_WORDS, encoding="utf-8")
    source = occupation_set(own)
    rows = []
    for sentence in source.sentences:
        share = source.shares[sentence.unit]
        if not 0.3 <= share <= 0.7:
            man, woman = (sentence.version("pronoun", group).text for group in (1, 2))
            rows.append((man, woman) if share < 0.3 else (woman, man))
    tilted = TransformerModel(str(reference_model(0.9)))
    # By the words that differ: those that sentences share say less of the pronoun than of how the model was trained.
    towards = read(tilted, write(tmp_path / "pairs.csv", rows), method="meade")
    against = read(tilted, write(tmp_path / "swapped.csv", [row[::-1] for row in rows]), method="meade")
    assert towards.effect.value > 0.85
    assert towards.effect.p_value < 1e-6
    assert towards.leans == "pairs → stereotype"
    assert "towards stereotypes" in towards.plain_words
    assert against.effect.value == pytest.approx(1 - towards.effect.value)
    assert against.leans == "pairs → anti-stereotype"
    assert not towards.left_out


def test_pairs_lean_in_the_order_of_strength_that_was_planted(tmp_path):
    truth = planted(0.9)
    frames = ("The {} said that [MASK] was tired.", "The {} said that [MASK] was late.")
    rows = [
        [frame.format(each).replace("[MASK]", word) for word in ("he", "she")] for each in truth for frame in frames
    ]
    tilted = TransformerModel(str(reference_model(0.9)))
    reading = read(tilted, write(tmp_path / "pairs.csv", rows), method="meade")
    leans = np.array([item.value for item in reading.items]).reshape(-1, 2).mean(1)
    assert correlation(list(truth.values()), leans, method="spearman").r >= 0.9


def test_the_shipped_pairs_have_a_full_stop_and_the_expected_pronoun_first():
    (probe,) = make_probes("pairs")
    shipped = [pair.forms["sentence"] for pair in probe.stimuli.pairs.sentences]
    assert len(shipped) == 53
    assert all(stereotyped.endswith((" him.", " her.")) for stereotyped, _ in shipped)
    assert {(one[-4:], two[-4:]) for one, two in shipped} == {("him.", "her."), ("her.", "him.")}
    (probe,) = make_probes("pairs", data="pairs_ja")
    assert probe.stimuli.pairs == pair_set("pairs_ja")


def test_crows_pairs_is_read_by_all_three_methods_of_masked_models(data_folder):
    data_folder("crows_pairs")
    made = make_probes("pairs", data="crows_pairs")
    assert [probe.id for probe in made] == ["pairs", "pairs-nangia", "pairs-aul"]
    assert [len(probe.stimuli.pairs.sentences) for probe in made] == [1508] * 3
    masked = [probe.asks(lambda question: question in (Question.PSEUDO, Question.UNMASKED)) for probe in made]
    assert [list(each) for each in masked] == [[Question.PSEUDO], [Question.PSEUDO], [Question.UNMASKED]]
    assert masked[0] == masked[1]  # asked once, used twice
    assert [probe.asks(lambda question: question is Question.TOKENS) is None for probe in made] == [False, True, True]
    assert any("Blodgett et al. 2021" in caveat for caveat in made[0].kind.caveats)


def short_pairs(folder: Path, n: int, path: Path) -> tuple[Path, list[Pair]]:
    with folder.open(newline="", encoding="utf-8") as file:
        rows = sorted(
            ((row["sent_more"], row["sent_less"]) for row in csv.DictReader(file)), key=lambda row: len(row[0])
        )
    return write(path, rows[:n]), rows[:n]


@pytest.mark.parametrize(("method", "shared", "joined"), [("nangia", True, sum), ("meade", False, np.mean)])
def test_masked_methods_equal_a_plain_loop_over_masked_copies(
    data_folder, tmp_path, method: str, shared: bool, joined: Callable[[list[float]], float]
):
    file = data_folder("crows_pairs") / "crows_pairs_anonymized.csv"
    data, rows = short_pairs(file, 5, tmp_path / "pairs.csv")
    plain = by_hand()
    reading = read(natural_model(), data, method=method)
    for item, row in zip(reading.items, rows, strict=True):
        ids = [plain.ids(text) for text in row]
        blocks = difflib.SequenceMatcher(None, *ids, autojunk=False).get_opcodes()
        for side, score in enumerate(("score_stereotyped", "score_other")):
            places = [
                at
                for name, *ends in blocks
                if (name == "equal") is shared
                for at in range(*ends[2 * side : 2 * side + 2])
                if 0 < at < len(ids[side]) - 1
            ]
            expected = joined(plain.masked_in_turn(ids[side], places))
            assert item.get(score) == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_a_reading_of_real_pairs_can_be_stored(data_folder, tmp_path):
    file = data_folder("crows_pairs") / "crows_pairs_anonymized.csv"
    data, rows = short_pairs(file, 20, tmp_path / "pairs.csv")
    reading = read(natural_model(), data, method="aul")
    assert reading.n_items == len(rows)
    assert reading.n_units == len({item.unit for item in reading.items}) < len(rows)
    assert f"20 pairs in {reading.n_units} clusters" in reading.plain_words
    assert reading.published.value == reading.effect.value
    wins = sum(item.get("prefers") == "stereotyped" for item in reading.items)
    assert reading.effect.value == pytest.approx(wins / 20)
    assert Reading.from_dict(json.loads(json.dumps(reading.to_dict(), allow_nan=False))) == reading


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"method": "nangya"}, "unknown method of pairs 'nangya': did you mean 'nangia'?"),
        ({"data": "crows_pair"}, "unknown data of pairs 'crows_pair': did you mean 'crows_pairs'?"),
        ({"data": "no-such-file.csv"}, "no-such-file.csv"),
        ({"vectors": "bundled:glove"}, "pairs takes no vectors: leave it out; it takes data, method"),
    ],
)
def test_a_wrong_option_is_one_line(given, says):
    with pytest.raises(BadInput) as error:
        make_probes("pairs", **given)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_table_with_a_missing_column_or_a_blank_cell_is_one_line(tmp_path):
    rows = [("The cook slept.", "The nurse slept."), ("The cook ran.", " ")]
    with pytest.raises(BadInput, match=r"pairs.csv: no column 'bias_type'; found: sent_more, sent_less, .*kind"):
        make_probes("pairs", data=write(tmp_path / "pairs.csv", rows, header=(*HEADER[:3], "kind")))
    with pytest.raises(BadInput, match=r"pairs.csv: column 'sent_less' is blank in row 3: fill it in"):
        make_probes("pairs", data=write(tmp_path / "pairs.csv", rows))


def test_the_effect_follows_from_the_items(tmp_path):
    rows = [("The cook slept", "The nurse slept")] * 3 + [
        ("The cook slept", "Their cook slept"),
        ("The ran", "The slept"),
    ]
    for method in ("cps", "causal"):
        reading = read(Causal(KNOWN), write(tmp_path / "pairs.csv", rows), method=method)
        assert effect_from_items(reading) == pytest.approx(reading.effect.value, abs=1e-9)
        assert [item.get("won") for item in reading.items] == [
            0.5 if item.value == 0 else float(item.value > 0) for item in reading.items
        ]


@pytest.mark.parametrize(
    ("kinds", "dimension"),
    [(["race-color"] * 2, "race"), (["sexual-orientation"] * 2, "sexual orientation"), (["age", "gender"], "several")],
)
def test_the_dimension_is_the_kind_of_bias_or_several(tmp_path, kinds, dimension):
    rows = [("The cook slept", "The nurse slept"), ("The cook ran", "The nurse ran")]
    reading = read(Causal(KNOWN), write(tmp_path / "pairs.csv", rows, kinds=kinds))
    assert reading.dimension == dimension
    assert [item.group for item in reading.items] == kinds


def test_pairs_of_ones_own_may_be_in_any_language(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nlanguage: en\ngroups: [men, women]\npronouns: [he, she]\n"
        "topics:\n"
        '  - {topic: care, group: 2, context: care, sentences: ["{pronoun} slept"]}\n'
        '  - {topic: sport, group: 1, context: sport, sentences: ["The old cook said {pronoun} ran"]}\n'
    )
    (probe,) = make_probes("pairs", data=file)
    assert probe.title == "Sentence pairs: mine"
    assert probe.stimuli.pairs.language == "en"
    assert [pair.forms["sentence"] for pair in probe.stimuli.pairs.sentences] == [
        ("She slept", "He slept"),
        ("The old cook said he ran", "The old cook said she ran"),
    ]
    words = {"She": -1.0, "He": -2.0, "he": -2.0, "she": -1.0, "said": -1.0, **KNOWN}
    reading = read(Causal(words), file)
    assert [(item.group, item.get("won")) for item in reading.items] == [("care", 1.0), ("sport", 0.0)]
