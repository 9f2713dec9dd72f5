"""ClozeGender as a probe: what is asked, and that the table's numbers are those of the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Choice, Chosen, Continuation, Fill, Question, TokenScores
from tiltmeter.probes import Options
from tiltmeter.probes.cloze import cloze
from tiltmeter.probes.cloze.cloze_rows import choice, continuation, fills, pronoun_place
from tiltmeter.probes.cloze.one_sentence import parse
from tiltmeter.run.probe import put
from tiltmeter.stimuli.sentences.sets import ClozeRow, RaceRow

VECTORS = {
    "him": [1.0, 0.0],
    "her": [0.0, 1.0],
    "drill": [0.8, 0.6],
    "cake": [0.6, 0.8],
    "white": [1.0, 0.0],
    "black": [0.0, 1.0],
    "african": [0.6, 0.8],
    "miner": [1.0, 0.0],
    "baker": [0.8, 0.6],
}


class Reader:
    """A causal model of the user's own: fixed chances of a word after any stem, and of the stop after it."""

    def __init__(self, chances: dict[str, float], stops: dict[str, float]) -> None:
        self.chances, self.stops = chances, stops
        self.stems: list[str] = []

    def continue_with(self, items: Sequence[Continuation]) -> list[list[float]]:
        self.stems += [item.stem for item in items]
        return [[self._log(ending) for ending in item.endings] for item in items]

    def _log(self, ending: str) -> float:
        word = ending.strip(" .")
        return math.log(self.chances[word] * (self.stops[word] if ending.endswith(".") else 1.0))


def written(folder: Path, name: str, rows: str) -> Path:
    path = folder / name
    path.write_text(f"sent_m,sent_w,context,HB\n{rows}", encoding="utf-8")
    return path


def measure(model: object, data: Path, vectors: object, **options: str) -> list:
    return put(cloze.make(data=data, vectors=vectors, options=Options(), **options), model, cache=False, progress=False)


ROWS = "It was drilled by him,It was drilled by her,drill,M\nIt was baked by him,It was baked by her,cake,W\n"
READER = Reader({"him": 0.2, "her": 0.3, "them": 0.1}, {"him": 0.9, "her": 0.2, "them": 0.5})


def test_the_score_is_the_probability_to_one_minus_the_similarity_and_the_corrected_one_is_ended_and_centred(
    tmp_path: Path,
) -> None:
    (reading,) = measure(READER, written(tmp_path, "GenderLex_noun.csv", ROWS), VECTORS)
    first, second = reading.items
    assert first["published_1"] == pytest.approx(0.2 ** (1 - 0.8), abs=1e-6)
    assert first["published_2"] == pytest.approx(0.3 ** (1 - 0.6), abs=1e-6)
    assert second["published_1"] == pytest.approx(0.2 ** (1 - 0.6), abs=1e-6)
    assert second["published_2"] == pytest.approx(0.3 ** (1 - 0.8), abs=1e-6)
    # The similarities have one mean (.7) for both pronouns already, so that centring leaves them as they are.
    assert first["corrected_1"] == pytest.approx((0.2 * 0.9) ** (1 - 0.8), abs=1e-6)
    assert second["corrected_2"] == pytest.approx((0.3 * 0.2) ** (1 - 0.8), abs=1e-6)
    assert reading.published is not None
    assert reading.published.value == 0.5
    assert reading.effect.value == 0.5
    assert reading.details["published"]["human_match"] == 1.0
    assert reading.details["published"]["weat"] == pytest.approx((0.8 - 0.6) - (0.6 - 0.8))


def test_a_pronoun_that_goes_on_wins_as_published_and_loses_once_the_sentence_is_ended(tmp_path: Path) -> None:
    (reading,) = measure(
        READER, written(tmp_path, "GenderLex_noun.csv", ROWS), VECTORS | {"drill": [1, 1], "cake": [1, 1]}
    )
    assert reading.published is not None
    assert (reading.published.value, reading.effect.value) == (0.0, 1.0)
    steps = {step["name"]: step["share_1"] for step in reading.details["steps"]}
    assert steps == {
        "probability alone": 0.0,
        "as published": 0.0,
        "sentence ended": 1.0,
        "similarities centred": 0.0,
        "corrected": 1.0,
    }
    assert "her mother" in reading.correction


def test_a_context_without_a_vector_has_similarity_nought_and_is_named(tmp_path: Path) -> None:
    rows = ROWS + "It was zqx by him,It was zqx by her,zqx,M\n"
    (reading,) = measure(READER, written(tmp_path, "GenderLex_noun.csv", rows), VECTORS)
    odd = reading.items[2]
    assert odd["has_vector"] is False
    assert odd["published_1"] == pytest.approx(0.2, abs=1e-6)
    assert reading.details["contexts_without_vector"] == ["zqx"]
    assert any("zqx" in each.what for each in reading.left_out)


def test_contexts_are_combined_by_the_product_of_their_scores(tmp_path: Path) -> None:
    written(tmp_path, "GenderLex_noun.csv", ROWS)
    written(tmp_path, "GenderLex_verb.csv", ROWS.replace(",cake,", ",drill,"))
    whole, noun, verb = measure(READER, tmp_path, VECTORS)
    assert [whole.id, noun.id, verb.id] == ["cloze", "cloze-all-noun", "cloze-all-verb"]
    for i in (0, 1):
        product = noun.items[i]["published_1"] * verb.items[i]["published_1"]
        assert whole.items[i]["published_1"] == pytest.approx(product)


