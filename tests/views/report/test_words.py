from __future__ import annotations

import dataclasses

from tests.views.made import audit, d, reading, share
from tiltmeter.models import Identity
from tiltmeter.readings import Skipped
from tiltmeter.views.report.words import NotMeasured, meanings, not_measured, origin, shared_caveats, verdict


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
    fine = [reading(id="flowers", control=True, effect=d(1.5, p=0.0001)), reading(id="a", effect=d(0.1, p=0.9))]
    assert verdict(audit(*fine)).headline == "None of 1 tests shows a clear lean."
    assert any("the instrument works" in sentence for sentence in verdict(audit(*fine)).sentences)
    assert verdict(audit(*fine)).models[0].control == "leans, as it should"
    failed = [reading("m:x", "flowers", d(0.1, p=0.7), control=True), reading("m:x", "a", d(0.1, p=0.9))]
    assert any("does not lean clearly on m:x" in sentence for sentence in verdict(audit(*failed)).sentences)


def test_readings_without_a_test_are_counted_apart():
    found = verdict(audit(reading(effect=d(0.9, p=None))))
    assert found.headline == "Nothing was tested: the numbers below stand without a p-value."
    assert found.sentences == ("1 reading comes without a test.",)


def test_a_reason_that_models_share_is_said_once():
    skipped = [Skipped(model, probe, "needs texts") for model in ("m:a", "m:b") for probe in ("seat", "ceat")]
    found = not_measured(audit(reading(), skipped=(*skipped, Skipped("m:b", "lpbs", "needs a mask"))))
    assert found == [
        NotMeasured(["seat", "ceat"], ["m:a", "m:b"], "needs texts"),
        NotMeasured(["lpbs"], ["m:b"], "needs a mask"),
    ]


def test_each_kind_of_probe_is_explained_once():
    later = reading(id="c", probe="future", effect=share(0.6))
    bare = dataclasses.replace(later, about=dataclasses.replace(later.about, summary=""))
    found = meanings([reading(id="a"), reading(id="b"), bare])
    assert [(each.probe, each.titles) for each in found] == [
        ("weat", ("Title of a", "Title of b")),
        ("future", ("Title of c",)),
    ]
    assert (found[0].summary, found[0].idea) == ("Summary of weat", "Words should be level.")
    assert found[1].summary == "future"
    assert found[1].better == ("share to men: nearer to 0.5 is better",)
    assert shared_caveats(found) == ("Mind this.",)
    assert shared_caveats(found[:1]) == ()


def test_the_command_of_the_audit_is_said_as_it_was_stored():
    found = origin(audit(reading(model="hf:one"), command="tiltmeter audit hf:one --suite mine.yaml"))
    assert (found.command, found.note, found.date) == ("tiltmeter audit hf:one --suite mine.yaml", "", "")


def test_a_command_that_was_not_stored_is_put_together_and_quotes_what_it_must():
    found = origin(audit(reading(model="hf:my model; rm -rf"), suite="weat"))
    assert found.command == "tiltmeter audit 'hf:my model; rm -rf' --suite weat --seed 0 --permutations 10000"
    assert "was not stored" in found.note


def test_a_model_passed_as_an_object_is_named():
    found = origin(audit(reading(model="own:one"), command="tiltmeter audit own:one"))
    assert found.note == "own:one was passed as an object in Python: pass it to tiltmeter.audit() again."


def test_the_model_that_gave_word_vectors_is_part_of_where_it_comes_from():
    made = reading()
    vectors = dataclasses.replace(made.provenance, vectors=Identity("bundled:glove", "77"))
    (model,) = origin(audit(dataclasses.replace(made, provenance=vectors))).models
    assert model["vectors"] == "bundled:glove (revision 77)"
    assert model["revision"] == "abc123"
