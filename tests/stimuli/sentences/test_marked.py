"""Marked sentences: places of marks and occupations, and what was kept and dropped."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli import Group
from tiltmeter.stimuli.datasets import load_bec_pro, load_winobias, load_winogender
from tiltmeter.stimuli.sentences.marked import MarkedSet, marked_sentences
from tiltmeter.stimuli.sentences.marked_by_lexicon import marked_by_lexicon
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, pronoun_sentence
from tiltmeter.stimuli.sentences.shipped import group_set


def sentence(text: str, word: str, forms: tuple[str, str], occupation: str, **more) -> Sentence:
    start = text.index(f" {word} ") + 1
    return pronoun_sentence(text, (start, start + len(word)), forms, occupation, **{"kind": "type1", "id": "1", **more})


def check_places(made: MarkedSet) -> None:
    for row in made.rows:
        neutral = row.neutral
        assert row.text[slice(*row.occupation_place)].lower() == row.occupation.lower()
        assert neutral.text[slice(*neutral.occupation_place)].lower() == row.occupation.lower()
        assert neutral.text[slice(*neutral.place)] == "[MASK]"
        before, after = neutral.text.split("[MASK]")
        # "a [MASK] nurse" stands for "an old nurse" as well
        assert row.text.endswith(after)
        assert row.text.startswith(before) or row.text.startswith(f"{before.rstrip()}n ")


def test_every_line_of_winobias_is_used_or_accounted_for(data):
    made = marked_sentences(load_winobias(data("winobias")))
    table = made.table()
    assert table["lines"]["read"] == 3168
    assert table["lines"]["used"] == 3070
    assert table["lines"]["left_out"] == {
        "another word in the line says a gender": 97,
        "the opposite file does not tell the other form of 'her'": 1,
    }
    assert table["lines"]["by_group"] == {"men": 1536, "women": 1534}
    # 26 of the 3,070 have no counterpart that could be used: it was made
    assert table["sentences"] == 3096
    assert table["by_kind"] == {"type1": {"men": 761, "women": 761}, "type2": {"men": 787, "women": 787}}
    assert len(table["by_occupation"]) == 40
    assert {made.expected["nurse"], made.expected["carpenter"]} == {1, 2}
    check_places(made)


def test_in_winogender_sentences_about_somebody_else_are_left_out(data):
    table = marked_sentences(load_winogender(data("winogender"))).table()
    (reason,) = table["lines"]["left_out"]
    assert "somebody else" in reason
    assert (table["lines"]["read"], table["lines"]["used"], table["sentences"]) == (480, 240, 240)


def test_words_of_several_letters_and_words_keep_their_places(data):
    made = marked_sentences(load_bec_pro(data("bec_pro/BEC-Pro_EN.tsv")))
    assert len(made.rows) == 5400
    check_places(made)


def test_an_occupation_after_the_pronoun_moves_with_its_length():
    row = sentence("Because he was late, the CEO ran.", "he", ("he", "she"), "CEO")
    one, two = marked_sentences(SentenceSet("mine", (row,))).rows
    assert (one.group, two.group) == (1, 2)
    assert two.text == "Because she was late, the CEO ran."
    assert [each.text[slice(*each.occupation_place)] for each in (one, two)] == ["CEO", "CEO"]
    assert two.neutral.text[slice(*two.neutral.occupation_place)] == "CEO"


@pytest.mark.parametrize(
    ("text", "occupation", "found"),
    [
        ("The cookie and the Cook said he left.", "cook", "Cook"),
        ("A nurse met the nurse and he left.", "nurse", "nurse"),
        ("The nurses said he left.", "nurse", None),
        ("The heir left because he could.", "he", None),
    ],
)
def test_the_first_whole_word_is_the_occupation_and_without_one_the_line_is_dropped(text, occupation, found):
    made = marked_sentences(SentenceSet("mine", (sentence(text, "he", ("he", "she"), occupation),)))
    if found is None:
        assert made.rows == ()
        assert made.left_out == {"the occupation does not stand in the sentence as a word": 1}
    else:
        assert made.rows[0].text[slice(*made.rows[0].occupation_place)] == found
        assert made.rows[0].occupation_place[0] == text.index(found)


def test_counts_are_those_of_the_source_and_a_sentence_is_there_once():
    rows = [
        sentence("The cook said he left.", "he", ("he", "she"), "cook", expected="men", id=str(n)) for n in range(3)
    ]
    rows.append(sentence("The cook said she left.", "she", ("he", "she"), "cook", expected="men"))
    made = marked_sentences(SentenceSet("mine", tuple(rows)))
    assert made.counts == {"cook": (3, 1)}
    assert [row.text for row in made.rows] == ["The cook said he left.", "The cook said she left."]
    assert made.expected == {"cook": 1}
    assert marked_sentences(SentenceSet("mine", tuple(rows[:1])), both=True).counts == {"cook": (1, 1)}


def test_three_groups_of_a_lexicon_are_compared_in_pairs():
    made = group_set(["identity.white_terms", "identity.black_terms", "identity.asian_terms"])
    assert len(made.groups) == 3
    assert len(made.rows) == 3 * 10 * 4 * 60
    check_places(made)
    pair = made.between(3, 1)
    assert pair.groups == (made.groups[2], made.groups[0])
    assert {row.mark for row in pair.rows if row.group == 1} >= {"Asian", "Korean"}
    assert {row.mark for row in pair.rows if row.group == 2} >= {"white", "Irish"}
    assert len({row.neutral for row in pair.rows}) == 4 * 60


def test_words_stand_in_the_frames_of_their_kind():
    made = group_set(["identity.young_terms", "identity.old_terms"])
    texts = {row.text for row in made.rows}
    assert "We talked to an old nurse about the plan." in texts
    assert "The nurse is an octogenarian." in texts
    assert "We talked to an octogenarian nurse about the plan." not in texts
    check_places(made)


def test_words_without_a_frame_are_named():
    groups = [Group.of(f"mine.{a}", [a], kind="adjective", label=a) for a in ("young", "old")]
    more = Group("mine.new", "new", (*groups[1].words, *Group.of("x", ["quickly"], kind="adverb").words))
    made = marked_by_lexicon({"adjective": ["The {group} {occupation} left."]}, [groups[0], more], ["cook"])
    assert made.warnings == ("no frame for words of their kind, left out: 'quickly' of new",)
    assert len(made.rows) == 2


@pytest.mark.parametrize(
    ("frames", "groups", "says"),
    [
        ({"noun": ["The {occupation} is {a group}."]}, ["a", "b"], "'mine.a' has no word for the frames"),
        ({"adjective": ["The {group} cook left."]}, ["a", "b"], "needs {group} and {occupation} once each"),
        ({"adjective": ["The {group} {occupation} left."]}, ["a"], "at least two groups"),
        ({"adjective": ["The {group} {occupation} left."]}, ["a", "a"], "hold the same words"),
    ],
)
def test_bad_frames_and_groups_are_one_clear_line(frames, groups, says):
    made = [Group.of(f"mine.{name}", [name], kind="adjective") for name in groups]
    with pytest.raises(BadInput) as error:
        marked_by_lexicon(frames, made, ["cook"])
    assert says in str(error.value)
    assert "\n" not in str(error.value)
