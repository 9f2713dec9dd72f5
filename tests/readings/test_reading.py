from __future__ import annotations

import dataclasses
import json

import pytest

from tests.planted import CAREER_FAMILY, TERMS, Named, words
from tiltmeter import Reading, audit, probe
from tiltmeter.errors import BadInput
from tiltmeter.models import Identity
from tiltmeter.probes import KINDS
from tiltmeter.readings import D, Estimate, Item, ReadingStore
from tiltmeter.readings.reading import SCHEMA_VERSION

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True)) | {
    "occupations.all": 0.1,
    "identity.christian_terms": 0.1,
    "identity.muslim_terms": -0.5,
    "identity.jewish_terms": 0.1,
    "attributes.pleasant": 0.8,
    "attributes.unpleasant": -0.8,
}
QUICK = ("weat", "rnd", "mac", "multi_weat", "same", "semaxis")


@pytest.fixture(scope="module")
def reading() -> Reading:
    model = words(LEANS)
    del model["he"]
    return probe("weat", model, cache=False)


@pytest.mark.parametrize("name", QUICK)
def test_a_reading_survives_to_dict_and_json_and_back(name):
    made = probe(name, words(LEANS), cache=False)
    again = Reading.from_dict(json.loads(json.dumps(made.to_dict(), allow_nan=False)))
    assert again == made
    assert again.to_dict() == made.to_dict()
    assert again.effect == made.effect


@pytest.mark.parametrize("name", QUICK)
def test_a_reading_survives_on_disk(name, tmp_path):
    made = probe(name, words(LEANS), cache=False)
    store = ReadingStore(tmp_path)
    file = store.save(made)
    (again,) = store.load([file])
    assert again == made
    assert {"".join(path.suffixes) for path in (tmp_path / "readings").iterdir()} == {".json", ".items"}


def test_two_readings_that_differ_in_one_item_are_not_equal(reading):
    first, *rest = reading.items
    changed = dataclasses.replace(reading, items=(first._replace(value=0.0), *rest))
    assert changed != reading
    assert reading == dataclasses.replace(reading)
    assert hash(reading) == hash(dataclasses.replace(reading))


def test_a_reading_of_another_schema_is_refused(reading):
    values = reading.to_dict()
    assert values["schema_version"] == SCHEMA_VERSION
    with pytest.raises(BadInput, match="schema 99 cannot be read"):
        Reading.from_dict({**values, "schema_version": 99})


def test_a_manifest_of_another_schema_is_refused(tmp_path):
    store = ReadingStore(tmp_path)
    store.prepare()
    (tmp_path / store.MANIFEST).write_text('{"schema_version": 99}', encoding="utf-8")
    with pytest.raises(BadInput, match="another version of tiltmeter"):
        store.manifest()


@pytest.mark.parametrize("where", ["effect", "item"])
def test_nan_is_never_written(reading, where, tmp_path):
    if where == "effect":
        spoilt = dataclasses.replace(reading, effect=Estimate("d", float("nan"), D))
    else:
        spoilt = dataclasses.replace(reading, items=(Item("he", "he", "", float("nan")),))
    store = ReadingStore(tmp_path)
    store.prepare()
    with pytest.raises(ValueError, match="JSON compliant"):
        store.save(spoilt)
    assert list((tmp_path / "readings").iterdir()) == []


def test_readings_of_an_earlier_audit_in_the_same_folder_are_removed(tmp_path):
    suites = []
    for name in ("weat", "rnd"):
        suites.append(tmp_path / f"{name}.yaml")
        suites[-1].write_text(f"probes: [{{id: {name}, probe: {name}}}]", encoding="utf-8")
    out = tmp_path / "out"
    audit(words(LEANS), suite=suites[0], out=out, cache=False)
    audit(words(LEANS), suite=suites[1], out=out, cache=False)
    assert {path.name.split("-")[2] for path in (out / "readings").iterdir()} == {"rnd"}
    assert len(list((out / "readings").iterdir())) == 2


def test_models_whose_names_differ_only_in_signs_have_files_of_their_own(tmp_path):
    store = ReadingStore(tmp_path)
    names = ["static:a b.vec", "static:a_b.vec", "static:A-b.vec"]
    readings = [probe("weat", Named(words(LEANS), name=name), cache=False) for name in names]
    files = [store.save(each) for each in readings]
    assert len(set(files)) == 3
    assert [each.model for each in store.load(files)] == names


def test_one_model_with_two_settings_has_a_file_for_each(tmp_path):
    store = ReadingStore(tmp_path)
    readings = [probe("weat", Named(words(LEANS), settings=layer), cache=False) for layer in ("3", "4")]
    assert len({store.save(each) for each in readings}) == 2
    assert [each.model for each in readings] == ["own:named?layer=3", "own:named?layer=4"]


def test_the_items_are_a_table(reading):
    frame = reading.to_frame()
    assert list(frame.columns) == ["label", "unit", "group", "value"]
    assert len(frame) == reading.n_items == 39


def test_a_reading_prints_what_was_measured_on_what_and_the_plain_words(reading):
    assert str(reading) == f"male terms / female terms × career / family [own:dict]: {reading.plain_words}"


def test_the_provenance_names_the_model_the_stimuli_the_settings_and_the_versions(reading):
    provenance = reading.provenance
    assert provenance.model == Identity("own:dict", "unknown")
    assert provenance.settings == {"alternative": "two-sided", "permutations": 10_000, "seed": 0}
    assert reading.about.citation == KINDS["weat"].citation
    assert {"python", "tiltmeter", "numpy", "scipy"} <= set(provenance.versions)
    elsewhere = probe("weat", words(LEANS), cache=False)
    assert provenance.stimuli == elsewhere.provenance.stimuli
    turned = probe("weat", words(LEANS), attributes=CAREER_FAMILY[::-1], cache=False)
    assert provenance.stimuli != turned.provenance.stimuli


def test_a_folder_without_an_audit_says_so(tmp_path):
    with pytest.raises(BadInput, match="holds no finished audit"):
        ReadingStore(tmp_path).manifest()


@pytest.mark.parametrize(
    ("column", "value"), [("value", "{}"), ("value", [1]), ("label", 7), ("unit", None), ("group", [])]
)
def test_items_of_another_type_are_refused(reading, column, value):
    values = reading.to_dict()
    values["items"][0][column] = value
    with pytest.raises(ValueError, match=r"is not a text|is not a number"):
        Reading.from_dict(values)


@pytest.mark.parametrize(("name", "of"), [("mean", []), ("d of units", []), ("pearson", ["value"]), ("spearman", [])])
def test_a_statistic_that_is_made_of_too_few_columns_is_refused_where_it_is_read(reading, name, of):
    values = reading.to_dict()
    values["statistic"].update(name=name, of=of)
    with pytest.raises(ValueError, match=rf"'{name}' is made of \d columns, not of {len(of)}"):
        Reading.from_dict(values)
