from __future__ import annotations

import dataclasses

from tests.views.made import audit, reading
from tiltmeter.models import Identity
from tiltmeter.views.report.origin import origin


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
