"""What is asked about the attributes of a set."""

from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.models.protocol import Question
from tiltmeter.probes import make_probes
from tiltmeter.stimuli.sentences.shipped import trait_set


@pytest.mark.parametrize("data", [None, "traits_en", "traits_bn", "bangla_traits", "bec_pro"])
def test_the_prior_is_asked_at_the_place_of_the_term_with_only_the_attribute_hidden(data, data_folder):
    if data in ("bangla_traits", "bec_pro"):
        data_folder("bangla" if data == "bangla_traits" else data)
    probe = make_probes("lpbs", data=data)[0]
    asked = probe.asks(lambda _: True)[Question.FILLS]
    stimuli = probe.stimuli
    orders = set()
    for sentence, fill, prior in zip(stimuli.sentences.sentences, asked[::2], asked[1::2], strict=True):
        assert fill.hidden == ()
        assert (prior.text, prior.start, prior.end, prior.fillers) == (fill.text, fill.start, fill.end, fill.fillers)
        assert fill.text[fill.start : fill.end] == "[MASK]"
        ((start, end),) = prior.hidden
        assert prior.text[start:end].lower() == sentence.unit.lower()
        orders.add(start < fill.start)
        assert fill.with_filler(sentence.word(stimuli.target))[0] == sentence.text
    # The term comes first in some sentences and the attribute in others; in BEC-Pro the person is always first.
    assert orders == ({False} if data == "bec_pro" else {True, False})


def test_every_term_is_a_filler_of_one_question():
    probe = make_probes("lpbs", data="traits_en")[0]
    asked = probe.asks(lambda _: True)[Question.FILLS]
    sentences = trait_set("traits_en").sentences
    assert {item.fillers for item in asked} == {sentence.forms["target"] for sentence in sentences}
    assert len(asked[0].fillers) == 16
    assert len(asked) == 2 * len(sentences)


def test_unmasking_and_log_probability_bias_share_what_they_ask():
    shared = set(make_probes("unmask")[0].asks(lambda _: True)[Question.FILLS])
    asked = set(make_probes("lpbs")[0].asks(lambda _: True)[Question.FILLS])
    assert shared == {item for item in asked if not item.hidden}


def test_bec_pro_has_a_sentence_a_frame_with_all_persons_of_the_frame(data_folder):
    data_folder("bec_pro")
    stimuli = make_probes("lpbs", data="bec_pro")[0].stimuli
    sentences = stimuli.sentences.sentences
    counts = Counter((sentence.around("pronoun")[0], sentence.forms["pronoun"]) for sentence in sentences)
    assert [(frame, len(forms), n) for (frame, forms), n in counts.items()] == [
        ("", 2, 200),
        ("This ", 2, 200),
        ("My ", 14, 200),
    ]
    groups = Counter(sentence.tags["group"] for sentence in sentences)
    assert groups == {"men's professions": 300, "women's professions": 300}
    assert stimuli.sentences.notes == ("20 balanced professions belong to neither group: left out",)
    for sentence in sentences:
        assert sentence.word("pronoun") == sentence.forms["pronoun"][0]
        assert sentence.word("occupation") == sentence.unit
