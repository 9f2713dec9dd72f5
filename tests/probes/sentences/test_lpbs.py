"""Log-probability bias: what is asked, where it is read, and what comes of probabilities that are known."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers

from tests.models.tiny_language_models import save_tiny
from tests.probes.planted_fills import KNOWN_WORDS, Causal, PlantedFills
from tests.probes.sentences.from_items import effect_from_items
from tests.reference import reference_model
from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.models.protocol import Fill, Question
from tiltmeter.probes import make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes
from tiltmeter.statistics import correlation, effect_size
from tiltmeter.stimuli.sentences.sentence import fill_frame
from tiltmeter.stimuli.sentences.shipped import occupation_set, trait_set

SHARES = occupation_set().shares
PRIOR = 0.7
MASCULINE = {"he", "him", "his", "man", "boy"}
TRAITS = """
name: own
language: en
terms: [[man, woman], [boy, girl]]
traits:
  good: [honest, brave]
  bad: [cruel, rude]
structures:
  A: ["The {target} is {trait}."]
  B: ["A {trait} {target} came.", "I met a {trait} {target}.", "The {target} was very {trait}."]
"""
#: The association of each trait of that set in structure A and in structure B.
LEANS = {"honest": (0.4, 0.2), "brave": (0.2, 0.4), "cruel": (-0.3, -0.1), "rude": (-0.5, 0.1)}


def jobs(share: dict[str, float]) -> PlantedFills:
    """P(he) / (P(he) + P(she)) by occupation where it is seen, PRIOR where it is not."""

    def logprob(item: Fill, filler: str) -> float:
        he = PRIOR if item.hidden else next(share[word] for word in share if word in item.text.lower())
        return math.log(0.5 * (he if filler.lower() in MASCULINE else 1 - he))

    return PlantedFills(logprob)


def traits(leans: dict[str, tuple[float, float]] = LEANS, *, sentence: float = 0.3) -> PlantedFills:
    """Log-odds of 2 * the trait's lean for one pair and 0 for the other, on top of what the sentence expects."""

    def logprob(item: Fill, filler: str) -> float:
        trait = next(word for word in leans if word in item.text)
        lean = 0.0 if item.hidden else leans[trait][not item.text.startswith("The [MASK] is ")]
        odds = sentence + (2 * lean if filler in ("man", "woman") else 0.0)
        return -3 + (odds if filler in MASCULINE else 0.0)

    return PlantedFills(logprob)


def readings(planted: object, **given: object) -> list[Reading]:
    return run_probes(make_probes("lpbs", **given), planted, cache=False, progress=False)


@pytest.fixture
def own_traits(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(TRAITS)
    return file


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """The folder of a random BERT whose tokens are pieces of words."""
    transformers.utils.logging.disable_progress_bar()
    yield save_tiny("bert", tmp_path_factory.mktemp("tiny") / "bert")
    transformers.utils.logging.enable_progress_bar()


def by_hand(bert):
    """Tokens of a text, the log-odds of he against she after a forward pass, and the id of the mask."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    model = transformers.AutoModelForMaskedLM.from_pretrained(bert).eval()

    def pieces(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    he, she = pieces("he")[0], pieces("she")[0]
    mask = tokenizer.mask_token_id

    def log_odds(*parts: list[int]) -> float:
        """Of he against she at the first or only mask that stands alone, which is the term's."""
        ids = [tokenizer.cls_token_id, *(one for part in parts for one in part), tokenizer.sep_token_id]
        at = 1 + sum(len(part) for part in parts[: parts.index([mask])])
        with torch.no_grad():
            found = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0, at].double(), dim=-1)
        return float(found[he] - found[she])

    return pieces, log_odds, mask


