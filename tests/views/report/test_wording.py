from __future__ import annotations

import dataclasses

from tests.views.made import audit, reading, share
from tiltmeter.models import Identity
from tiltmeter.readings import Skipped
from tiltmeter.views.report.wording import NotMeasured, meanings, not_measured, origin, shared_caveats


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
