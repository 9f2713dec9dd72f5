from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter import measures, probe
from tiltmeter.errors import BadInput, DataMissing
from tiltmeter.probes import KINDS, find_kind, make_probes
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
    "kind",
    [kind for kind in KINDS.values() if kind.name not in ("bbq", "ceat", "stereoset")],
    ids=lambda kind: kind.name,
)
def test_every_kind_has_stimuli_of_its_own_and_says_what_it_calls_bias(kind):
    try:
        made = make_probes(kind.name)[0]
    except DataMissing as error:
        pytest.skip(str(error))
    asked = made.asks(lambda _: True)
    assert all(len(set(inputs)) > 20 for inputs in asked.values())
    assert made.title
    assert kind.summary
    assert kind.citation
    assert kind.idea
    assert kind.caveats


def test_words_out_of_vocabulary_are_named_and_the_rest_is_measured(lexicon):
    model = small(lexicon)
    del model["tide"], model["grief"]
    reading = probe(
        "weat", model, targets=of(lexicon, "sea", "land"), attributes=of(lexicon, "good", "bad"), cache=False
    )
    assert [each.what for each in reading.left_out] == ["'tide' (sea)", "'grief' (bad)"]
    assert all("out of vocabulary of own:dict" in each.reason for each in reading.left_out)
    assert [item.label for item in reading.items] == ["wave", "shore", "reef", "hill", "field", "wood", "farm"]
    rows = [
        [model[word] for word in kept]
        for kept in (["wave", "shore", "reef"], group(f"{lexicon}.land").texts, ["joy", "peace"], ["war"])
    ]
    assert reading.effect.value == measures.weat(*rows).effect_size


def test_too_few_known_words_is_an_error_that_counts_them(lexicon):
    model = small(lexicon)
    for word in ("wave", "tide", "shore"):
        del model[word]
    with pytest.raises(BadInput, match=r"'sea': 1 of its 4 words is in the vocabulary of own:dict, and 2 are needed"):
        probe("weat", model, targets=of(lexicon, "sea", "land"), attributes=of(lexicon, "good", "bad"), cache=False)


def test_pairs_of_which_none_is_known_is_an_error(lexicon):
    with pytest.raises(BadInput, match="no pair has both words in the vocabulary"):
        probe("ripa", small(lexicon), targets=of(lexicon, "sea"), cache=False)


def test_groups_that_share_a_word_are_measured_and_it_is_noted(lexicon):
    reading = probe(
        "weat", small(lexicon), targets=of(lexicon, "sea", "both"), attributes=of(lexicon, "good", "bad"), cache=False
    )
    assert reading.notes == ("sea and both share 1 word(s): reef",)
    assert reading.left_out == ()


def test_a_word_that_is_target_and_attribute_at_once_is_noted(lexicon):
    reading = probe(
        "weat", small(lexicon), targets=of(lexicon, "sea", "land"), attributes=of(lexicon, "both", "bad"), cache=False
    )
    assert reading.notes == ("sea and both share 1 word(s): reef",)


def test_groups_of_the_same_words_are_refused(lexicon):
    with pytest.raises(BadInput, match="hold the same words: give two different groups"):
        make_probes("weat", targets=of(lexicon, "sea", "again"), attributes=of(lexicon, "good", "bad"))


