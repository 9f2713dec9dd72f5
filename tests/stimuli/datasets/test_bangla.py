from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter import stimuli
from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import catalogue, find, load_bangla_categories, load_bangla_traits
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.text import normalise

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


def test_the_published_lists_have_addresses(data):
    categories = load_bangla_categories(data("bangla/CeatDataCollection"))
    third = categories.tests[2]
    for letter, expected in zip("xyab", (*third.targets, *third.attributes), strict=True):
        found = stimuli.group(f"bangla_categories.c3.{letter}")
        assert (found.words, found.name) == (expected.words, f"bangla_categories.c3.{letter}")
    assert stimuli.load_lexicon("bangla_categories").groups.keys() == categories.groups.keys()
    assert stimuli.group("bangla_categories.male_terms").language == "bn"


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("bangla_categories.c10.x", "unknown test of the Bangla categories 'c10'"),
        ("bangla_categories.c3.z", "unknown group of bangla_categories.c3 'z'"),
        ("bangla_categories.flower", "did you mean 'flowers'"),
    ],
)
def test_an_address_that_is_none_is_one_clear_line(data, address, complaint):
    data("bangla")
    with pytest.raises(BadInput) as error:
        stimuli.group(address)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_without_the_data_an_address_says_what_to_set(monkeypatch):
    monkeypatch.delenv("TILTMETER_DATA", raising=False)
    with pytest.raises(BadInput, match="data set 'bangla_ceat' is not installed: tiltmeter data fetch bangla_ceat"):
        stimuli.group("bangla_categories.c3.x")


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
    assert any("appears twice: the first is kept" in warning for warning in found.warnings)
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


FIRST = [
    f"{structure}_{part}" for structure in ("S1", "S2", "S3") for part in ("Mask_Suffix", "Placeholder", "Trait_Suffix")
]
LAST = [f"{structure}_{part}" for structure in ("S4", "S5") for part in ("Placeholder", "Trait_Suffix", "Mask_Suffix")]
COLUMNS = ["Trait", *FIRST, *LAST]
PLAIN = dict.fromkeys(COLUMNS, "") | {
    "Trait": "সৎ",
    "S1_Mask_Suffix": "রা", "S1_Trait_Suffix": "।",
    "S2_Mask_Suffix": "রা", "S2_Placeholder": "অধিক", "S2_Trait_Suffix": "হয় ।",
    "S3_Mask_Suffix": "দের ", "S3_Placeholder": "মধ্যে বেশি ।", "S3_Trait_Suffix": "-তা",
    "S4_Placeholder": "তিনি ", "S4_Trait_Suffix": ", তাই", "S4_Mask_Suffix": " ।",
    "S5_Placeholder": "ছেলে সৎ।", "S5_Trait_Suffix": "হয়", "S5_Mask_Suffix": "রা । ",
}  # fmt: skip


def load(folder, **cells):
    for group in ("positive", "negative"):
        row = PLAIN | (cells if group == "positive" else {})
        lines = [",".join(COLUMNS), ",".join(f'"{row[column]}"' for column in COLUMNS)]
        (folder / f"{group}_traits_bn.csv").write_text("\n".join(lines), encoding="utf-8")
    return load_bangla_traits(folder)


def texts(found, structure):
    return found.where(structure=structure, group="positive").texts[0]


def test_the_published_files_give_887_sentences_and_name_the_three_blank_ones(data):
    found = load_bangla_traits(data("bangla/LogProbCalculations/data"))
    assert Counter((row.tags["group"], row.tags["structure"]) for row in found.sentences) == {
        **{("positive", structure): 109 for structure in ("S1", "S2", "S4")},
        ("positive", "S3"): 108,
        ("positive", "S5"): 107,
        **{("negative", structure): 69 for structure in ("S1", "S2", "S3", "S4", "S5")},
    }
    assert found.left_out == {"S3 is blank": 1, "S5 is blank": 2}
    assert found.notes == (
        "positive_traits_bn.csv: S3 is blank in row 79: left out",
        "positive_traits_bn.csv: S4_Mask_Suffix is a word, not an ending, in row 76: set apart",
        "positive_traits_bn.csv: S5 is blank in rows 55, 56: left out",
        "positive_traits_bn.csv: S5_Mask_Suffix is a word, not an ending, in rows 45, 53, 76, 83, 102: set apart",
        "negative_traits_bn.csv: S4_Mask_Suffix is a word, not an ending, in rows 18, 57: set apart",
        "both positive and negative, kept in both: আবেগপ্রবণ",
    )


