"""What a drafted sentence must keep, and that the rules let good sentences through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.labelled import rows
from tiltmeter.stimuli import datasets
from tiltmeter.stimuli.annotation import rules
from tiltmeter.stimuli.annotation.rules import Seen, broken_rule, with_place
from tiltmeter.stimuli.languages.language import language
from tiltmeter.stimuli.sentences.cloze_sets import cloze_sets

EN, HIM_HER = language("en"), ("him", "her")
SOUP = {"occupation": "chef", "noun": "soup", "verb": "cooked"}


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("The soup was cooked by him.", "The soup was cooked by {pronoun}"),
        ("The soup was cooked by [pronoun]", "The soup was cooked by {pronoun}"),
        ("The soup was cooked by him/her.", "The soup was cooked by {pronoun}"),
        ("The soup was cooked by them", "The soup was cooked by {pronoun}"),
        ('"The soup was cooked by _____."', "The soup was cooked by {pronoun}"),
        ("The soup was cooked by the chef", "The soup was cooked by the chef"),
        ("The soup was cooked by Wilhelhim", "The soup was cooked by Wilhelhim"),
    ],
)
def test_the_place_of_the_pronoun_is_found_at_the_end(written: str, place: str) -> None:
    assert with_place(written, HIM_HER, EN) == place


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("The chef said that the soup was cooked by {pronoun}", None),
        ("The chef said that the soup was cooked well", rules.NO_PRONOUN),
        ("The chef told {pronoun} that the soup was cooked by {pronoun}", rules.MORE_PRONOUNS),
        ("The chef said that his soup was cooked by {pronoun}", rules.MORE_PRONOUNS),
        ("They said that the soup of the chef was cooked by {pronoun}", rules.MORE_PRONOUNS),
        ("The chef said that {pronoun} cooked the soup", rules.NOT_LAST),
        ("The chef said that the stew was cooked by {pronoun}", rules.NO_CONTEXT),
        ("The chef said that the soups were cooked by {pronoun}", rules.NO_CONTEXT),
        ("The chef told two women that the soup was cooked by {pronoun}", rules.GENDERED),
        ("The chef told the policeman that the soup was cooked by {pronoun}", rules.GENDERED),
        ("The chef told Mary that the soup was cooked by {pronoun}", rules.GENDERED),
        ("The chef was there. Then the soup was cooked by {pronoun}", rules.SENTENCES),
        ("The chef said that an soup was cooked by {pronoun}", rules.WRONG_ARTICLE),
        ("The chef said that the суп soup was cooked by {pronoun}", rules.SCRIPT),
        ("The chef said that the exposé soup was cooked by {pronoun}", "a letter or sign that English does not use"),
        ("the chef said that the soup was cooked by {pronoun}", "the first letter is no capital"),
        ("The chef said that the the soup was cooked by {pronoun}", "a word stands twice in a row"),
        (
            "The chef said that the soup was cooked {pronoun}",
            "a passive verb stands before the pronoun without by, to, for or with",
        ),
        (
            "The chef said the soup cooked and {pronoun}",
            "the word before the pronoun cannot stand before him or her",
        ),
        (f"The chef {' '.join(f'word{n}' for n in range(40))} soup was cooked by {{pronoun}}", rules.LENGTH),
    ],
)
def test_a_broken_rule_is_named(sentence: str, reason: str | None) -> None:
    assert broken_rule(sentence, SOUP, HIM_HER, EN) == reason


def test_sentences_that_people_wrote_pass() -> None:
    for each in cloze_sets()[:3]:
        for sentence in each.sentences:
            text = with_place(sentence.text, HIM_HER, EN)
            assert broken_rule(text, {each.context: sentence.unit}, HIM_HER, EN) is None, text


def test_of_the_published_sentences_only_those_pass_that_hold_their_context_word() -> None:
    """Four of 2,511 rows of GenderLex name a word that the sentence does not have; all others keep every rule."""
    try:
        sets = [each for each in datasets.load_cloze("genderlex") if each.variant == "all" and not each.races]
    except Exception as error:
        pytest.skip(f"GenderLex is not here: {error}")
    broken = []
    for each in sets:
        for sentence in each.sentences:
            contexts = {each.context: sentence.unit}
            if reason := broken_rule(with_place(sentence.text, HIM_HER, EN), contexts, HIM_HER, EN):
                broken.append((reason, sentence.unit))
    assert sum(len(each.sentences) for each in sets) == 2511
    assert broken == [(rules.NO_CONTEXT, word) for word in ("tasted", "pitched", "captured", "implemented")]


def test_near_duplicates_are_those_that_differ_in_one_word() -> None:
    seen = Seen(EN, [rows()[0].sentence])
    assert not seen.add("The engineer told everybody that the bridge was designed by {pronoun}.")
    assert not seen.add("The engineer told everybody that the tower was designed by {pronoun}")
    assert not seen.add("The engineer told everybody that the old bridge was designed by {pronoun}")
    assert seen.add("The engineer told everybody that the tower was painted by {pronoun}")


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=6), st.data())
def test_a_sentence_with_one_word_changed_is_always_known(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:place], data.draw(st.sampled_from(["x", "y"])), *words[place + 1 :]]
    seen = Seen(EN, [" ".join(words)])
    assert not seen.add(" ".join(changed))
    assert not seen.add(" ".join(words[:place] + words[place + 1 :]) or words[0])
