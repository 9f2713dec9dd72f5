from __future__ import annotations

from tests.views.charts.drawn import READINGS, rows
from tests.views.made import cloze
from tiltmeter.views.charts import contexts


def test_contexts_show_the_published_share_beside_the_repaired():
    figure = contexts([cloze("combined", 0.5, 0.2), cloze("noun", 0.6, 0.1)])
    assert {(r["context"], r["form"]): r["share"] for r in rows(figure, "share", "form")} == {
        ("combined", "as published"): 0.2,
        ("combined", "repaired"): 0.5,
        ("noun", "as published"): 0.1,
        ("noun", "repaired"): 0.6,
    }
    assert "noun 10% as published and 60% repaired" in figure.alt
    assert contexts(READINGS) is None
