from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.stimuli import Word, fill_templates, group, load_lexicon, templates
from tiltmeter.stimuli.languages import language

BANGLA = language("bn")


def words(text):
    text = BANGLA.normalise(text)
    return [text[start:end] for start, end in BANGLA.words(text)]


def cut(text):
    text = BANGLA.normalise(text)
    return [text[start:end] for start, end in BANGLA.sentences(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("স\u09aeয\u09df", "স\u09aeয\u09af\u09bc"),  # য়
        ("ব\u09be\u09dc\u09bf", "ব\u09be\u09a1\u09bc\u09bf"),  # ড়
        ("আষ\u09be\u09dd", "আষ\u09be\u09a2\u09bc"),  # ঢ়
        ("ভ\u09beল\u09cb", "ভ\u09beল\u09c7\u09be"),  # ো
        ("ম\u09ccম\u09beছ\u09bf", "ম\u09c7\u09d7ম\u09beছ\u09bf"),  # ৌ
        ("উ\u09ceসব", "উত\u09cd\u200dসব"),  # ৎ
        ("আম", "অ\u09beম"),
        ("র\u09beত", "ব\u09bc\u09beত"),  # র
        ("ভ\u09beল\u09cb", "ভ\u09beল\u09be\u09c7"),
        ("জ\u09cb\u0981ক", "জ\u09c7\u0981\u09beক"),  # as the study's normaliser mends it
        ("প\u09cc\u0981ছ", "প\u09c7\u0981\u09d7ছ"),
        ("সুযোগ", "সু\u200bযোগ"),
        ("গোলাপ", "গো\u200bলাপ".replace("\u200b", "\u00ad")),
        ("গোলাপ", "গো\u200dলা\u200cপ\u200c"),
    ],
)
def test_two_spellings_of_the_same_signs_are_one_word(one, other):
    assert one != other
    assert BANGLA.normalise(one) == BANGLA.normalise(other)


@pytest.mark.parametrize("spelled", ["র\u200d\u09cd\u09afাব", "উদ\u09cd\u200cযাপন"])
def test_a_joiner_that_is_spelling_stays(spelled):
    assert BANGLA.normalise(spelled) == spelled
    assert words(f"সে {spelled} দেখল") == ["সে", spelled, "দেখল"]


def test_words_end_where_bangla_words_end():
    assert words("সুযোগ পেলে যোগ দিন, ৫টি-র বেশি (নয়)।") == [
        "সুযোগ", "পেলে", "যোগ", "দিন", "৫টি", "র", "বেশি", BANGLA.normalise("নয়"),
    ]  # fmt: skip
    assert words("মা'র কথা") == ["মা'র", "কথা"]
    assert words("\u09be \u200d ক") == ["ক"]


def test_jog_is_no_word_of_sujog_nor_of_any_word_around_it():
    for longer in ("সুযোগ", "যোগাযোগ", "যোগী", "বিযোগ", "যোগ\u09cdয"):
        assert "যোগ" not in words(f"এই {longer} আছে")
    assert words("'যোগ'।যোগ?যোগ").count("যোগ") == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("সে এল। আমি গেলাম।", ["সে এল।", "আমি গেলাম।"]),
        ("সে এল।আমি গেলাম॥ শেষ", ["সে এল।", "আমি গেলাম॥", "শেষ"]),
        ("সে এল| আমি গেলাম |শেষ", ["সে এল।", "আমি গেলাম ।", "শেষ"]),
        ("সে এল৷ কেন? জানি না!", ["সে এল।", "কেন?", "জানি না!"]),
        ("ড. মো. রহিম এলেন। ৩.৫ টাকা।", ["ড. মো. রহিম এলেন।", "৩.৫ টাকা।"]),
        ("“সে এল।” আমি গেলাম।", ["“সে এল।”", "আমি গেলাম।"]),
        ("a | b", ["a | b"]),
        ("সে এল||| শেষ", ["সে এল॥", "| শেষ"]),
    ],
)
def test_sentences_end_at_the_danda_and_its_look_alikes(text, expected):
    assert cut(text) == expected


