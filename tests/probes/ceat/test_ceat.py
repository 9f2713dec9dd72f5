"""CEAT over mined words: which spans are asked for, what is left out, and what comes of a lean that is planted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.command import needs_sample
from tests.mined_folder import GROUPS, write_mined
from tests.probes.ceat.in_context import InContext, readings
from tiltmeter.errors import BadInput
from tiltmeter.measures import ceat as measure
from tiltmeter.models.protocol import Question
from tiltmeter.probes import Options, make_probes
from tiltmeter.probes.ceat.ceat import CeatMethod, in_words
from tiltmeter.readings import Item, Reading
from tiltmeter.run.probe import probe, run_probes


def test_there_is_a_reading_for_all_occurrences_and_one_for_each_length(mined: Path) -> None:
    found = readings(mined)
    assert [each.id for each in found] == ["ceat", "ceat-9", "ceat-25"]
    assert [each.details.length for each in found] == ["", "9", "25"]
    assert found[1].title == "male terms / female terms × career / family, in 9 words"
    assert [(each.n_units, each.n_items) for each in found] == [(10, 60), (10, 60), (10, 60)]


def test_one_length_is_the_whole(tmp_path: Path) -> None:
    (only,) = readings(write_mined(tmp_path / "mined", lengths=[">75"]))
    assert only.id == "ceat"
    assert only.title.endswith(", in more than 75 words")
    assert [each.id for each in readings(write_mined(tmp_path / "b", lengths=[">75", "sentence"]))] == [
        "ceat",
        "ceat-over-75",
        "ceat-sentence",
    ]


def test_the_reading_is_what_the_measure_finds_on_the_spans(mined: Path) -> None:
    model = InContext()
    found = readings(mined, model)[1]
    spans = {span for span in model.asked if " of 9 " in span.text}
    arrays = [
        [
            np.stack([model.vector(span) for span in sorted(spans, key=lambda span: span.text) if span.word == word])
            for word in words
        ]
        for words in GROUPS.values()
    ]
    expected = measure(*arrays, sampling="fixed")
    assert found.effect.value == pytest.approx(expected.repaired.effect_size, abs=1e-6)
    assert found.effect.ci == expected.repaired.ci
    assert found.effect.p_value == pytest.approx(expected.repaired.p_value)
    assert found.published is not None
    assert found.published.value == pytest.approx(expected.effect_size, abs=1e-6)
    assert found.published.p_value == pytest.approx(expected.p_value)
    assert found.details.published.tau2 == pytest.approx(expected.tau2)
    assert found.details.published.standard_error == pytest.approx(expected.standard_error)
    assert [item.value for item in found.items] == pytest.approx(
        [*expected.repaired.scores_x, *expected.repaired.scores_y]
    )
    assert found.items[0] == Item("he", "he", "male terms", found.items[0].value, {"contexts": 6})


def test_a_planted_lean_is_found_and_said_in_plain_words(mined: Path) -> None:
    found = readings(mined)[0]
    # All five words of one group lean more than all five of the other: 2 of 252 splits are as extreme.
    assert found.effect.p_value == pytest.approx(2 / 252)
    assert found.effect.value > 1.5
    assert found.leans == "male terms → career, female terms → family"
    assert "male terms towards career, female terms towards family" in found.plain_words
    assert "in 95% of 5,000 draws" in found.plain_words
    assert "only reflects the number of draws" in found.repair
    assert found.poles == (
        "male terms → career, female terms → family",
        "female terms → career, male terms → family",
    )
    assert found.statistic is None
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert Reading.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_without_a_lean_the_published_p_is_small_and_the_headline_is_not(tmp_path: Path) -> None:
    found = readings(write_mined(tmp_path / "m"), InContext(dict(zip(GROUPS, (0.0, 0.0, 0.8, -0.8), strict=True))))[0]
    assert found.published is not None
    assert found.published.p_value is not None
    assert found.effect.p_value is not None
    assert found.published.p_value < 1e-4
    assert found.effect.p_value > 0.05
    assert found.leans == "no clear lean"


def test_words_with_too_few_contexts_are_left_out_by_name_and_not_asked_about(tmp_path: Path) -> None:
    folder = write_mined(tmp_path / "mined", lengths=["9"], never=["boy"], rare={"girl": 1})
    model = InContext()
    (found,) = readings(folder, model)
    reasons = {each.what: each.reason for each in found.left_out}
    assert reasons == {
        "'boy' (male terms)": "found in 0 contexts, and 2 are needed",
        "'girl' (female terms)": "found in 1 contexts, and 2 are needed",
    }
    assert {item.label for item in found.items} == {*GROUPS["gender.male_terms"], *GROUPS["gender.female_terms"]} - {
        "boy",
        "girl",
    }
    assert "girl" not in {span.word for span in model.asked}
    (with_girl,) = readings(folder, method="at-least=1")
    assert "girl" in {item.label for item in with_girl.items}


def test_fixed_draws_are_the_same_for_every_model_and_random_ones_are_not(mined: Path) -> None:
    def effect(name: str, method: str) -> float:
        return readings(mined, InContext(name=name), method=method)[0].effect.value

    assert effect("own:one", "fixed,draws=20") == effect("own:two", "fixed,draws=20")
    assert effect("own:one", "random,draws=20") != effect("own:two", "random,draws=20")
    assert effect("own:one", "random,draws=20") == effect("own:one", "random,draws=20")


def test_a_model_that_gives_no_vectors_in_context_is_refused(mined: Path) -> None:
    with pytest.raises(BadInput, match="ceat needs vectors of words in context"):
        readings(mined, {"he": [1.0, 0.0], "she": [0.0, 1.0]})


def test_the_python_surface_gives_the_reading_of_all_windows(mined: Path) -> None:
    assert probe("ceat", InContext(), data=mined, cache=False, progress=False).id == "ceat"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "ceat needs words in their contexts: run tiltmeter mine"),
        ({"data": "nowhere"}, "no folder nowhere"),
        ({"data": True, "vectors": "bundled:glove"}, "ceat takes no vectors"),
        ({"data": True, "method": "fixt"}, "unknown method of ceat 'fixt': did you mean 'fixed'?"),
        ({"data": True, "method": "draws=many"}, "draws must be a whole number from 1 on, not 'many'"),
        ({"data": True, "method": "at-least=0"}, "at-least must be a whole number from 1 on"),
        ({"data": True, "targets": ["gender.male_terms"]}, "ceat needs two targets, but got 1"),
        (
            {"data": True, "targets": ["gender.male_terms", "gender.female_term"], "attributes": list(GROUPS)[2:]},
            "did you mean 'gender.female_terms'?",
        ),
        (
            {"data": True, "targets": ["gender.male_terms"] * 2, "attributes": list(GROUPS)[2:]},
            "one of them was named twice",
        ),
        ({"data": True, "method": "at-least=100"}, "0 of 5 word(s) have 100 contexts or more"),
    ],
)
def test_bad_input_is_said_in_one_line(given: dict[str, object], said: str, mined: Path) -> None:
    if given.get("data") is True:
        given = {**given, "data": mined}
    with pytest.raises(BadInput) as error:
        run_probes(make_probes("ceat", options=Options(), **given), InContext(), cache=False, progress=False)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_asked_are_spans_and_each_once(mined: Path) -> None:
    whole, *parts = make_probes("ceat", data=mined)
    asked = whole.asks(lambda question: question is Question.SPANS)
    assert asked is not None
    assert len(set(asked[Question.SPANS])) == 6 * 16
    assert len(parts) == 2
    assert whole.asks(lambda _: False) is None


def test_a_real_model_is_measured_and_its_layers_differ(mined: Path) -> None:
    needs_sample("minilm")
    from tiltmeter.models.registry import SAMPLES

    last, second = (
        readings(mined, f"hf:{SAMPLES['minilm'].folder()}/model{layer}", method="draws=200")
        for layer in ("", "?layer=2")
    )
    assert [each.id for each in last] == ["ceat", "ceat-9", "ceat-25"]
    assert all(each.details.draws == 200 for each in last)
    assert last[0].effect.value != second[0].effect.value
    assert "layer=2" in second[0].model


def test_the_span_embedded_is_the_form_found_or_its_root(tmp_path: Path) -> None:
    folder = write_mined(tmp_path / "mined", suffix="like")
    whole, root = InContext(), InContext()
    readings(folder, whole)
    found = readings(folder, root, method="root-only")
    assert {span.word for span in whole.asked} == {f"{word}like" for words in GROUPS.values() for word in words}
    assert {span.word for span in root.asked} == {word for words in GROUPS.values() for word in words}
    assert {span.text for span in whole.asked} == {span.text for span in root.asked}
    assert found[0].details.root_only is True


def test_the_headline_counts_each_occurrence_once_in_its_longest_window(mined: Path) -> None:
    model = InContext()
    headline, _, longest = readings(mined, model)
    assert headline.effect == longest.effect
    assert [item.get("contexts") for item in headline.items] == [6] * 10
    (asked,) = (each.asks(lambda question: question is Question.SPANS) for each in make_probes("ceat", data=mined)[:1])
    assert asked is not None
    assert all(" of 25 " in span.text for span in asked[Question.SPANS])


def test_a_word_that_occurs_once_has_one_context_however_many_lengths_there_are(tmp_path: Path) -> None:
    folder = write_mined(tmp_path / "mined", lengths=["9", "25", "75", ">75"], rare={"girl": 1})
    assert "'girl' (female terms)" in {each.what for each in readings(folder)[0].left_out}


def test_the_headline_is_of_the_length_asked_for(mined: Path) -> None:
    found = readings(mined, method="length=9")
    assert [(each.id, each.details.length) for each in found] == [("ceat", "9"), ("ceat-25", "25")]
    assert found[0].effect == readings(mined)[1].effect
    with pytest.raises(BadInput, match=r"unknown length of the windows in .* '8': known: 25, 9"):
        readings(mined, method="length=8")


def test_a_length_with_too_few_words_is_left_out_and_named(tmp_path: Path) -> None:
    folder = write_mined(tmp_path / "mined", lengths=["9", "25"], thin={"25": 1})
    found, nine = readings(folder)
    assert (found.id, nine.id) == ("ceat", "ceat-9")
    said = (
        "no reading in 25 words: male terms in 25 words: 0 of 5 word(s) have 2 contexts or more, and 2 words are needed"
    )
    assert [note for note in found.notes if said in note]


def test_a_model_that_reads_whole_texts_is_shown_whole_texts(tmp_path: Path) -> None:
    model = InContext()
    (found,) = readings(write_mined(tmp_path / "a", lengths=[">75"], padding=500), model)
    assert all(len(span.text.split()) > 1000 for span in model.asked)
    assert found.notes == ()


def test_a_window_is_cut_by_the_limit_of_the_model_and_the_reading_says_to_how_many_words(tmp_path: Path) -> None:
    needs_sample("minilm")
    folder = write_mined(tmp_path / "a", lengths=[">75"], contexts=2, padding=500)
    (found,) = readings(folder, "bundled:minilm", method="draws=20")
    # 256 tokens: two are marks of the model, one is the sign in ">75", and every word of these texts is one.
    assert found.notes == ("32 of 32 windows hold more than bundled:minilm reads: of these it sees 253 words",)


def test_four_of_more_groups_are_chosen_by_name(tmp_path: Path) -> None:
    folder = write_mined(tmp_path / "mined", groups={**GROUPS, "attributes.arts": ("art", "poem")})
    with pytest.raises(BadInput, match=r"holds 5 group.* --targets X,Y --attributes A,B"):
        readings(folder)
    swapped = {
        "targets": ["gender.female_terms", "gender.male_terms"],
        "attributes": ["attributes.career", "attributes.family"],
    }
    assert readings(folder, **swapped)[0].effect.value < -1.5


def test_methods_and_lengths_read_as_words() -> None:
    assert CeatMethod.parse(None) == CeatMethod("fixed", 5000, 2, root_only=False)
    assert CeatMethod.parse("random, draws=7") == CeatMethod("random", 7, 2, root_only=False)
    assert in_words("25") == "in 25 words"


def test_texts_of_a_word_that_was_not_counted_are_refused(tmp_path: Path) -> None:
    folder = write_mined(tmp_path / "mined")
    about = next(path for path in folder.glob("*.json") if "counts" in json.loads(path.read_text()))
    content = json.loads(about.read_text())
    word = content["counts"][0]["word"]
    content["counts"] = [count for count in content["counts"] if count["word"] != word]
    about.write_text(json.dumps(content))
    with pytest.raises(BadInput, match=f"hold '{word}' of .* not among the words counted: mine them again"):
        make_probes("ceat", data=str(folder))
