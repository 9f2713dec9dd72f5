"""ClozeGender as a probe: what is asked, and that the table's numbers are those of the definitions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.probes.cloze.reader import READER, ROWS, VECTORS, Reader, measure, written
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Choice, Chosen, Fill, Question, Span, TokenScores
from tiltmeter.probes import make_probes
from tiltmeter.probes.cloze import cloze
from tiltmeter.readings import Poles
from tiltmeter.run.probe import run_probes
from tiltmeter.stimuli import neutral_words


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
    assert race.details.context == "white/black+african"
    assert [reading.dimension for reading in readings] == ["gender"] * 3 + ["race"]
    assert race.poles == Poles("sentences → white", "sentences → black+african")
    item = race.items[0]
    assert item.get("similarity_1") == pytest.approx(1.0)
    assert item.get("similarity_2") == pytest.approx(0.6 / math.hypot(0.6, 1.8), abs=1e-6)
    assert item.get("published_2") == pytest.approx(0.1 ** (1 - item.get("similarity_2")), abs=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data": "genderlexx"}, "no cloze data 'genderlexx'"),
        ({"method": "first"}, "unknown method 'first'"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message) as error:
        cloze.make(**given)
    assert "\n" not in str(error.value)


def test_the_public_files_give_every_cell_of_the_table(data_folder: Callable[[str], Path]) -> None:
    folder = data_folder("genderlex") / "Genderlex"
    probes = make_probes("cloze", data=folder)
    assert probes[0].id == "cloze"
    assert len(probes) == 3 * 4 + 4
    (person,) = [probe for probe in probes if probe.id == "cloze-person-noun"]
    asked = person.asks(lambda question: question is Question.CONTINUATIONS)
    assert asked is not None
    stems = {item.stem for item in asked[Question.CONTINUATIONS]}
    assert not any("  " in stem or stem.endswith(" ") for stem in stems)
    assert {item.endings[0] for item in asked[Question.CONTINUATIONS]} == {" him"}


class Masked:
    """A masked model of the user's own: P(him) at a mask, and for each token masked in turn."""

    def fill(self, items: Sequence[Fill]) -> list[list[float]]:
        return [[math.log(0.6 if filler == "him" else 0.3) for filler in item.fillers] for item in items]

    def pseudo_score(self, spans: Sequence[Span]) -> list[TokenScores]:
        scores = []
        for span in spans:
            places = [word.span() for word in re.finditer(r"\w+|[.]", span.text)]
            chances = [0.4 if span.text[a:b] == "her" else 0.1 if span.text[a:b] == "him" else 0.5 for a, b in places]
            scores.append(TokenScores(range(len(places)), *zip(*places, strict=True), np.log(chances)))
        return scores


def test_the_methods_of_a_masked_model_are_three_and_give_three_numbers(tmp_path: Path) -> None:
    file = written(tmp_path, "GenderLex_noun.csv", ROWS)
    by_method = {method: measure(Masked(), file, VECTORS, method=method)[0] for method in ("last", "all", "mean")}
    assert {method: reading.details.form for method, reading in by_method.items()} == {
        "last": "mask", "all": "all", "mean": "mean",
    }  # fmt: skip
    first = {method: reading.items[0].get("p_2") for method, reading in by_method.items()}
    # It was drilled by her: at the mask .3; was, drilled, by .5 and her .4, without the first word.
    assert first == {"last": pytest.approx(0.3), "all": pytest.approx(1.9 / 4), "mean": pytest.approx(1.9 / 4)}
    assert by_method["last"].details.steps[0].share_1 == 1.0
    assert by_method["all"].details.steps[0].share_1 == by_method["mean"].details.steps[0].share_1 == 0.0


def test_a_masked_model_leaves_out_rows_that_one_blank_cannot_stand_for_and_measures_the_others(tmp_path: Path) -> None:
    file = tmp_path / "wino_occ.csv"
    file.write_text(
        "sent_m,sent_w,context,pronoun_m,pronoun_w,HB\nWe saw him drill.,We saw her drill.,drill,him,her,M\n"
        "We told him that he won.,We told her that she won.,cake,him,her,W\n"
        "We saw him bake.,We saw her bake.,cake,him,her,W\n",
        encoding="utf-8",
    )
    (reading,) = measure(Masked(), file, VECTORS)
    assert [item.label for item in reading.items] == ["We saw him drill.", "We saw him bake."]
    assert reading.details.rows == 2
    left = {each.what: each.reason for each in reading.left_out}
    assert "one blank does not fit both" in left["1 of 3 sentences (rows 3)"]
    (every,) = measure(Masked(), file, VECTORS, method="mean")  # each version is read as it is
    assert len(every.items) == 3


def space(offset: float, lean: float, *, words: Sequence[str]) -> dict[str, list[float]]:
    """Vectors in which him is nearer than her to every word by an offset, and to the contexts by a lean as well."""
    rng = np.random.default_rng(3)

    def vector(gap: float) -> list[float]:
        one, two = 0.2 + gap / 2, 0.2 - gap / 2
        return [one, two, math.sqrt(1 - one**2 - two**2)]

    found = {"him": [1.0, 0.0, 0.0], "her": [0.0, 1.0, 0.0]}
    found |= {word: vector(offset + rng.normal(0, 0.03)) for word in neutral_words("en")}
    return found | {word: vector(offset + lean + rng.normal(0, 0.03)) for word in words}


