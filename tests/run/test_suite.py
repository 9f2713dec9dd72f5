from __future__ import annotations

from collections import Counter

import pytest

from tests.mined_folder import write_mined
from tests.planted import CAREER_FAMILY, TERMS
from tiltmeter.errors import BadInput
from tiltmeter.probes import Options
from tiltmeter.probes.registry import WORD_KINDS
from tiltmeter.run.suite import load_suite, suite_names, suite_summaries


@pytest.mark.parametrize("name", suite_names())
def test_every_shipped_suite_loads_with_ids_of_its_own(name, data_folder):
    if name == "language":
        data_folder("crows_pairs")
    suite = load_suite(name)
    assert suite.name == name
    assert suite.description
    ids = [probe.id for probe in suite.probes]
    assert len(set(ids)) == len(ids) > 0


def test_the_suite_of_measures_has_every_kind_of_word_probe_once():
    kinds = [probe.kind.name for probe in load_suite("measures").probes]
    assert sorted(kinds) == sorted(kind.name for kind in WORD_KINDS)


def test_the_suite_of_caliskan_et_al_has_ten_tests():
    probes = load_suite("weat").probes
    assert [probe.id for probe in probes] == [f"weat{n}" for n in range(1, 11)]
    # WEAT 1: 25 flowers, 25 insects; WEAT 6: 8 names a side; WEAT 10: 8 names a side.
    assert [len(probes[n - 1].stimuli.targets[0].inputs) for n in (1, 6, 10)] == [25, 8, 8]


def test_a_suite_of_ones_own_is_a_yaml_file_and_options_go_to_every_probe(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"""
description: mine
probes:
  - {{id: one, probe: weat, title: Mine, targets: {TERMS}, attributes: {CAREER_FAMILY}}}
  - {{probe: rnd}}
""",
        encoding="utf-8",
    )
    suite = load_suite(path, options=Options(seed=3))
    assert (suite.name, [probe.id for probe in suite.probes]) == ("mine", ["one", "rnd"])
    assert suite.probes[0].title == "Mine"
    assert {probe.options.seed for probe in suite.probes} == {3}
    assert load_suite(str(path)).probes[0].options.seed == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[]", "a suite is a mapping"),
        ("probe: []", "unknown key in mine.yaml 'probe': did you mean 'probes'"),
        ("probes: []", "must list at least one probe"),
        ("probes: [weat]", "entry 1 must be a mapping that names its 'probe'"),
        (
            "probes: [{probe: weat, target: []}]",
            "entry 1: unknown option of weat 'target': did you mean 'targets'",
        ),
        (
            "probes: [{probe: weat, targets: gender.male_terms}]",
            "entry 1: targets of weat are a list of groups",
        ),
        ("probes: [{probe: waet}]", "unknown probe 'waet': did you mean 'weat'"),
        ("probes: [{probe: weat}, {probe: weat}]", "two probes have the id 'weat': give each its own"),
        ("probes: [{probe: weat", "mine.yaml"),
        ("probes: [{probe: weat, control: 1}]", "'control' of entry 1 must be true or false, not 1"),
        ("probes: [{probe: weat, parts: all}]", "'parts' of entry 1 must be true or false, not 'all'"),
        ("probes: [{probe: weat, dimension: [a]}]", "'dimension' of entry 1 must be text, not ['a']"),
        ("probes: [{probe: weat, from: x.jsonl}]", "mine.yaml: entry 1: weat takes no data (--from): leave it out"),
        ("probes: [{probe: rnd, targets: [[he, him], 3]}]", "entry 1: a group is an address"),
    ],
)
def test_a_suite_that_cannot_be_used_says_where_and_why(content, says, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        load_suite(path)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_suite_is_an_error_with_a_suggestion():
    with pytest.raises(BadInput, match="unknown suite 'defualt': did you mean 'default'"):
        load_suite("defualt")
    with pytest.raises(BadInput, match=r"nowhere\.yaml"):
        load_suite("nowhere.yaml")


def test_a_suite_of_public_data_says_what_it_needs_where_the_data_is_not_there(monkeypatch):
    monkeypatch.delenv("TILTMETER_DATA", raising=False)
    with pytest.raises(BadInput, match="TILTMETER_DATA"):
        load_suite("language")
    assert "language" in [summary["suite"] for summary in suite_summaries()]


def test_a_suite_may_hold_the_words_themselves_say_controls_and_read_files(tmp_path, data_folder):
    file = data_folder("sent-bias") / "sent-weat6.jsonl"
    folder = data_folder("association") / "word_lists" / "gender_bias_testing2"
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"""
probes:
  - id: inline
    probe: weat
    control: true
    dimension: rank
    targets: [{{label: kings, words: [king, duke]}}, [servant, maid]]
    attributes: {CAREER_FAMILY}
  - {{id: pairs, probe: ripa, targets: [[nurse, pilot]], pairs: [[she, he], [woman, man]]}}
  - {{probe: seat, from: {file}}}
  - {{probe: association, data: {folder}, parts: true}}
""",
        encoding="utf-8",
    )
    inline, along, seat, *study = load_suite(path).probes
    assert (inline.control, inline.dimension) == (True, "rank")
    assert inline.title == "kings / servant, maid × career / family"
    assert inline.stimuli.targets[1].inputs == ("servant", "maid")
    assert along.stimuli.pairs.pairs == (("she", "he"), ("woman", "man"))
    assert len(set(seat.stimuli.targets[0].units)) == 8
    assert [probe.id for probe in study][:1] == ["association-career-family"]
    assert len(study) > 1


