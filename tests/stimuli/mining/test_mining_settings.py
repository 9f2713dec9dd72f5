from __future__ import annotations

import pytest

from tests.stimuli.mining.finding import group, settings
from tiltmeter.errors import BadInput
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining.mining_settings import find_words, parse_lengths


def test_a_word_of_two_groups_is_looked_for_once():
    groups = {"a": group("he", "she"), "b": group("he")}
    assert [(word.text, word.groups) for word in find_words(groups, language("en"))] == [
        ("he", ("a", "b")), ("she", ("a",)),
    ]  # fmt: skip


def test_a_word_without_a_letter_is_refused():
    with pytest.raises(BadInput, match=r"test\.words: '--' holds no letter"):
        settings(["--"])


@pytest.mark.parametrize("wrong", ["0", "-3", "nine", "> 75", ">0x", "", "9.5"])
def test_an_unknown_length_is_one_clear_line(wrong):
    with pytest.raises(BadInput, match=f"unknown length '{wrong}': write a number of words"):
        parse_lengths([wrong])