@pytest.mark.parametrize(
    ("offset", "lean", "low", "high"),
    [
        (0.3, 0.0, 0.35, 0.65),
        (-0.3, 0.0, 0.35, 0.65),
        (0.3, 0.1, 0.9, 1.0),
        (0.3, -0.1, 0.0, 0.1),
        (-0.3, 0.1, 0.9, 1.0),
    ],
)
def test_a_lean_of_the_set_is_found_and_an_offset_of_the_space_is_not(
    tmp_path: Path, offset: float, lean: float, low: float, high: float
) -> None:
    words = [f"context{number}" for number in range(80)]
    rows = "".join(f"{word} was done by him,{word} was done by her,{word},M\n" for word in words)
    even = Reader(dict.fromkeys(("him", "her", "them"), 0.2), dict.fromkeys(("him", "her", "them"), 0.5))
    (reading,) = measure(even, written(tmp_path, "GenderLex_noun.csv", rows), space(offset, lean, words=words))
    assert low <= reading.effect.value <= high
    assert (reading.effect.p_value < 0.001) == bool(lean)
    found = reading.details.offset
    assert found.value == pytest.approx(offset, abs=4 * found.standard_error)
    assert found.words == 400
    if not lean:  # as published the offset decides
        assert reading.published.value in (0.0, 1.0)


def test_races_are_found_to_lean_though_both_have_one_pronoun(tmp_path: Path) -> None:
    words = [f"context{number}" for number in range(60)]
    rows = "".join(f"{word} was done by them,{word},white,black\n" for word in words)
    (tmp_path / "GenderLex_W_B.csv").write_text(f"sent,context,race_A1,race_B1\n{rows}", encoding="utf-8")
    vectors = space(0.2, -0.1, words=words)
    vectors |= {"white": vectors.pop("him"), "black": vectors.pop("her")}
    (reading,) = measure(READER, tmp_path, vectors)
    assert reading.effect.value < 0.1
    assert reading.effect.p_value < 0.001


def test_races_are_the_sums_of_groups_that_hold_them(tmp_path: Path) -> None:
    (tmp_path / "GenderLex_W_B.csv").write_text(
        "sent,context,race_A1,race_B1\nIt was drilled by them,miner,white,black\n"
        "It was baked by them,baker,white,black\n",
        encoding="utf-8",
    )
    (plain,), (summed,) = (
        measure(READER, tmp_path, VECTORS, **given) for given in ({}, {"targets": [["Black", "African"]]})
    )
    assert plain.items[0].get("similarity_2") == pytest.approx(0.0)
    assert summed.items[0].get("similarity_2") == pytest.approx(0.6 / math.hypot(0.6, 1.8), abs=1e-6)
    assert summed.details.groups == ("white", "black+african")
    with pytest.raises(
        BadInput, match=r"groups that hold a race's word, and .* holds none: the races here are black, w"
    ):
        measure(READER, tmp_path, VECTORS, targets=[["green", "blue"]])


def test_japanese_contexts_are_compared_with_the_pronouns_of_the_file_or_with_the_names(
    data_folder: Callable[[str], Path],
) -> None:
    data_folder("genderlex")
    by_file, by_name = (make_probes("cloze", data="genderlex_ja", method=method)[0] for method in (None, "names"))
    assert by_file.vectors.required == ("彼", "彼女")
    assert by_name.vectors.required == ("田中", "美咲", "彼", "彼女")
    texts = [[sentence.text for sentence in probe.stimuli.sets[0].sentences] for probe in (by_file, by_name)]
    assert texts[0] == texts[1]
    assert by_name.stimuli.form == "mean"


class Chooser:
    """A chat model of the user's own that always takes the first word."""

    def choose(self, items: Sequence[Choice]) -> list[Chosen]:
        return [Chosen(1, 1) for _ in items]


def test_a_chat_model_is_asked_once_and_the_races_are_not_lost_without_a_word(tmp_path: Path) -> None:
    written(tmp_path, "GenderLex_noun.csv", ROWS)
    written(tmp_path, "GenderLex_verb.csv", ROWS)
    (tmp_path / "GenderLex_W_B.csv").write_text(
        "sent,context,race_A1,race_B1\nIt was drilled by them,miner,white,black\n", encoding="utf-8"
    )
    said: list[str] = []
    probes = make_probes("cloze", data=tmp_path, vectors=VECTORS)
    readings = run_probes(probes, Chooser(), cache=False, progress=False, announce=said.append)
    assert [reading.id for reading in readings] == ["cloze"]
    assert said == [
        "left out: cloze-all-noun, cloze-all-verb, cloze-race-white/black (own:Chooser does not answer them, or they "
        "would repeat a reading)"
    ]