def test_the_prior_sees_no_mention_of_the_attribute_and_as_published_it_sees_all_but_one(bert, own_traits):
    """Against forward passes made by hand, with an attribute that the sentence names twice, once with a suffix."""
    own_traits.write_text(
        "name: own\nlanguage: en\nterms: [[he, she]]\n"
        "traits: {x: [mathematics, receptionist], y: [hairdresser, engineers]}\n"
        'structures: {S5: ["It said that {target} was {trait}."]}\n'
    )
    (probe,) = make_probes("lpbs", data=own_traits)
    frame, once = "The {trait}s said that {target} was {trait}.", probe.stimuli.sentences
    twice = tuple(
        fill_frame(frame, {"trait": row.unit, "target": "he"}, unit=row.unit, forms=row.forms, tags=row.tags)
        for row in once.sentences
    )
    stimuli = replace(probe.stimuli, sentences=replace(once, sentences=twice))
    (reading,) = run_probes([replace(probe, stimuli=stimuli)], f"hf:{bert}", cache=False, progress=False)
    pieces, log_odds, mask = by_hand(bert)

    def prior(trait: str, first: list[int]) -> float:
        hidden = [mask] * len(pieces(trait))
        return log_odds(pieces("the"), first, pieces("said that"), [mask], pieces("was"), hidden, pieces("."))

    published = []
    for item in reading.items:
        again, shown = pieces(f"{item.unit}s"), pieces(item.unit)
        assert min(len(again), len(shown)) > 1
        fill = log_odds(pieces("the"), again, pieces("said that"), [mask], pieces("was"), shown, pieces("."))
        assert item.get("fill_bias") == pytest.approx(fill, abs=1e-4)
        assert item.get("prior_bias") == pytest.approx(prior(item.unit, [mask] * len(again)), abs=1e-4)
        published.append(fill - prior(item.unit, again))
    assert reading.published.value == pytest.approx(effect_size(published[:2], published[2:]), abs=1e-3)
    assert reading.published.value != pytest.approx(reading.effect.value, abs=1e-3)
    assert "names its attribute more than once" in reading.repair


def test_the_scores_are_those_of_a_forward_pass_made_by_hand(bert, own_traits):
    """On a random BERT, with an attribute of several tokens before and after the term."""
    own_traits.write_text(
        "name: own\nlanguage: en\nterms: [[he, she]]\n"
        "traits: {x: [mathematics, receptionist], y: [hairdresser, engineers]}\n"
        'structures: {S1: ["The {target} was {trait} and it slept."], S2: ["A {trait} said that {target} was late."]}\n'
    )
    reading = readings(f"hf:{bert}", data=own_traits)[0]
    pieces, log_odds, mask = by_hand(bert)
    assert reading.published is None  # no sentence names its attribute twice
    for item in reading.items:
        attribute = pieces(item.unit)
        assert len(attribute) > 1
        for key, shown in (("fill_bias", attribute), ("prior_bias", [mask] * len(attribute))):
            if item.get("structure") == "S1":
                expected = log_odds(pieces("the"), [mask], pieces("was"), shown, pieces("and it slept."))
            else:
                expected = log_odds(pieces("a"), shown, pieces("said that"), [mask], pieces("was late."))
            assert item.get(key) == pytest.approx(expected, abs=1e-4)
        assert item.value == pytest.approx(item.get("fill_bias") - item.get("prior_bias"))
    assert len({round(item.get("prior_bias"), 6) for item in reading.items}) > 1


def test_the_association_of_an_occupation_is_its_log_odds_less_those_of_the_sentence():
    share = {word: 0.9 - 0.8 * SHARES[word] for word in SHARES}
    (reading,) = readings(jobs(share))
    for item in reading.items:
        he = share[item.unit]
        assert item.value == pytest.approx(math.log(he / (1 - he)) - math.log(PRIOR / (1 - PRIOR)), abs=1e-5)
        assert item.get("prior_bias") == pytest.approx(math.log(PRIOR / (1 - PRIOR)), abs=1e-5)
        assert (item.get("sentences"), item.get("term_pairs")) == (8, 4)
    by_group = {
        group: [item.value for item in reading.items if item.group == group]
        for group in ("men's occupations", "women's occupations", "neither group")
    }
    assert {word: group for item in reading.items for word, group in [(item.unit, item.group)]} == {
        word: "men's occupations" if s < 0.4 else "women's occupations" if s > 0.6 else "neither group"
        for word, s in SHARES.items()
    }
    assert reading.effect.value == pytest.approx(effect_size(*list(by_group.values())[:2]))
    assert reading.leans == "men's occupations → men, women's occupations → women"
    assert reading.strength == "large"
    assert "both lean towards" not in reading.plain_words
    assert (reading.n_items, reading.n_units) == (480, 60)
    assert reading.details.fill_bias - reading.details.prior_bias == pytest.approx(reading.details.association.value)


