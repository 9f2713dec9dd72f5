from __future__ import annotations

import pytest

from tests.planted import Sentences, texts
from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.probes import association_probes, seat_probe
from tiltmeter.run.probe import put


def test_a_seat_file_is_a_probe_whose_unit_is_the_word(data_folder):
    asked = seat_probe(data_folder("sent-bias") / "sent-weat6.jsonl")
    (male, female), (career, family) = asked.query.targets, asked.query.attributes
    # Eight names a side, as in WEAT 6; every sentence about one of them counts for that name.
    assert {len(set(each.units)) for each in (male, female)} == {8}
    assert "John" in male.units
    model = texts([(male, 0.2, 0.05), (female, -0.2, 0.05), (career, 0.8, 0), (family, -0.8, 0)])
    (reading,) = put([asked], Sentences(model), cache=False)
    assert reading.effect.value > 0
    assert reading.leans.endswith(f"{female.label} → {family.label}")
    assert reading.n_units == 16
    assert reading.n_items == len(male.inputs) + len(female.inputs)
    rows = [[model[text] for text in each.inputs] for each in (male, female, career, family)]
    found = measures.association(*rows, units_1=male.units, units_2=female.units)
    assert reading.effect.value == found.effect_size
    assert reading.published.p_value == found.published.p_value
    # Eight against eight names can be counted: no p below 2 of the 12,870 splits.
    assert reading.effect.exact
    assert reading.effect.p_value >= 2 / 12870


def test_an_association_folder_gives_the_comparisons_of_the_study(data_folder):
    probes = association_probes(data_folder("association") / "word_lists" / "gender_bias_testing2")
    assert [each.id for each in probes][:1] == ["association-career-family"]
    asked = probes[0]
    (male, female), (career, family) = asked.query.targets, asked.query.attributes
    model = texts([(male, -0.2, 0.05), (female, 0.2, 0.05), (career, 0.8, 0), (family, -0.8, 0)])
    (reading,) = put([asked], Sentences(model), cache=False)
    assert reading.effect.value < 0
    assert reading.leans == f"{female.label} → {career.label}, {male.label} → {family.label}"
    assert reading.n_units == len({*male.units}) + len({*female.units}) < reading.n_items


def test_a_folder_without_two_target_lists_is_refused(tmp_path):
    with pytest.raises(BadInput):
        association_probes(tmp_path)
