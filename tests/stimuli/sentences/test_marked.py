"""Marked sentences: places of marks and occupations, and what was kept and dropped."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.probes.cabm.cabm import count_sentences
from tiltmeter.stimuli import Group
from tiltmeter.stimuli.datasets import load_bec_pro, load_winobias, load_winogender
from tiltmeter.stimuli.sentences.marked import MarkedSet, marked_by_lexicon, marked_sentences
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, pronoun_sentence
from tiltmeter.stimuli.sentences.shipped import group_set


def sentence(text: str, word: str, forms: tuple[str, str], occupation: str, **tags: str) -> Sentence:
    start = text.index(f" {word} ") + 1
    return pronoun_sentence(text, (start, start + len(word)), forms, occupation, **{"kind": "type1", "id": "1", **tags})


def mine(*sentences: Sentence) -> SentenceSet:
    return SentenceSet("mine", sentences, groups=("men", "women"))


def check_places(marked: MarkedSet) -> None:
    for row in marked.versions:
        assert row.neutral.word("occupation").lower() == row.unit.lower()
        assert row.neutral.word("pronoun") == "[MASK]"
        before, after = row.neutral.around("pronoun")
        for side in row.by_group:
            for version in side:
                assert version.word("occupation").lower() == row.unit.lower()
                # "a [MASK] nurse" stands for "an old nurse" as well
                assert version.text.endswith(f"{version.word('pronoun')}{after}")
                assert version.text.startswith(before) or version.text.startswith(f"{before.rstrip()}n ")


def test_every_line_of_winobias_is_used_or_accounted_for(data):
    marked = marked_sentences(load_winobias(data("winobias")))
    counts = count_sentences(marked)
    assert (counts.read, counts.used) == (3168, 3070)
    assert counts.left_out == {
        "another word in the line says a gender": 97,
        "the opposite file does not show the other form of 'her'": 1,
    }
    assert counts.in_source == {"men": 1536, "women": 1534}
    # 26 of the 3,070 have no counterpart that could be used: it was made
    assert counts.sentences == 3096
    assert counts.by_kind == {"type1": {"men": 761, "women": 761}, "type2": {"men": 787, "women": 787}}
    assert len(counts.by_occupation) == 40
    assert {marked.expected["nurse"], marked.expected["carpenter"]} == {1, 2}
    check_places(marked)


def test_in_winogender_sentences_about_somebody_else_are_left_out(data):
    counts = count_sentences(marked_sentences(load_winogender(data("winogender"))))
    (reason,) = counts.left_out
    assert "somebody other" in reason
    assert (counts.read, counts.used, counts.sentences) == (480, 240, 240)


def test_every_sentence_of_bec_pro_is_used(data):
    assert count_sentences(marked_sentences(load_bec_pro(data("bec_pro/BEC-Pro_EN.tsv")))).sentences == 5400


def test_an_occupation_after_the_pronoun_moves_with_its_length():
    row = sentence("Because he was late, the CEO ran.", "he", ("he", "she"), "CEO")
    (versions,) = marked_sentences(mine(row)).versions
    ((one,), (two,)) = versions.by_group
    assert two.text == "Because she was late, the CEO ran."
    assert [each.word("occupation") for each in (one, two, versions.neutral)] == ["CEO"] * 3


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
    marked = marked_sentences(mine(sentence(text, "he", ("he", "she"), occupation)))
    if found is None:
        assert marked.versions == ()
        assert marked.left_out == {"the occupation is not in the sentence as a word": 1}
    else:
        masculine = marked.sentences[0][0]
        assert masculine.word("occupation") == found
        assert masculine.slots["occupation"][0] == text.index(found)


def test_counts_are_those_of_the_source_and_a_sentence_is_there_once():
    rows = [
        sentence("The cook said he left.", "he", ("he", "she"), "cook", expected="men", id=str(n)) for n in range(3)
    ]
    rows.append(sentence("The cook said she left.", "she", ("he", "she"), "cook", expected="men"))
    marked = marked_sentences(mine(*rows))
    assert marked.counts == {"cook": (3, 1)}
    assert [[each.text for each in side] for side in marked.sentences] == [
        ["The cook said he left."],
        ["The cook said she left."],
    ]
    assert marked.expected == {"cook": 1}
    assert marked_sentences(mine(rows[0]), both=True).counts == {"cook": (1, 1)}


def test_lines_that_the_source_left_out_count_as_read():
    source = SentenceSet(
        "mine",
        (sentence("The cook said he left.", "he", ("he", "she"), "cook"),),
        groups=("men", "women"),
        left_out={"two pronouns": 3},
    )
    marked = marked_sentences(source)
    assert (marked.read, marked.left_out) == (4, {"two pronouns": 3})


def test_two_groups_of_a_lexicon_stand_in_the_same_sentences():
    marked = group_set(("identity.asian_terms", "identity.white_terms"))
    asian, white = ({each.word("pronoun") for each in side} for side in marked.sentences)
    assert asian >= {"Asian", "Korean"}
    assert white >= {"white", "Irish"}
    assert [len(side) for side in marked.sentences] == [10 * 4 * 60] * 2
    assert len(marked.versions) == 4 * 60
    check_places(marked)


def test_words_stand_in_the_frames_of_their_kind():
    made = group_set(("identity.young_terms", "identity.old_terms"))
    texts = {each.text for side in made.sentences for each in side}
    assert "We talked to an old nurse about the plan." in texts
    assert "The nurse is an octogenarian." in texts
    assert "We talked to an octogenarian nurse about the plan." not in texts
    check_places(made)


def test_words_without_a_frame_are_named():
    groups = [Group.of(f"mine.{a}", [a], kind="adjective", label=a) for a in ("young", "old")]
    more = Group("mine.new", "new", (*groups[1].words, *Group.of("x", ["quickly"], kind="adverb").words))
    made = marked_by_lexicon({"adjective": ["The {group} {occupation} left."]}, (groups[0], more), ["cook"])
    assert made.notes == ("no frame for words of their kind, left out: 'quickly' of new",)
    assert [len(side) for side in made.sentences] == [1, 1]


@pytest.mark.parametrize(
    ("frames", "groups", "says"),
    [
        ({"noun": ["The {occupation} is {a group}."]}, ["a", "b"], "'mine.a' has no word for the frames"),
        ({"adjective": ["The {group} cook left."]}, ["a", "b"], "needs {group} and {occupation} once each"),
        ({"adjective": ["The {group} {occupation} left."]}, ["a", "a"], "hold the same words"),
    ],
)
def test_bad_frames_and_groups_are_one_clear_line(frames, groups, says):
    made = [Group.of(f"mine.{name}", [name], kind="adjective") for name in groups]
    with pytest.raises(BadInput) as error:
        marked_by_lexicon(frames, tuple(made), ["cook"])
    assert says in str(error.value)
    assert "\n" not in str(error.value)