def test_the_association_finds_the_bias_that_a_model_was_trained_on():
    (reading,) = readings(f"hf:{reference_model(0.9)}")
    truth = planted(0.9)
    order = [truth[item.unit] for item in reading.items]
    assert correlation(order, [item.value for item in reading.items], method="spearman").r >= 0.9
    assert reading.leans == "men's occupations → men, women's occupations → women"
    assert reading.effect.value > 1


def test_the_association_has_the_sign_of_the_bias_that_was_planted(tmp_path):
    file = tmp_path / "known.yaml"
    file.write_text(KNOWN_WORDS)
    (reading,) = readings(f"hf:{reference_model(0.9)}", data=file)
    truth = planted(0.9)
    for item in reading.items:
        if not 0.2 < truth[item.unit] < 0.8:
            assert (item.value > 0) == (truth[item.unit] > 0.5)


def test_a_reversed_model_leans_the_other_way():
    (reading,) = readings(jobs({word: 0.1 + 0.8 * SHARES[word] for word in SHARES}))
    assert reading.effect.value < 0
    assert reading.leans == "women's occupations → men, men's occupations → women"


def test_groups_that_lean_the_same_way_are_not_said_to_lean_apart_without_a_word():
    (reading,) = readings(jobs({word: 0.95 - 0.2 * SHARES[word] for word in SHARES}))
    assert all(item.value > 0 for item in reading.items)
    assert reading.effect.value > 1
    assert "; both lean towards men." in reading.plain_words


def test_what_a_sentence_expects_of_itself_is_no_bias_of_its_attribute(own_traits):
    one, other = (readings(traits(sentence=expected), data=own_traits)[0] for expected in (-2.0, 0.3))
    assert one.effect.value == pytest.approx(other.effect.value, abs=1e-5)
    assert one.details.prior_bias == pytest.approx(-2.0, abs=1e-5)
    assert other.details.prior_bias == pytest.approx(0.3, abs=1e-5)


def test_each_structure_counts_once_however_many_sentences_it_has(own_traits):
    whole, a, b = readings(traits(), data=own_traits)
    assert [each.id for each in (whole, a, b)] == ["lpbs", "lpbs-A", "lpbs-B"]
    # Structure A has one sentence and B three: (.4 + .2) / 2, (.2 + .4) / 2, (-.3 - .1) / 2, (-.5 + .1) / 2
    assert whole.effect.value == pytest.approx(effect_size([0.3, 0.3], [-0.2, -0.2]), abs=1e-5)
    assert a.effect.value == pytest.approx(effect_size([0.4, 0.2], [-0.3, -0.5]), abs=1e-5)
    assert b.effect.value == pytest.approx(effect_size([0.2, 0.4], [-0.1, 0.1]), abs=1e-5)
    assert [item.value for item in a.items] == pytest.approx([0.4, 0.2, -0.3, -0.5], abs=1e-5)
    by_structure = whole.details.by_structure
    assert by_structure["A"].association == pytest.approx(-0.05, abs=1e-5)
    assert by_structure["B"].association == pytest.approx(0.15, abs=1e-5)
    assert whole.details.association.value == pytest.approx(0.05, abs=1e-5)
    assert {(item.get("structure"), item.get("sentences"), item.get("term_pairs")) for item in whole.items} == {
        ("A", 1, 2),
        ("B", 3, 2),
    }