def test_both_words_of_every_published_sentence_are_in_their_places_and_in_one_unicode_form(data):
    found = load_bangla_traits(data("bangla/LogProbCalculations/data"))
    for row in found.sentences:
        assert row.word("target") == row.forms["target"][0]
        assert row.word("trait") == row.unit
        assert normalise(row.text) == row.text
        # The composed letters য় ড় ঢ় are gone: one spelling for one word.
        assert not set("\u09df\u09dc\u09dd") & set(row.text)
    assert all(normalise(term) == term for term in found.sentences[0].forms["target"])


def test_each_structure_has_the_order_of_the_study(tmp_path):
    found = load(tmp_path)
    assert texts(found, "S1") == "ছেলেরা সৎ।"
    assert texts(found, "S2") == normalise("ছেলেরা অধিক সৎ হয়।")
    assert texts(found, "S3") == "সৎতা ছেলেদের মধ্যে বেশি।"
    assert texts(found, "S4") == "তিনি সৎ, তাই ছেলে।"
    assert texts(found, "S5") == normalise("ছেলে সৎ। সৎ হয় ছেলেরা।")
    assert (found.language, found.groups) == ("bn", ("men", "women"))


def test_the_same_words_in_the_context_are_not_taken_for_the_places(tmp_path):
    row = load(tmp_path).where(structure="S5").sentences[0]
    assert row.slots["trait"][0] == row.text.index("সৎ", row.text.index("।"))
    assert row.slots["target"][0] == row.text.rindex("ছেলে")


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [("দেরই ।", "ছেলেদেরই।"), ("কে ।", "ছেলেকে।"), (" রা ।", "ছেলেরা।"), ("রাগী ।", "ছেলে রাগী।"), ("", "ছেলে")],
)
def test_an_ending_is_joined_and_a_word_set_apart(tmp_path, suffix, expected):
    assert texts(load(tmp_path, S4_Mask_Suffix=suffix), "S4").endswith(f" {expected}")


def test_composed_and_decomposed_letters_become_one_form(tmp_path):
    composed = load(tmp_path, Trait="সক্রি\u09df").sentences
    assert composed == load(tmp_path, Trait="সক্রি\u09af\u09bc").sentences
    assert composed[0].unit == "সক্রি\u09af\u09bc"


def test_a_blank_trait_a_missing_column_or_file_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"positive_traits_bn\.csv: column 'Trait' is blank in row 2"):
        load(tmp_path, Trait=" ")
    load(tmp_path)
    (tmp_path / "negative_traits_bn.csv").write_text("Trait\nসৎ\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"negative_traits_bn\.csv: no column 'S1_Mask_Suffix'; found: Trait"):
        load_bangla_traits(tmp_path)
    (tmp_path / "negative_traits_bn.csv").unlink()
    with pytest.raises(BadInput, match=r"no file .*negative_traits_bn\.csv"):
        load_bangla_traits(tmp_path)


_TEXT = st.text("কখগ -।,", max_size=8)


@given(st.text("কখগসৎ", min_size=1, max_size=5), _TEXT, _TEXT, _TEXT)
def test_the_places_hold_the_words_whatever_the_cells_are(tmp_path_factory, trait, context, after, ending):
    cells = {
        f"S{number}_{part}": text
        for number in range(1, 6)
        for part, text in (("Placeholder", context), ("Trait_Suffix", after), ("Mask_Suffix", ending))
    }
    found = load(tmp_path_factory.mktemp("bangla"), Trait=trait, **cells)
    for row in found.sentences:
        assert row.word("target") == "ছেলে"
        assert row.word("trait") == row.unit
