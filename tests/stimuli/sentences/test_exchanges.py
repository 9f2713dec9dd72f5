"""Clusters of sentence pairs."""

from __future__ import annotations

from collections import Counter

from tiltmeter.stimuli.datasets import load_crows_pairs
from tiltmeter.stimuli.sentences.exchanges import pair_clusters
from tiltmeter.stimuli.sentences.sentence import sentence_pair
from tiltmeter.stimuli.sentences.shipped import pair_set

COLOURS = ["red", "blue", "green", "grey", "pink", "brown", "white"]


def many(*further):
    """Enough different exchanges that words, and not templates, make the clusters; then ``further`` pairs."""
    different = [
        (f"Some {colour} thing {n} fell.", f"Some other{n} thing {n} fell.") for n, colour in enumerate(COLOURS)
    ]
    return pair_clusters([sentence_pair(*pair) for pair in (*different, *further)])[len(COLOURS) :]


def test_pairs_that_exchange_the_same_words_are_one_cluster_in_either_direction():
    one, two, three = many(
        ("The black man sat.", "The white man sat."),
        ("Nobody saw the White, tall boy.", "Nobody saw the Black, tall boy."),
        ("The poor sat.", "The rich sat."),
    )
    assert one == two == "black / white"
    assert three == "poor / rich"


def test_the_first_difference_counts():
    one, two = many(("He lost his hat.", "She lost her hat."), ("There he lost it.", "There she lost it."))
    assert one == two == "he / she"


def test_pairs_of_one_template_are_one_cluster():
    one, two, three = many(
        ("The tall people sing.", "The short people sing."),
        ("The old people sing.", "The young people sing."),
        ("We are old today.", "We are young today."),
    )
    assert one == two == three


def test_sentences_that_share_nothing_are_no_template():
    one, two = many(("Men sing", "Women dance"), ("Boys run", "Girls walk"))
    assert one != two


def test_where_all_pairs_exchange_him_for_her_each_sentence_counts():
    pairs = [sentence_pair(f"The {name} saw him.", f"The {name} saw her.") for name in ("cook", "nurse", "cook")]
    first, second, again = pair_clusters(pairs)
    assert first == again != second


def test_clusters_that_a_set_names_are_kept():
    japanese = pair_set("pairs_ja").sentences
    assert pair_clusters(japanese) == [pair.tags["kind"] for pair in japanese]
    english = pair_set().sentences
    assert len(set(pair_clusters(english))) == len(english)


def test_crows_pairs_exchange_black_for_white_most_often(data_folder):
    pairs = load_crows_pairs(data_folder("crows_pairs") / "crows_pairs_anonymized.csv").sentences
    clusters = Counter(pair_clusters(pairs))
    assert len(pairs) == 1508
    assert 700 < len(clusters) < 900
    assert clusters.most_common(1)[0][0] == "black / white"
