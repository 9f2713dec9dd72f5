"""The prompt for one of two words, and how its answer is read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.models.api.chat_prompt import read_choice


def test_composed_and_decomposed_letters_are_one_word() -> None:
    # U+09DF composed; NFC writes it as U+09AF U+09BC.
    assert read_choice("মে\u09df\u09c7।", ("ছেলে", "মে\u09af\u09bc\u09c7")) == 2
    assert read_choice("彼女。", ("彼", "彼女")) == 2


@given(st.sampled_from(["him", "her"]), st.text(alphabet=" .,;:!?\"'*`()[]“”«»\n", max_size=6))
def test_no_signs_around_a_word_hide_it(word: str, signs: str) -> None:
    assert read_choice(f"{signs}{word.upper()}{signs}", ("him", "her")) == (1 if word == "him" else 2)


@given(st.text(max_size=20))
def test_any_text_is_read_as_one_two_or_none(text: str) -> None:
    assert read_choice(text, ("him", "her")) in (0, 1, 2)