def test_groups_under_one_label_are_told_apart_by_their_address(lexicon):
    reading = probe(
        "weat", small(lexicon), targets=of(lexicon, "land", "other_land"), attributes=of(lexicon, "good", "bad"),
        cache=False,
    )  # fmt: skip
    assert {item.group for item in reading.items} == {"land (mine.land)", "land (mine.other_land)"}


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("weat", {"targets": TERMS[:1]}, "weat needs 2 targets, but got 1"),
        ("weat", {"targets": [*TERMS, TERMS[0]]}, "weat needs 2 targets, but got 3"),
        ("mac", {"attributes": []}, "mac needs 1 to 20 attributes, but got 0"),
        ("rnd", {"attributes": CAREER_FAMILY}, "rnd needs 1 attributes, but got 2"),
        ("ripa", {"attributes": CAREER_FAMILY}, "ripa takes no attributes: leave it out; it takes targets, pairs"),
        ("weat", {"targets": ["gender.male_term", TERMS[1]]}, "unknown group of gender 'male_term': did you mean"),
        ("weat", {"targets": ["gendre.male_terms", TERMS[1]]}, "unknown lexicon 'gendre': did you mean 'gender'"),
        ("weat", {"targets": ["male_terms", TERMS[1]]}, "write lexicon.name, e.g. gender.male_terms"),
        ("weat", {"templates": "seat.bleached"}, "weat takes no templates: leave it out; it takes targets, attributes"),
        ("weat", {"pairs": "gender.definitional"}, "weat takes no pairs: leave it out; it takes targets, attributes"),
        ("ripa", {"pairs": "gender.definitonal"}, "unknown pairs of gender 'definitonal': did you mean 'definitional'"),
        ("seat", {"templates": "seat.bleachd"}, "unknown templates of seat 'bleachd': did you mean 'bleached'"),
        ("seat", {"templates": "identity"}, "lexicon 'identity' holds no templates"),
        ("mac", {"data": "x.jsonl"}, "mac takes no data (--from): leave it out; it takes targets, attributes"),
        ("mac", {"target": TERMS}, "unknown option of mac 'target': did you mean 'targets'?"),
        ("weat", {"targets": "gender.male_terms"}, "targets of weat are a list of groups, e.g. ["),
        ("weat", {"targets": [3, TERMS[0]]}, "a group is an address such as gender.male_terms, or a list of words"),
        ("weat", {"targets": [["he", "He"], TERMS[0]]}, "'He' appears twice"),
        ("ripa", {"pairs": [("she", "she")]}, "needs two different words"),
        ("seat", {"data": "x.jsonl", "targets": TERMS}, "seat takes its sentences from data (--from) or makes them"),
        ("waet", {}, "unknown probe 'waet': did you mean 'weat'"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line_that_says_what_to_do(name, options, says):
    with pytest.raises(BadInput) as error:
        make_probes(name, **options)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_alternative_is_an_error():
    with pytest.raises(BadInput, match="unknown alternative 'both'"):
        probe("weat", words({}), alternative="both", cache=False)


def test_hyphens_and_underscores_name_the_same_probe():
    assert find_kind("direct-bias") is find_kind("direct_bias") is make_probes("direct-bias")[0].kind


def test_attribute_sentences_from_a_whole_lexicon_stand_in_the_templates_of_their_name():
    (made,) = make_probes("association")
    career, family = made.stimuli.attributes
    assert len(career.inputs) < len(made.stimuli.targets[0].inputs)
    assert {*career.inputs}.isdisjoint(family.inputs)
    assert made.stimuli.targets[0].units[0] in made.stimuli.targets[0].inputs[0].lower()


def test_an_id_and_a_title_stand_before_those_of_the_parts():
    probes = make_probes("unmask", id="mine", title="Mine")
    assert probes[0].id == "mine"
    assert all(probe.id.startswith("mine-") and probe.title.startswith("Mine: ") for probe in probes[1:])
    assert make_probes("unmask")[1].id == f"unmask-{probes[1].id.removeprefix('mine-')}"


def test_what_groups_differ_in_comes_from_their_lexicon_unless_it_is_said():
    dimension = {
        name: make_probes(name, **options)[0].dimension
        for name, options in {
            "weat": {},
            "multi_weat": {},
            "wefat": {},
            "ripa": {},
            "seat": {"targets": ["identity.white_names", "identity.black_names"]},
            "rnd": {"targets": ["weat.flowers", "weat.insects"]},
        }.items()
    }
    assert dimension == {
        "weat": "gender",
        "multi_weat": "religion",
        "wefat": "gender",
        "ripa": "gender",
        "seat": "race",
        "rnd": "",
    }
    (said,) = make_probes("rnd", targets=["weat.flowers", "weat.insects"], dimension="nature", control=True)
    assert (said.dimension, said.control) == ("nature", True)


@pytest.mark.parametrize("data", [["genderlex"], 7, {"a": 1}])
@pytest.mark.parametrize("kind", ["cloze", "pairs", "seat", "cabm"])
def test_data_that_is_no_name_is_refused(kind: str, data: object) -> None:
    with pytest.raises(BadInput, match=rf"data \(--from\) of {kind} is a name, a file or a folder"):
        make_probes(kind, data=data)