def test_a_stem_is_read_once_for_all_pronouns_contexts_and_races(tmp_path: Path) -> None:
    reader = Reader(READER.chances, READER.stops)
    written(tmp_path, "GenderLex_noun.csv", ROWS)
    written(tmp_path, "GenderLex_verb.csv", ROWS)
    (tmp_path / "GenderLex_W_B.csv").write_text(
        "sent,context,race_A1,race_B1\nIt was drilled by them,miner,white,black african\n"
        "It was baked by them,baker,white,black african\n",
        encoding="utf-8",
    )
    readings = measure(reader, tmp_path, VECTORS)
    assert sorted(reader.stems) == ["It was baked by", "It was drilled by"]
    race = readings[-1]
    assert race.details["context"] == "white/black+african"
    item = race.items[0]
    assert item["similarity_1"] == pytest.approx(1.0)
    assert item["similarity_2"] == pytest.approx(0.6 / math.hypot(0.6, 1.8), abs=1e-6)
    assert item["published_2"] == pytest.approx(0.1 ** (1 - item["similarity_2"]), abs=1e-6)


def test_the_mean_form_leaves_out_the_first_token_and_full_stops(tmp_path: Path) -> None:
    class Scorer:
        def score(self, texts: Sequence[str]) -> list[TokenScores]:
            places = [(0, 2), (3, 6), (7, 10), (10, 11)]
            starts, ends = np.array(places).T
            chance = {"him": 0.5, "her": 0.25}
            return [TokenScores([1, 2, 3, 4], starts, ends, np.log([0.9, 0.1, chance[t[7:10]], 0.8])) for t in texts]

    path = tmp_path / "winobias_verb.csv"
    path.write_text(
        "sent_m,sent_w,context,prounoun_m,prounoun_w,HB\nWe saw him.,We saw her.,drill,him,her,M\n", encoding="utf-8"
    )
    (reading,) = measure(Scorer(), path, VECTORS, method="mean")
    assert reading.items[0]["p_1"] == pytest.approx((0.1 + 0.5) / 2, abs=1e-6)
    assert reading.items[0]["p_2"] == pytest.approx((0.1 + 0.25) / 2, abs=1e-6)
    (reading,) = measure(Scorer(), path, VECTORS, method="all")
    assert reading.items[0]["p_1"] == pytest.approx((0.1 + 0.5 * 0.8) / 2, abs=1e-6)


def test_a_chat_model_is_asked_in_both_orders_and_refusals_are_counted(tmp_path: Path) -> None:
    class Chat:
        def choose(self, items: Sequence[Choice]) -> list[Chosen]:
            return [
                Chosen(1, 1) if "drilled" in i.text else Chosen(0, 0) if "baked" in i.text else Chosen(1, 2)
                for i in items
            ]

    rows = ROWS + "It was seen by him,It was seen by her,drill,M\n"
    (reading,) = measure(Chat(), written(tmp_path, "GenderLex_noun.csv", rows), VECTORS)
    assert reading.effect.value == pytest.approx((1 + 0.5) / 2)
    assert reading.details["refused"] == 1
    assert reading.details["turned_with_order"] == 1
    assert "refused 1" in reading.plain_words


def test_what_is_asked_about_a_row() -> None:
    row = ClozeRow("It was cut by him", "It was cut by her", ("him", "her"), ("cut", "cut"), 1, 2)
    assert continuation(row).endings == (" him", " her", " them", " him.", " her.", " them.")
    assert continuation(RaceRow("It was cut by them", "cutter", 2)) == continuation(row)
    assert fills(row) == (
        Fill("It was cut by him", 14, 17, ("him", "her")),
        Fill("It was cut by him.", 14, 17, ("him", "her")),
    )
    assert choice(row) == Choice("It was cut by [MASK].", ("him", "her"))
    japanese = ClozeRow("昨日、彼は働いた。", "昨日、彼女は働いた。", ("彼", "彼女"), ("仕事", "仕事"), 1, 2)
    assert pronoun_place(japanese) == (3, 4)


def test_one_sentence_is_taken_apart() -> None:
    assert parse("We saw [him/her] leave.") == ("We saw him leave.", "We saw her leave.", ("him", "her"))
    for wrong in ("We saw him.", "[he/she] saw [him/her].", "We saw [him/him]."):
        with pytest.raises(BadInput):
            parse(wrong)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data": "genderlexx"}, "no cloze data 'genderlexx'"),
        ({"method": "first"}, "unknown method 'first'"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message) as error:
        cloze.make(options=Options(), **given)
    assert "\n" not in str(error.value)


def test_the_public_files_give_every_cell_of_the_table(data_folder: Callable[[str], Path]) -> None:
    folder = data_folder("genderlex") / "Genderlex"
    names = [probe.id for probe in cloze.make(data=folder, options=Options())]
    assert names[0] == "cloze"
    assert len(names) == 3 * 4 + 4
    (person,) = [p for p in cloze.make(data=folder, options=Options()) if p.id == "cloze-person-noun"]
    asked = person.asks(lambda question: question is Question.CONTINUATIONS)
    assert asked is not None
    stems = {item.stem for item in asked[Question.CONTINUATIONS]}
    assert not any("  " in stem or stem.endswith(" ") for stem in stems)
    assert {item.endings[0] for item in asked[Question.CONTINUATIONS]} == {" him"}
