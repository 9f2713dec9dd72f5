from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.mitigation import swap_groups
from tiltmeter.stimuli import pairs
from tiltmeter.stimuli.languages import language

PAIRS = pairs("gender.gender").pairs
PARTNERS = {one: two for pair in PAIRS for one, two in (pair, pair[::-1])} | {"Mary": "John", "John": "Mary"}
RULES = language("en").swaps


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("He saw the woman.", "She saw the man."),
        ("SHE is a queen", "HE is a king"),
        ("The time of her infection.", "The time of his infection."),
        ("We met her.", "We met him."),
        ("We met her in town.", "We met him in town."),
        ("Her book is here.", "His book is here."),
        ("His book is mine.", "Her book is mine."),
        ("The book is his.", "The book is hers."),
        ("The book is hers.", "The book is his."),
        ("They saw him.", "They saw her."),
        ("Mary hurt herself.", "John hurt himself."),
        ("I went with her yesterday.", "I went with him yesterday."),
        ("She lay on her back.", "He lay on his back."),
        ("It was her who came.", "It was him who came."),
        ("In her early work and her only child.", "In his early work and his only child."),
        ("A human in a tent.", None),
    ],
)
def test_group_words_change_places_by_their_role_and_keep_their_case(text, swapped):
    assert swap_groups(text, PARTNERS, rules=RULES).text == swapped


@pytest.mark.parametrize(
    "text",
    [
        "He called her back.",  # and: it hurt her back
        "I was with her last week.",  # and: in her last year
        "They counted on her writing.",
        "We talked to her often.",
        "The car is his and the house is mine.",  # and: his and her friends
    ],
)
def test_what_may_be_either_is_left_open(text):
    made = swap_groups(text, PARTNERS, rules=RULES)
    assert made.text is None
    assert made.open in (("her",), ("his",))


def test_a_word_whose_role_cannot_be_told_leaves_the_sentence_out():
    made = swap_groups("She gave her flowers.", PARTNERS, rules=RULES)
    assert (made.text, made.swapped, made.open) == (None, ("She",), ("her",))


#: Words without several roles: what is exchanged twice is as it was.
PLAIN = sorted(word for word in PARTNERS if word not in RULES and PARTNERS[word] not in RULES)


@given(st.lists(st.sampled_from([*PLAIN, "tree", "the", "ran"]), min_size=1, max_size=8))
def test_twice_exchanged_is_as_it_was(words):
    text = " ".join(words)
    once = swap_groups(text, PARTNERS).text
    assert once is None or swap_groups(once, PARTNERS).text == text


def test_without_words_there_is_nothing_to_exchange():
    assert swap_groups("He ran.", {}).text is None
