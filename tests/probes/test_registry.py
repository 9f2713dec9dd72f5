from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter import measures, probe
from tiltmeter.errors import BadInput
from tiltmeter.probes import KINDS, make_probe, make_probes
from tiltmeter.stimuli import group


@pytest.fixture
def lexicon(tmp_path: Path) -> str:
    """Small groups of our own; 'both' shares a word with 'sea', and 'again' holds the same words as 'sea'."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        """
name: mine
language: en
licence: MIT
groups:
  sea: {label: sea, kind: noun, words: [wave, tide, shore, reef]}
  land: {label: land, kind: noun, words: [hill, field, wood, farm]}
  both: {label: both, kind: noun, words: [reef, dune, marsh, cliff]}
  again: {label: again, kind: noun, words: [reef, shore, tide, wave]}
  good: {label: good, kind: noun, words: [joy, peace]}
  bad: {label: bad, kind: noun, words: [grief, war]}
  other_land: {label: land, kind: noun, words: [moor, meadow, orchard, glen]}
""",
        encoding="utf-8",
    )
    return str(path)


def of(lexicon: str, *names: str) -> list[str]:
    return [f"{lexicon}.{name}" for name in names]


def small(lexicon: str) -> dict:
    leans = {"sea": 0.4, "land": -0.4, "both": -0.3, "good": 0.8, "bad": -0.8, "other_land": 0.1}
    return words({f"{lexicon}.{name}": lean for name, lean in leans.items()})


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if kind.name not in ("ceat", "stereoset")], ids=lambda kind: kind.name
)
def test_every_kind_has_stimuli_of_its_own_and_says_what_it_calls_bias(kind):
    made = make_probes(kind.name)[0]
    asked = made.asks(lambda _: True)
    assert all(len(inputs) == len(set(inputs)) > 20 for inputs in asked.values())
    assert made.title
    assert kind.caveats[0].startswith("What counts as bias here: ")
    assert kind.summary
    assert kind.citation


def test_words_out_of_vocabulary_are_named_and_the_rest_is_measured(lexicon):
    model = small(lexicon)
    del model["tide"], model["grief"]
    reading = probe(
        "weat", model, targets=of(lexicon, "sea", "land"), attributes=of(lexicon, "good", "bad"), cache=False
    )
    assert [each.what for each in reading.left_out] == ["'tide' (sea)", "'grief' (bad)"]
    assert all("out of vocabulary of own:WordMap" in each.reason for each in reading.left_out)
    assert [item["word"] for item in reading.items] == ["wave", "shore", "reef", "hill", "field", "wood", "farm"]
    rows = [
        [model[word] for word in kept]
        for kept in (["wave", "shore", "reef"], group(f"{lexicon}.land").texts, ["joy", "peace"], ["war"])
    ]
    assert reading.effect.value == measures.weat(*rows).effect_size


def test_too_few_known_words_is_an_error_that_counts_them(lexicon):
    model = small(lexicon)
    for word in ("wave", "tide", "shore"):
        del model[word]
    with pytest.raises(
        BadInput, match=r"'sea': 1 of its 4 words is in the vocabulary of own:WordMap, and 2 are needed"
    ):
        probe("weat", model, targets=of(lexicon, "sea", "land"), attributes=of(lexicon, "good", "bad"), cache=False)


def test_pairs_of_which_none_is_known_is_an_error(lexicon):
    with pytest.raises(BadInput, match="no pair has both words in the vocabulary"):
        probe("ripa", small(lexicon), targets=of(lexicon, "sea"), cache=False)


def test_groups_that_share_a_word_are_measured_and_it_is_noted(lexicon):
    reading = probe(
        "weat", small(lexicon), targets=of(lexicon, "sea", "both"), attributes=of(lexicon, "good", "bad"), cache=False
    )
    assert [(each.what, each.reason) for each in reading.left_out] == [("note", "sea and both share 1 word(s): reef")]


def test_a_word_that_is_target_and_attribute_at_once_is_noted(lexicon):
    reading = probe(
        "weat", small(lexicon), targets=of(lexicon, "sea", "land"), attributes=of(lexicon, "both", "bad"), cache=False
    )
    assert [each.reason for each in reading.left_out] == ["sea and both share 1 word(s): reef"]


def test_groups_of_the_same_words_are_refused(lexicon):
    with pytest.raises(BadInput, match="hold the same words: give two different groups"):
        make_probe("weat", targets=of(lexicon, "sea", "again"), attributes=of(lexicon, "good", "bad"))


def test_groups_under_one_label_are_told_apart_by_their_address(lexicon):
    reading = probe(
        "weat", small(lexicon), targets=of(lexicon, "land", "other_land"), attributes=of(lexicon, "good", "bad"),
        cache=False,
    )  # fmt: skip
    assert {item["group"] for item in reading.items} == {"land (mine.land)", "land (mine.other_land)"}


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("weat", {"targets": TERMS[:1]}, "weat needs 2 targets, and 1 were given"),
        ("weat", {"targets": [*TERMS, TERMS[0]]}, "weat needs 2 targets, and 3 were given"),
        ("mac", {"attributes": []}, "mac needs 1 to 20 attributes, and 0 were given"),
        ("rnd", {"attributes": CAREER_FAMILY}, "rnd needs 1 attributes, and 2 were given"),
        ("ripa", {"attributes": CAREER_FAMILY}, "ripa needs 0 attributes, and 2 were given"),
        ("weat", {"targets": ["gender.male_term", TERMS[1]]}, "unknown group of gender 'male_term': did you mean"),
        ("weat", {"targets": ["gendre.male_terms", TERMS[1]]}, "unknown lexicon 'gendre': did you mean 'gender'"),
        ("weat", {"targets": ["male_terms", TERMS[1]]}, "write lexicon.name, e.g. gender.male_terms"),
        ("weat", {"templates": "seat.bleached"}, "weat takes words, not sentences: leave the templates out"),
        ("weat", {"pairs": "gender.definitional"}, "weat takes no pairs: leave them out"),
        ("ripa", {"pairs": "gender.definitonal"}, "unknown pairs of gender 'definitonal': did you mean 'definitional'"),
        ("seat", {"templates": "seat.bleachd"}, "unknown templates of seat 'bleachd': did you mean 'bleached'"),
        ("seat", {"templates": "identity"}, "lexicon 'identity' holds no templates"),
        ("waet", {}, "unknown probe 'waet': did you mean 'weat'"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line_that_says_what_to_do(name, options, says):
    with pytest.raises(BadInput) as error:
        make_probe(name, **options)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_alternative_is_an_error():
    with pytest.raises(BadInput, match="unknown alternative 'both'"):
        probe("weat", words({}), alternative="both", cache=False)


def test_hyphens_and_underscores_name_the_same_probe():
    assert make_probe("direct-bias").kind is make_probe("direct_bias").kind


def test_attribute_sentences_from_a_whole_lexicon_stand_in_the_templates_of_their_name():
    made = make_probe("association")
    career, family = made.query.attributes
    assert len(career.inputs) < len(made.query.targets[0].inputs)
    assert {*career.inputs}.isdisjoint(family.inputs)
    assert made.query.targets[0].units[0] in made.query.targets[0].inputs[0].lower()