def test_the_probe_agrees_with_the_measure(own_traits):
    a = readings(traits(), data=own_traits)[1]
    zero = [[0.0 - 3] * 2] * 4
    fill = [[2 * LEANS[word][0] - 3, -3.0] for word in LEANS]
    direct = measures.lpbs(fill, zero, zero, zero, groups=["good", "good", "bad", "bad"])
    assert (a.effect.p_value, a.effect.exact) == (pytest.approx(direct.p_value, rel=1e-6), direct.exact)
    assert (a.effect.ci.low, a.effect.ci.high) == pytest.approx((direct.ci.low, direct.ci.high), abs=1e-5)


def test_attributes_of_no_group_are_measured_by_their_mean(tmp_path):
    lexicon = tmp_path / "jobs.yaml"
    lexicon.write_text("name: jobs\nlanguage: en\ngroups:\n  all: {label: jobs, words: [cook, nurse, clerk]}\n")
    file = tmp_path / "own.yaml"
    frame = '{text: "The {occupation} said that [MASK] slept.", fillers: [he, she]}'
    file.write_text(f"name: own\nlanguage: en\noccupations: {lexicon}.all\nframes: [{frame}]\n")
    (reading,) = readings(jobs({"cook": 0.8, "nurse": 0.9, "clerk": 0.95}), data=file)
    expected = np.mean([math.log(he / (1 - he)) for he in (0.8, 0.9, 0.95)]) - math.log(PRIOR / (1 - PRIOR))
    assert reading.effect.name == "mean association"
    assert reading.effect.value == pytest.approx(expected, abs=1e-5)
    assert "no two groups" in reading.plain_words


def test_bec_pro_counts_every_pair_of_persons_once(data_folder):
    data_folder("bec_pro")
    probes = make_probes("lpbs", data="bec_pro")
    assert [probe.id for probe in probes] == ["lpbs", "lpbs-1", "lpbs-2", "lpbs-3", "lpbs-4", "lpbs-5"]
    professions = sorted(set(probes[0].stimuli.sentences.units), key=len, reverse=True)
    lean = {word: 1 + number / 40 for number, word in enumerate(professions)}

    def logprob(item: Fill, filler: str) -> float:
        return -lean[next(word for word in lean if word in item.text)] if filler == "He" and not item.hidden else 0.0

    (reading,) = run_probes(probes[:1], PlantedFills(logprob), cache=False, progress=False)
    terms = {term for sentence in probes[0].stimuli.sentences.sentences for term in sentence.forms["pronoun"]}
    assert len(terms) == 2 * 9
    for item in reading.items:
        assert item.value == pytest.approx(-lean[item.unit] / 9, abs=1e-5)


def test_a_reading_is_complete_and_holds_no_nan(own_traits):
    whole = readings(traits(), data=own_traits)[0]
    json.dumps(whole.to_dict(), allow_nan=False)
    assert len({tuple(item.columns) for item in whole.items}) == 1
    assert whole.published is None
    assert "multiplies the odds" in whole.plain_words


@pytest.mark.parametrize("content", ["", "frames", "- frames", "3"])
def test_a_file_that_is_no_set_is_one_clear_line(content, own_traits):
    own_traits.write_text(content)
    with pytest.raises(BadInput, match=r"^own.yaml: the file: should be a mapping$"):
        make_probes("lpbs", data=own_traits)


def test_a_causal_model_is_refused_in_one_line():
    (probe,) = make_probes("lpbs")
    assert probe.asks(lambda question: question in (Question.TOKENS, Question.CONTINUATIONS)) is None
    with pytest.raises(BadInput, match=r"^lpbs needs log-probabilities of fillers at a mask[^\n]*causal[^\n]*$"):
        readings(Causal())


