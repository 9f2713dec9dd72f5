from __future__ import annotations

from tests.views.made import audit, reading
from tiltmeter.readings import Skipped
from tiltmeter.views.report.not_measured import NotMeasured, not_measured


def test_a_reason_that_models_share_is_said_once():
    skipped = [Skipped(model, probe, "needs texts") for model in ("m:a", "m:b") for probe in ("seat", "ceat")]
    found = not_measured(audit(reading(), skipped=(*skipped, Skipped("m:b", "lpbs", "needs a mask"))))
    assert found == [
        NotMeasured(["seat", "ceat"], ["m:a", "m:b"], "needs texts"),
        NotMeasured(["lpbs"], ["m:b"], "needs a mask"),
    ]