#: By hand: root, suffix group, forms it must have, strings it must not have.
FORMS = [
    ("বোন", "person", "বোনের বোনকে বোনরা বোনেরা বোনদের বোনটি বোনটির বোনও বোনদেরকে", "বোনতে বোনে বোনর"),
    ("ভাই", "person", "ভাইয়ের ভাইকে ভাইয়েরা ভাইরা ভাইদের ভাইটা ভাইটার", "ভাইের ভাইে ভাইেরা"),
    ("ছেলে", "person", "ছেলের ছেলেকে ছেলেরা ছেলেদের ছেলেটি ছেলেটিকে ছেলেগুলো ছেলেগুলোর", "ছেলেের ছেলেয়ের"),
    ("রাজা", "person", "রাজার রাজাকে রাজারা রাজাদের রাজাগণ রাজাগণের", "রাজাের রাজায়ের"),
    ("মা", "mother", "মায়ের মাকে মায়েরা মায়েদের মাও", "মাটি মারা মার"),
    ("করিম", "name", "করিমের করিমকে করিমই করিমও করিমরা করিমদের", "করিমটা করিমগুলো করিমে"),
    ("বাড়ি", "thing", "বাড়ির বাড়িতে বাড়িটি বাড়িটির বাড়িটিতে বাড়িগুলো বাড়িগুলোতে বাড়িতেই", "বাড়িের বাড়িে"),
    ("গল্প", "thing", "গল্পের গল্পে গল্পটা গল্পটার গল্পগুলি গল্পগুলির গল্পসমূহের", "গল্পর গল্পরা"),
    ("ফড়িং", "animal", "ফড়িংয়ের ফড়িঙের ফড়িংকে ফড়িংটা ফড়িংগুলো", "ফড়িংের ফড়িঙ"),
    ("ব্যবসা", "thing", "ব্যবসার ব্যবসায় ব্যবসাতে ব্যবসাটা ব্যবসায়ও", "ব্যবসায়ী ব্যবসাের"),
    ("গণিত", "mass", "গণিতের গণিতে গণিতটা গণিতও গণিতেই", "গণিতগুলো গণিতরা"),
    ("চা", "mass", "চায়ের চায়ে চাটা চাটুকু", "চাের"),
    ("সুন্দর", "emphatic", "সুন্দরই সুন্দরও", "সুন্দরের সুন্দরী"),
    ("ভবিষ্যৎ", "mass", "ভবিষ্যতের ভবিষ্যতে", "ভবিষ্যৎের"),
]


@pytest.mark.parametrize(("root", "suffixes", "have", "lack"), FORMS, ids=[form[0] for form in FORMS])
def test_forms_are_those_of_the_language(root, suffixes, have, lack):
    forms = BANGLA.forms(Word(root, properties={"suffixes": suffixes}))
    assert forms[0] == BANGLA.normalise(root)
    assert len(set(forms)) == len(forms)
    assert {BANGLA.normalise(form) for form in have.split()} <= set(forms)
    assert not {BANGLA.normalise(form) for form in lack.split()} & set(forms)
    assert all(words(form) == [form] for form in forms)


BANGLA_GROUPS = [f"bangla.{name}" for name in load_lexicon("bangla").groups]


def test_the_lexicon_has_the_fifteen_categories_and_each_pair_of_a_test_is_of_one_size():
    sizes = {name: len(own.words) for name, own in load_lexicon("bangla").groups.items()}
    assert sizes == {
        "flowers": 20, "insects": 20, "instruments": 20, "weapons": 20, "male_names": 24, "female_names": 24,
        "male_terms": 20, "female_terms": 20, "pleasant": 24, "unpleasant": 24, "career": 18, "family": 18,
        "math": 18, "science": 18, "arts": 18,
    }  # fmt: skip
    assert load_lexicon("bangla").warnings == ()


@pytest.mark.parametrize("address", BANGLA_GROUPS)
def test_every_word_is_one_bangla_word_with_a_gloss_an_ending_and_a_sentence(address):
    own = group(address)
    for word in own.words:
        assert BANGLA.normalise(word.text) == word.text
        assert words(word.text) == [word.text]
        assert word.properties["gloss"]
        assert len(BANGLA.forms(word)) >= 3
    assert len(fill_templates(own, templates("bangla.bleached")).sentences) == 6 * len(own.words)


def test_no_form_belongs_to_two_words_of_the_lexicon_and_those_that_are_other_words_are_left_out():
    roots = {}
    for address in BANGLA_GROUPS:
        for word in group(address).words:
            for form in BANGLA.forms(word):
                assert roots.setdefault(form, word.text) == word.text
    # to slaughter; sir; soil; to beat; blow
    assert not {"জবাই", "মশাই", "মাটি", "মারা", "মার"} & set(roots)


_SIGNS = "কতবযরড\u09bc\u09be\u09bf\u09c7\u09cb\u09cd\u09d7\u09df\u09dcঅৎ\u200c\u200d\u00ad|। ৷'a1\n\u0301"


@given(st.text(_SIGNS) | st.text())
def test_a_normalised_text_stays_as_it_is_and_holds_no_line_break(text):
    once = BANGLA.normalise(text)
    assert BANGLA.normalise(once) == once
    assert once == " ".join(once.split())
    assert not {"\u09dc", "\u09dd", "\u09df"} & set(once)