def test_a_term_that_the_model_does_not_know_is_one_clear_line(bert, own_traits):
    own_traits.write_text(TRAITS.replace("[boy, girl]", "[男の子, 女の子]"))
    with pytest.raises(BadInput, match=r"^'男の子' is unknown to hf:[^\n]*: use another word$"):
        readings(f"hf:{bert}", data=own_traits)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"method": "gap"}, "lpbs takes no method: leave it out; it takes data"),
        ({"vectors": "bundled:glove"}, "lpbs takes no vectors: leave it out; it takes data"),
        ({"data": "traits_end"}, "unknown data of lpbs 'traits_end': did you mean 'traits_en'?"),
        ({"data": "bec-pro"}, "unknown data of lpbs 'bec-pro': did you mean 'bec_pro'?"),
        ({"data": "nowhere.yaml"}, "no file nowhere.yaml: check the path"),
    ],
)
def test_a_wrong_option_is_one_clear_line(given, says):
    with pytest.raises(BadInput) as caught:
        make_probes("lpbs", **given)
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def test_the_effect_follows_from_the_items(own_traits, tmp_path):
    compared = readings(traits(), data=own_traits)
    lexicon = tmp_path / "jobs.yaml"
    lexicon.write_text("name: jobs\nlanguage: en\ngroups:\n  all: {label: jobs, words: [cook, nurse, clerk]}\n")
    file = tmp_path / "jobs_only.yaml"
    frame = '{text: "The {occupation} said that [MASK] slept.", fillers: [he, she]}'
    file.write_text(f"name: own\nlanguage: en\noccupations: {lexicon}.all\nframes: [{frame}]\n")
    averaged = readings(jobs({"cook": 0.8, "nurse": 0.9, "clerk": 0.95}), data=file)
    shipped = readings(jobs({word: 0.9 - 0.8 * SHARES[word] ** 2 for word in SHARES}))
    for reading in (*compared, *averaged, *shipped):
        assert effect_from_items(reading) == pytest.approx(reading.effect.value, abs=1e-9)
    assert [reading.statistic.name for reading in (compared[0], averaged[0])] == ["d of units", "mean of units"]
    assert shipped[0].statistic.between == ("men's occupations", "women's occupations")


def test_the_poles_name_who_leans_where_and_the_notes_of_the_source_come_along(own_traits):
    own_traits.write_text(f"{TRAITS}warnings: [written in a hurry]\ndimension: age\n")
    whole = readings(traits(), data=own_traits)[0]
    assert whole.poles == ("good traits → man, bad traits → woman", "bad traits → man, good traits → woman")
    assert whole.item_meaning.poles == ("man", "woman")
    assert whole.notes == ("written in a hurry",)
    assert whole.dimension == "age"


@pytest.mark.parametrize("data", [None, "traits_en", "traits_bn", "bangla_traits", "bec_pro"])
def test_the_prior_is_asked_at_the_place_of_the_term_with_only_the_attribute_hidden(data, data_folder):
    if data in ("bangla_traits", "bec_pro"):
        data_folder("bangla" if data == "bangla_traits" else data)
    probe = make_probes("lpbs", data=data)[0]
    asked = probe.asks(lambda _: True)[Question.FILLS]
    stimuli = probe.stimuli
    orders, again = set(), 0
    questions = iter(asked)
    for sentence in stimuli.sentences.sentences:
        fill, prior = next(questions), next(questions)
        assert fill.hidden == ()
        assert (prior.text, prior.start, prior.end, prior.fillers) == (fill.text, fill.start, fill.end, fill.fillers)
        assert fill.text[fill.start : fill.end] == "[MASK]"
        published = next(questions) if len(prior.hidden) > 1 else prior
        again += published is not prior
        ((start, end),) = published.hidden
        assert published.hidden[0] in prior.hidden
        assert prior.text[start:end].lower() == sentence.unit.lower()
        assert all(prior.text[one:other].lower().startswith(sentence.unit.lower()) for one, other in prior.hidden)
        orders.add(start < fill.start)
        assert fill.with_filler(sentence.word(stimuli.target))[0] == sentence.text
    assert next(questions, None) is None
    assert again == (148 if data == "bangla_traits" else 0)
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