def test_controls_are_marked_in_the_suites_that_have_some():
    controls = {name: [p.id for p in load_suite(name).probes if p.control] for name in ("default", "weat", "bangla")}
    assert controls == {
        "default": ["control-flowers-insects"],
        "weat": ["weat1", "weat2"],
        "bangla": ["c1", "c2", "s1", "s2", "l1", "l2"],
    }
    assert {p.dimension for p in load_suite("weat").probes if p.control} == {""}
    assert [p.dimension for p in load_suite("weat").probes][2::3] == ["race", "gender", "disability"]


@pytest.mark.parametrize("key", ["name", "options"])
def test_a_key_that_no_probe_has_is_unknown_whatever_it_is_called(tmp_path, key):
    path = tmp_path / "s.yaml"
    path.write_text(f"probes:\n  - {{probe: weat, {key}: x}}\n")
    with pytest.raises(BadInput, match=f"unknown key of entry 1 in s.yaml '{key}'"):
        load_suite(path)


def test_a_file_may_not_name_a_model_that_runs_code(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("probes:\n  - probe: cloze\n    vectors: python:os:abort\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"entry 1 names python:os:abort, and a file may not run code: use --vectors"):
        load_suite(path)


def test_a_suite_can_be_given_as_what_would_stand_in_its_file() -> None:
    entry = {"probe": "weat", "targets": {"men": ["he", "him"], "women": ["she", "her"]}}
    made = load_suite({"name": "mine", "probes": [entry]})
    assert repr(made) == "<Suite mine: weat>"
    assert made.probes[0].title.startswith("men / women")
    with pytest.raises(BadInput, match="the suite: entry 1: unknown probe 'wat'"):
        load_suite({"probes": [{"probe": "wat"}]})
    assert load_suite(made) is made


def test_a_mined_folder_adds_ceat_for_every_test_whose_groups_it_holds(tmp_path):
    folder = write_mined(tmp_path / "mined")
    entries = [
        {"probe": "weat", "id": "career", "title": "Career", "targets": ["gender.male_terms", "gender.female_terms"],
         "attributes": ["attributes.career", "attributes.family"]},
        {"probe": "weat", "id": "math", "targets": ["gender.male_terms", "gender.female_terms"],
         "attributes": ["attributes.math", "attributes.arts"]},
    ]  # fmt: skip
    suite = load_suite({"name": "mine", "probes": entries}, mined=folder)
    assert [(probe.id, probe.kind.name) for probe in suite.probes] == [
        ("career", "weat"), ("math", "weat"), ("career-ceat", "ceat"),
    ]  # fmt: skip
    assert suite.probes[2].title == "Career, in context"
    with pytest.raises(BadInput, match="no test of it has all its groups in"):
        load_suite({"name": "mine", "probes": entries[1:]}, mined=folder)


def test_the_suite_bangla_has_every_category_in_three_measures_and_the_traits():
    kinds = Counter(probe.kind.name for probe in load_suite("bangla").probes)
    assert kinds == {"weat": 9, "seat": 9, "lpbs": 10}
