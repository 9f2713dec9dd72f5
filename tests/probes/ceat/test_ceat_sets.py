"""Words in their mined contexts, as CEAT compares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mined_folder import GROUPS, write_mined
from tests.probes.ceat.in_context import InContext, readings
from tiltmeter.errors import BadInput
from tiltmeter.probes.ceat.ceat_sets import Method, in_words


def test_the_span_embedded_is_the_form_found_or_its_root(tmp_path: Path) -> None:
    folder = write_mined(tmp_path / "mined", suffix="like")
    whole, root = InContext(), InContext()
    readings(folder, whole)
    found = readings(folder, root, method="root-only")
    assert {span.word for span in whole.asked} == {f"{word}like" for words in GROUPS.values() for word in words}
    assert {span.word for span in root.asked} == {word for words in GROUPS.values() for word in words}
    assert {span.text for span in whole.asked} == {span.text for span in root.asked}
    assert found[0].details.root_only is True


def test_a_window_as_long_as_its_text_is_cut_around_the_word_and_one_of_so_many_words_is_not(tmp_path: Path) -> None:
    open_ended, exact = InContext(), InContext()
    (found,) = readings(write_mined(tmp_path / "a", lengths=[">75"], padding=500), open_ended)
    readings(write_mined(tmp_path / "b", lengths=["1003"], padding=500), exact)
    assert all(390 <= span.start <= 400 and 390 <= len(span.text) - span.end <= 400 for span in open_ended.asked)
    assert all(span.text.startswith("and ") and span.text.endswith(" too") for span in open_ended.asked)
    assert all(len(span.text) > 4000 for span in exact.asked)
    assert any("cut around the word" in note for note in found.notes)


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
    assert Method.parse(None) == Method("fixed", 5000, 2, False)
    assert Method.parse("random, draws=7") == Method("random", 7, 2, False)
    assert in_words("25") == "in 25 words"
