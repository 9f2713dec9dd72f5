from __future__ import annotations

import pytest

from tests.stimuli.lexicon.written import HEADER, complaint
from tiltmeter.errors import BadInput
from tiltmeter.stimuli import (
    Group,
    check_disjoint,
    group,
    load_lexicon,
    matched_words,
    pairs,
    stimuli_digest,
    templates,
)


def test_equal_content_has_an_equal_hash_and_other_content_another(write):
    one = load_lexicon(write(HEADER + "groups: {a: {words: [x, y]}}", "1.yaml"))
    same = load_lexicon(write("# note\n" + HEADER + "groups:\n  a:\n    words:\n    - x\n    - y\n", "2.yaml"))
    other = load_lexicon(write(HEADER + "groups: {a: {words: [x, z]}}", "3.yaml"))
    assert one.sha256 == same.sha256 != other.sha256
    assert len(one.sha256) == 64
    assert stimuli_digest(one.groups["a"]) != stimuli_digest(other.groups["a"])


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert "no file" in complaint(tmp_path / "none.yaml")
    assert "cannot read" in complaint(tmp_path)


def test_groups_pairs_and_templates_of_an_own_file_have_addresses(write):
    path = write(
        HEADER
        + "groups: {a: {words: [x]}}\npairs: {p: {label_1: f, label_2: m, pairs: [[she, he]]}}\n"
        + "templates: {t: {templates: [{subject: '{} slept.'}]}}\n"
    )
    assert group(f"{path}.a").texts == ("x",)
    assert pairs(f"{path}.p").pairs == (("she", "he"),)
    assert templates(f"{path}.t").templates == ({"subject": "{} slept."},)


@pytest.mark.parametrize(
    ("find", "address", "expected"),
    [
        (group, "gendr.male_terms", "unknown lexicon 'gendr': did you mean 'gender'?"),
        (group, "gender.male_term", "unknown group of gender 'male_term': did you mean 'male_terms'?"),
        (pairs, "gender.defintional", "unknown pairs of gender 'defintional': did you mean 'definitional'?"),
        (templates, "seat.bleach", "unknown templates of seat 'bleach': did you mean 'bleached'?"),
        (group, "male_terms", "'male_terms' is not an address of a group: write lexicon.name"),
        (pairs, "she", "'she' is not an address of pairs: write lexicon.name"),
    ],
)
def test_an_unknown_address_gets_a_suggestion(find, address, expected):
    with pytest.raises(BadInput) as caught:
        find(address)
    assert str(caught.value).startswith(expected)


def test_two_groups_of_the_same_words_cannot_be_compared():
    one, other = Group.of("one", ["he", "him"]), Group.of("other", ["Him", "He"])
    with pytest.raises(BadInput, match="'one' and 'other' hold the same words"):
        check_disjoint(one, other)


def test_the_overlap_of_two_groups_is_returned():
    assert check_disjoint(Group.of("one", ["a", "b"]), Group.of("other", ["b", "c"])) == ("b",)
    assert check_disjoint(Group.of("one", ["a"]), Group.of("other", ["a", "b"])) == ("a",)
    assert check_disjoint(Group.of("one", ["a"]), Group.of("other", ["b"])) == ()


def test_partners_are_matched_in_order_whichever_group_names_the_other(write):
    path = write(
        HEADER + "groups: {m: {words: [king, uncle], partners: f}, f: {words: [queen, aunt]}, o: {words: [x, y]}}"
    )
    men, women, others = (group(f"{path}.{name}") for name in "mfo")
    assert (men.partners, women.partners) == ("mine.f", "")
    assert matched_words(men, women) == (("king", "queen"), ("uncle", "aunt"))
    assert matched_words(women, men) == (("queen", "king"), ("aunt", "uncle"))
    assert matched_words(men, others) == matched_words(others, women) == ()


def test_groups_that_name_nobody_are_not_matched():
    assert matched_words(Group.of("", ["king"]), Group.of("", ["queen"])) == ()


def test_words_given_inline_name_partners_by_label_or_address_and_families():
    men = group({"label": "men", "words": ["he", {"word": "him", "family": "he"}, "king"], "partners": "women"})
    women = group({"label": "women", "words": ["she", "her", "queen"]})
    assert matched_words(women, men) == (("she", "he"), ("her", "him"), ("queen", "king"))
    assert (men.families, women.families) == (("he", "he", "king"), None)
    they = group({"words": ["they", "them", "theirs"], "partners": "gender.male_pronouns"})
    assert matched_words(they, group("gender.male_pronouns"))[1] == ("them", "him")


def test_partners_given_inline_must_be_as_many():
    men = group({"label": "men", "words": ["he", "king"], "partners": "women"})
    with pytest.raises(BadInput) as caught:
        matched_words(men, Group.of("women", ["she"]))
    assert str(caught.value) == (
        "'men' and 'women' are partners, word by word, but hold 2 and 1 words: "
        "give them the same number, or remove 'partners'"
    )
