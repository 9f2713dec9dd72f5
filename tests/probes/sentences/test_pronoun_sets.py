"""Sentences with a pronoun, each once."""

from __future__ import annotations

from collections import Counter

from tiltmeter.models.protocol import Question
from tiltmeter.probes import make_probes
from tiltmeter.probes.sentences.pronoun_sets import load_pronouns


def test_winobias_counts_every_sentence_once(data_folder):
    data_folder("winobias")
    whole, *parts = make_probes("pronouns", data="winobias")
    assert [probe.id for probe in parts] == ["pronouns-type1", "pronouns-type2"]
    rows = whole.stimuli.sentences.sentences
    assert len(rows) == 1548 == sum(len(part.stimuli.sentences.sentences) for part in parts)
    masked = whole.asks({Question.FILLS}.__contains__)[Question.FILLS]
    assert len(set(masked)) == 1548
    assert {row.tags["kind"] for row in rows} == {"type1", "type2"}
    assert len(whole.stimuli.sentences.shares) == 20  # occupations that the shipped lexicon knows, too


def test_bec_pro_has_each_pair_of_persons_once(data_folder):
    found = load_pronouns(data_folder("bec_pro") / "BEC-Pro_EN.tsv")
    rows = found.sentences.sentences
    assert Counter(row.tags.get("expected") for row in rows) == {"men": 900, "women": 900, None: 900}
    assert not found.by_share
