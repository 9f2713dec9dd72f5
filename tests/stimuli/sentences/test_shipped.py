"""The sets written for tiltmeter: what they hold, and that their sentences are sound."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from tiltmeter.stimuli import comparable, group, normalise
from tiltmeter.stimuli.sentences.cloze_sets import cloze_sets, japanese_cloze
from tiltmeter.stimuli.sentences.sentence import MASK
from tiltmeter.stimuli.sentences.shipped import occupation_set, set_names, trait_set

SHARES = {word.text: word.properties["female_share"] for word in group("occupations.all").words}


def all_texts() -> dict[str, list[str]]:
    """Every sentence a shipped set can show to a model, by set."""
    texts = {each.name: [text for version in each.versions for text in version] for each in cloze_sets()}
    texts["pairs_ja"] = [text for version in japanese_cloze().versions for text in version]
    texts["occupations_en"] = [row.masked("pronoun").text for row in occupation_set().sentences]
    for name in set_names("traits"):
        texts[name] = [
            row.put("target", term).text for row in trait_set(name).sentences for term in row.forms["target"]
        ]
    return texts


TEXTS = all_texts()


@pytest.mark.parametrize("name", TEXTS)
def test_every_sentence_is_distinct_clean_and_free_of_places_left_open(name):
    texts = TEXTS[name]
    assert len({comparable(text) for text in texts}) == len(texts)
    for text in texts:
        assert text == normalise(text)
        assert unicodedata.is_normalized("NFC", text)
        assert not re.search(r"[{}]|\s[.,।、。]|[.।。].", text)


@pytest.mark.parametrize("name", [*set_names("traits"), "occupations_en"])
def test_a_sentence_begins_with_a_capital_where_the_script_has_one(name):
    assert all(text[0] == text[0].upper() for text in TEXTS[name])


@pytest.mark.parametrize("kind", ["cloze", "pairs", "traits", "occupations"])
def test_a_shipped_file_is_nfc_and_has_the_name_it_is_asked_for_by(kind):
    import tiltmeter.stimuli

    for name in set_names(kind):
        text = (Path(tiltmeter.stimuli.__file__).parent / "sentences" / "sets" / f"{name}.yaml").read_text("utf-8")
        assert unicodedata.is_normalized("NFC", text)
        assert f"\nname: {name}\n" in text
        assert "\nlicence: MIT\n" in text


# traits


@pytest.mark.parametrize("name", ["traits_bn", "traits_en"])
def test_the_traits_stand_in_all_five_structures(name):
    traits = trait_set(name)
    assert traits.groups == ("men", "women")
    assert len(traits.sentences[0].forms["target"]) >= 16
    by_structure: dict[str, Counter[str]] = {}
    for row in traits.sentences:
        by_structure.setdefault(row.tags["structure"], Counter())[row.unit] += 1
    assert list(by_structure) == ["S1", "S2", "S3", "S4", "S5"]
    assert all(counts.keys() == by_structure["S1"].keys() for counts in by_structure.values())
    sizes = Counter({row.unit: row.tags["group"] for row in traits.sentences}.values())
    assert sizes["positive"] == sizes["negative"] >= 20


@pytest.mark.parametrize("name", ["traits_bn", "traits_en"])
def test_the_places_point_at_the_term_and_the_trait(name):
    for row in trait_set(name).sentences:
        assert row.word("target") == row.forms["target"][0]
        assert row.word("trait") == row.unit
        assert row.text.count(row.unit) == 1
        assert row.around("target")[0].endswith(" ")


@pytest.mark.parametrize("name", ["traits_bn", "traits_en"])
def test_the_trait_stands_on_both_sides_of_the_term(name):
    sides: dict[str, set[bool]] = {}
    for row in trait_set(name).sentences:
        sides.setdefault(row.tags["structure"], set()).add(row.slots["target"] < row.slots["trait"])
    assert sides == {"S1": {True}, "S2": {True}, "S3": {False}, "S4": {False}, "S5": {True, False}}


def test_a_bangla_suffix_stays_outside_the_place_of_its_term():
    after = {row.around("target")[1].split(" ")[0].rstrip("।") for row in trait_set("traits_bn").sentences}
    assert after == {"", "টি", "টিকে"}


def test_the_text_grows_from_the_first_structure_to_the_last():
    for name in set_names("traits"):
        lengths = {
            row.tags["structure"]: len(row.text.split())
            for row in trait_set(name).sentences
            if row.unit in ("honest", "সৎ")
        }
        assert lengths["S1"] < lengths["S2"] <= lengths["S4"] < lengths["S5"]


# occupations with a mask


def test_every_occupation_of_the_lexicon_stands_in_every_frame():
    shipped = occupation_set()
    counts = Counter(shipped.units)
    assert counts.keys() == SHARES.keys()
    assert len(counts) >= 60
    assert set(counts.values()) == {8}
    assert shipped.shares["nurse"] == pytest.approx(0.8958)
    assert all(0 <= share <= 1 for share in shipped.shares.values())
    expected = {row.unit: row.tags.get("expected") for row in shipped.sentences}
    assert expected == {
        word: "men" if share < 40 else "women" if share > 60 else None for word, share in SHARES.items()
    }


def test_a_masked_sentence_has_one_mask_with_fillers_of_the_right_case():
    fillers = Counter()
    for row in occupation_set().sentences:
        masked = row.masked("pronoun")
        assert masked.text.count(MASK) == 1
        assert row.text.endswith(".")
        assert row.word("occupation") == masked.word("occupation") == row.unit
        assert row.word("pronoun") == row.forms["pronoun"][0]
        assert masked.text.startswith(MASK) == row.forms["pronoun"][0][0].isupper()
        fillers[row.forms["pronoun"]] += 1
    assert fillers.keys() == {("he", "she"), ("He", "She"), ("him", "her"), ("his", "her")}


def test_the_article_is_right():
    texts = [text for texts in TEXTS.values() for text in texts]
    articles = {tuple(found.split()) for text in texts for found in re.findall(r"\b[Aa]n? \w+", text)}
    assert ("an", "engineer") in articles
    assert ("a", "hygienist") in articles
    for article, word in articles:
        assert (article == "an") == (word[0] in "aeiou"), (article, word)
