from __future__ import annotations

import json
import re

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import catalogue, find, load_bangla_categories
from tiltmeter.stimuli.languages import language

FOUR = {
    "targ1": {"category": "MaleTerms", "examples": ["ভাই", "ছেলে"]},
    "targ2": {"category": "FemaleTerms", "examples": ["বোন", "মেয়ে"]},
    "attr1": {"category": "Career", "examples": ["পেশা"]},
    "attr2": {"category": "Family", "examples": ["ঘর"]},
}
WORDS = {"ভাই": ["দের"], "ছেলে": ["রা"], "বোন": ["ের"], "মেয়ে": ["রা"], "পেশা": [], "ঘর": ["ে"]}
FORMS = language("bn").forms


def save(folder, *, words=WORDS, suffixes=None, changes=None):
    (folder / "CEAT_Categories").mkdir(exist_ok=True)
    for number in range(1, 10):
        content = {**FOUR, **((changes or {}).get(number, {}))}
        path = folder / "CEAT_Categories" / f"ceat{number}.jsonl"
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    given = {"0": ["দের"], "1": ["রা"], "2": ["ের"], "3": ["ে"], "4": []} if suffixes is None else suffixes
    for name, content in (("weatWordsWithSuffix", words), ("suffixCategories", given)):
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_the_published_set_has_nine_tests_and_its_oddities_are_reported(data):
    found = load_bangla_categories(data("bangla/CeatDataCollection"))
    assert {name: len(own.words) for name, own in found.groups.items()} == {
        "flowers": 14, "insects": 14, "pleasant": 23, "unpleasant": 23, "instruments": 12, "weapons": 12,
        "male_names": 27, "female_names": 27, "career": 8, "family": 8, "male_terms": 8, "female_terms": 8,
        "math": 10, "arts_6": 10, "science": 12, "arts_8": 12, "others": 55,
    }  # fmt: skip
    assert [test.name for test in found.tests] == [f"C{number}" for number in range(1, 10)]
    assert [group.name for group in (*found.tests[6].targets, *found.tests[6].attributes)] == [
        "bangla_ceat.math", "bangla_ceat.arts_6", "bangla_ceat.male_names", "bangla_ceat.female_names"
    ]  # fmt: skip
    assert (len(found.suffixes), found.suffixes["0"], found.suffixes["6"]) == (22, (), ("বান", "র"))
    assert found.warnings == (
        "suffixCategories.jsonl: group '0' is empty: its words stand only as they are",
        "suffixCategories.jsonl: group '7': white space beside গুলোর: taken off",
        "weatWordsWithSuffix.jsonl: য়, ড় and ঢ় are one character in 27 words and two in 3: made one form",
        "weatWordsWithSuffix.jsonl: 172 of 272 words have suffixes that are no group of suffixCategories.jsonl: "
        "theirs are taken",
        "weatWordsWithSuffix.jsonl: a vowel sign after a vowel cannot be written, left out: কেঁচোের, ভাইের, জ্যামিতিে",
        "weatWordsWithSuffix.jsonl: one form of two words, kept for both: দুঃখজনক (দুঃখ, দুঃখজনক)",
        "ceat1.jsonl: Pleasant holds স্বর্গ twice: kept once",
        "ceat1.jsonl: Unpleasant holds হত্যা twice: kept once",
        "CEAT_Categories: 'arts' is not the same list everywhere (10 words in C6, 12 words in C8): a group for each",
        "weatWordsWithSuffix.jsonl: 55 words are in no category: group 'others'",
    )


def test_each_published_word_has_its_published_forms_in_one_unicode_form(data):
    found = load_bangla_categories(data("bangla/CeatDataCollection"))
    words = {word.text: word for own in found.groups.values() for word in own.words}
    assert len(words) == 272
    assert FORMS(words["গোলাপ"])[:4] == ("গোলাপ", "গোলাপকে", "গোলাপেতে", "গোলাপটি")
    assert sum(len(FORMS(word)) for word in words.values()) == 2390
    normalise = language("bn").normalise
    assert all(normalise(form) == form for word in words.values() for form in FORMS(word))
    # Written in one character in the file.
    assert normalise("সূর্যোদ\u09df") in words


def test_the_set_is_in_the_catalogue(data):
    data("bangla/CeatDataCollection")
    assert catalogue()["bangla_ceat"].licence == "CC BY-NC-SA 4.0"
    found = load_bangla_categories(find("bangla_ceat"))
    assert {own.licence for own in found.groups.values()} == {"CC BY-NC-SA 4.0"}


def test_a_plain_set_has_no_oddity_but_an_empty_group(tmp_path):
    found = load_bangla_categories(save(tmp_path))
    assert found.warnings == ("suffixCategories.jsonl: group '4' is empty: its words stand only as they are",)
    assert list(found.groups) == ["male_terms", "female_terms", "career", "family"]
    assert [FORMS(word) for word in found.groups["male_terms"].words] == [("ভাই", "ভাইদের"), ("ছেলে", "ছেলেরা")]
    assert [FORMS(word) for word in found.groups["career"].words] == [("পেশা",)]
    assert (found.groups["family"].language, found.groups["family"].label) == ("bn", "family")


def test_a_word_there_twice_under_two_spellings_is_named(tmp_path):
    others = {word: own for word, own in WORDS.items() if not word.startswith("মে")}
    words = {"মে\u09dfে": ["রা"], "মে\u09af\u09bcে": [], **others}
    found = load_bangla_categories(save(tmp_path, words=words))
    assert any("one character in 1 words and two in 1" in warning for warning in found.warnings)
    assert any("is there twice: the first is kept" in warning for warning in found.warnings)
    assert len(FORMS(found.groups["female_terms"].words[1])) == 2


def test_a_list_that_differs_between_tests_is_a_group_for_each(tmp_path):
    other = {3: {"attr2": {"category": "Family", "examples": ["ঘর", "পেশা"]}}}
    found = load_bangla_categories(save(tmp_path, changes=other))
    assert [test.attributes[1].name for test in found.tests[1:4]] == [
        "bangla_ceat.family_1", "bangla_ceat.family_3", "bangla_ceat.family_1"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"words": {"ভাই": []}}, "no suffixes for ছেলে of 'male_terms': add them, or an empty list"),
        ({"words": "[]"}, "weatWordsWithSuffix.jsonl: should be {'word': "),
        ({"words": "[1]"}, "weatWordsWithSuffix.jsonl: should be {'word': "),
        ({"words": '{"a": "b"}'}, "weatWordsWithSuffix.jsonl: 'a' should have a list of suffixes"),
        ({"suffixes": '{"0": [1]}'}, "suffixCategories.jsonl: '0' should have a list of suffixes"),
        ({"suffixes": "{"}, "suffixCategories.jsonl: line 1: broken JSON"),
        ({"changes": {4: {"targ1": {}}}}, "ceat4.jsonl: 'targ1' should be"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, wrong, complaint):
    with pytest.raises(BadInput, match=re.escape(complaint)):
        load_bangla_categories(save(tmp_path, **wrong))


def test_a_missing_file_is_named(tmp_path):
    save(tmp_path)
    (tmp_path / "CEAT_Categories" / "ceat5.jsonl").unlink()
    with pytest.raises(BadInput, match=r"no file .*ceat5\.jsonl"):
        load_bangla_categories(tmp_path)
