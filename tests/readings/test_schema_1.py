"""An audit that an earlier version stored (small.yaml on GloVe and on a planted model) is still an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tiltmeter import Audit
from tiltmeter.compare import check, differ
from tiltmeter.readings import CORRELATION, DIFFERENCE, DISTANCE, ETA, SHARE, D, OtherDetails, ReadingStore
from tiltmeter.views.exports import FORMATS, export

FOLDER = Path(__file__).parent / "schema_1"
SCALES = {
    "weat": D,
    "rnd": DIFFERENCE,
    "mac": DISTANCE,
    "wefat": CORRELATION,
    "multi_weat": ETA,
    "cloze": SHARE,
    "pairs": SHARE,
    "pronouns": SHARE,
    "unmask": DIFFERENCE,
    "lpbs": D,
    "cabm": CORRELATION,
}


@pytest.fixture(scope="module")
def stored() -> dict[str, dict[str, Any]]:
    """The files as they are, by the id of the reading."""
    files = (json.loads(path.read_text(encoding="utf-8")) for path in (FOLDER / "readings").glob("*.json"))
    return {values["id"]: values for values in files}


@pytest.fixture(scope="module")
def audit() -> Audit:
    return Audit.load(FOLDER)


def test_the_folder_is_of_schema_1_and_holds_every_kind(stored, audit):
    assert {values["schema_version"] for values in stored.values()} == {1}
    assert {reading.probe for reading in audit.readings} == set(SCALES)
    assert audit.models == ("bundled:glove", "reference:tilt-0.9")
    assert (audit.suite, audit.command, len(audit.skipped)) == ("small", "", 12)


def test_effects_intervals_and_p_values_are_what_was_stored(stored, audit):
    for reading in audit.readings:
        for name in ("effect", "published"):
            old, new = stored[reading.id][name], getattr(reading, name)
            assert (old is None) == (new is None)
            if old is not None:
                assert (new.name, new.value, new.p_value) == (old["name"], old["value"], old["p_value"])
                assert new.level == old["level"]
                assert [new.ci.low, new.ci.high] == [old["ci"]["low"], old["ci"]["high"]] if old["ci"] else not new.ci
        assert reading.effect.scale == SCALES[reading.probe]
        assert reading.leans == stored[reading.id]["leans"]
        # The sizes of shares and of eta were not said then.
        assert stored[reading.id]["strength"] in (reading.strength, "")
        assert reading.repair == stored[reading.id]["correction"]


def test_what_was_told_by_a_prefix_or_a_caveat_is_a_field(stored, audit):
    controls = [reading.id for reading in audit.readings if reading.control]
    assert controls == ["control-flowers-insects"]
    for reading in audit.readings:
        idea, *caveats = stored[reading.id]["caveats"]
        assert f"What counts as bias here: {reading.about.idea}" == idea
        assert list(reading.about.caveats) == caveats
        assert reading.about.citation == stored[reading.id]["provenance"]["citation"]


def test_items_are_typed_and_none_is_lost(audit):
    for reading in audit.readings:
        assert len(reading.items) == reading.n_items or reading.probe in ("unmask", "lpbs", "cabm")
        assert reading.items
        assert all(item.label and item.unit for item in reading.items)
        assert reading.item_meaning is not None
        assert not isinstance(reading.details, OtherDetails), reading.id
    lpbs = next(reading for reading in audit.readings if reading.probe == "lpbs")
    assert lpbs.item_meaning.poles == ("men", "women")


@pytest.mark.parametrize("format", FORMATS)
def test_it_is_reported_and_exported(format, audit, tmp_path):
    content = export(audit, tmp_path, format=format)[0].read_bytes()
    assert len(content) > 1000
    if format in ("html", "md", "model-card"):
        text = content.decode()
        assert "tiltmeter audit bundled:glove reference:tilt-0.9 --suite small" in text
        assert "2026-11-16" in text


def test_every_reading_shows_a_chart(audit):
    for reading in audit.readings:
        assert reading.chart().to_dict()["$schema"]


def test_compared_with_itself_nothing_differs(audit):
    for reading in audit.readings:
        same = differ(reading, reading)
        assert not isinstance(same, str)
        assert (same.difference, same.growth) == (0.0, 0.0)
    assert check(audit, audit).failed == ()


def test_written_back_it_is_of_schema_2_and_the_same(audit, tmp_path):
    store = ReadingStore(tmp_path)
    names = [store.save(reading) for reading in audit.readings]
    store.save_manifest({**audit.to_dict(), "readings": names})
    for path in (tmp_path / store.MANIFEST, *(tmp_path / "readings").glob("*.json")):
        assert json.loads(path.read_text(encoding="utf-8"))["schema_version"] == 2
    assert Audit.load(tmp_path).readings == audit.readings
