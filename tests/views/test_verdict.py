from __future__ import annotations

import dataclasses

from tests.views.made import audit, d, lpbs, reading, share
from tiltmeter.readings import Estimate
from tiltmeter.views.item_values import Item, item_values
from tiltmeter.views.one_scale import on_one_scale
from tiltmeter.views.report.meanings import meanings, shared_caveats
from tiltmeter.views.report.origin import origin
from tiltmeter.views.verdict import verdict


def test_the_headline_counts_what_is_clear_after_correction():
    # Holm doubles the smaller p-value: .03 is no longer clear.
    found = verdict(audit(reading(id="a", effect=d(0.9, p=0.03)), reading(id="b", effect=d(0.5, p=0.9))))
    assert found.headline == "None of 2 tests shows a clear lean."
    assert "no proof of balance" in found.sentences[0]
    found = verdict(audit(reading("m:one", "a", d(0.9, p=0.001)), reading("m:two", "a", d(0.5, p=0.9))))
    assert found.headline == "1 of 2 tests shows a clear lean, on 1 of 2 models."


def test_the_strongest_clear_lean_is_named_across_statistics():
    # A share of .9 is farther from level (h = .93) than d = .6.
    found = verdict(
        audit(reading(id="a", effect=d(0.6)), reading(id="b", effect=share(0.9)), reading(id="c", effect=d(3, p=1)))
    )
    (one,) = found.models
    assert (one.clear, one.tests) == (2, 3)
    assert one.strongest == "Title of b: men → career, women → family (share to men 0.90 [0.85, 0.95])"


def test_a_control_is_not_counted_and_one_that_fails_is_said():
    fine = [reading(id="control-flowers", effect=d(1.5, p=0.0001)), reading(id="a", effect=d(0.1, p=0.9))]
    assert verdict(audit(*fine)).headline == "None of 1 tests shows a clear lean."
    assert any("the instrument works" in sentence for sentence in verdict(audit(*fine)).sentences)
    assert verdict(audit(*fine)).models[0].control == "leans, as it should"
    failed = [reading("m:x", "control-flowers", d(0.1, p=0.7)), reading("m:x", "a", d(0.1, p=0.9))]
    assert any("does not lean clearly on m:x" in sentence for sentence in verdict(audit(*failed)).sentences)


def test_readings_without_a_test_are_counted_apart():
    found = verdict(audit(reading(effect=d(0.9, p=None))))
    assert found.headline == "Nothing was tested: the numbers below stand without a p-value."
    assert found.sentences == ("1 reading comes without a test.",)


def test_a_correlation_of_one_is_far_but_finite():
    assert on_one_scale(Estimate("correlation r", -1.0, 0.0, "")) == -3.0


def test_items_of_one_word_are_averaged_and_ends_never_overlap():
    rows = tuple(
        {"text": f"{n}", "word": word, "group": "g", "lean": lean}
        for n, (word, lean) in enumerate([("a", 1.0), ("a", 2.0), ("b", 0.0), ("c", 3.0)])
    )
    found = item_values(reading(items=rows))
    assert found.rows == (Item("c", "g", 3.0, 1), Item("a", "g", 1.5, 2), Item("b", "g", 0.0, 1))
    assert found.ends(5) == ((found.rows[0],), (found.rows[2],))


def test_items_know_what_their_signs_mean():
    pairs = ({"sentence": "s", "other": "o", "kind": "age", "score_stereotyped": -1.0, "score_other": -3.0},)
    found = item_values(reading(items=pairs))
    assert (found.rows[0].value, found.rows[0].group) == (2.0, "age")
    assert found.signs == "positive: the model prefers the stereotype"
    assert item_values(lpbs({"": [(0.5, 0.25)]})).signs == "positive: to men, negative: to women"
    assert item_values(reading(items=({"word": "a", "distance to x": 1.0},))) is None
    assert item_values(reading(items=())) is None


def test_each_kind_of_probe_is_explained_once():
    found = meanings([reading(id="a"), reading(id="b"), reading(id="c", probe="future", effect=share(0.6))])
    assert [(each.probe, each.titles) for each in found] == [
        ("weat", ("Title of a", "Title of b")),
        ("future", ("Title of c",)),
    ]
    assert found[0].idea == "Words should be level."
    assert found[1].summary == "future"
    assert found[1].better == ("share to men: nearer to 0.5 is better",)
    assert shared_caveats(found) == ("Mind this.",)
    assert shared_caveats(found[:1]) == ()


def test_the_command_makes_the_audit_again_and_quotes_what_it_must():
    found = origin(audit(reading(model="hf:my model; rm -rf"), suite="weat"))
    assert found.command == "tiltmeter audit 'hf:my model; rm -rf' --suite weat --seed 0 --permutations 10000"
    assert found.note == ""
    assert found.date == ""
    study = origin(audit(reading(model="hf:one"), suite="context-length"))
    assert study.command.startswith("tiltmeter lab context-length hf:one")
    assert "options" in study.note
    own = origin(audit(reading(model="own:one"), suite="mine"))
    assert own.command.startswith("tiltmeter audit own:one --suite mine.yaml")
    assert "handed over as an object in Python" in own.note
    assert "a file of your own" in own.note


def test_word_vectors_beside_a_model_are_part_of_where_it_comes_from():
    made = reading()
    beside = {**made.provenance, "beside": {"name": "bundled:glove", "revision": "77", "settings": {}}}
    (model,) = origin(audit(dataclasses.replace(made, provenance=beside))).models
    assert model["beside"] == "bundled:glove (revision 77)"
    assert model["revision"] == "abc123"
