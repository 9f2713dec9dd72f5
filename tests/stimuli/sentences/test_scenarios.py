"""Scenarios: ours, and those of a user's file."""

from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.sentences.scenarios import load_scenarios


def test_ours_are_letters_hiring_and_advice_and_differ_in_the_person_alone() -> None:
    scenarios = load_scenarios()
    assert len(scenarios) >= 20
    assert set(Counter(one.kind for one in scenarios)) == {"letter", "hiring", "advice"}
    for one in scenarios:
        assert one.about("Emily").replace("Emily", "Greg") == one.about("Greg")
        gendered = {"he", "she", "him", "her", "his", "man", "woman"}
        assert not gendered & set(one.prompt.lower().replace(",", " ").split())


@pytest.mark.parametrize(
    ("scenarios", "complaint"),
    [
        ("- {id: a, kind: letter, prompt: 'no person'}\n- {id: b, kind: x, prompt: '{person}'}", "once, not 0 times"),
        ("- {id: a, kind: letter, prompt: '{person}'}\n- {id: a, kind: x, prompt: '{person}'}", "'a' appears twice"),
        ("- {id: a, kind: letter, prompt: '{person}'}", "at least 2 items"),
        ("- {id: a, kind: letter, prompt: '{person}', option: [a, b]}\n- {}", "Extra inputs"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path, scenarios, complaint) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"name: mine\nscenarios:\n{scenarios}\n")
    with pytest.raises(BadInput, match=complaint) as caught:
        load_scenarios(file)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path) -> None:
    with pytest.raises(BadInput, match="no scenarios called"):
        load_scenarios(tmp_path / "none.yaml")
