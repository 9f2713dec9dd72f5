from __future__ import annotations

from tests.views.charts.drawn import rows
from tests.views.made import d, reading
from tiltmeter.views.charts import published_p_values, published_values


def test_published_numbers_are_drawn_where_they_differ():
    same = reading(id="same", effect=d(0.5), published=d(0.5, p=0.0001))
    other = reading(id="other", effect=d(0.5, p=0.2), published=d(0.9, p=0.01))
    figure = published_values([same, other])
    assert [(r["published"], r["repaired"]) for r in rows(figure, "published")] == [(0.9, 0.5)]
    p = published_p_values([same, other])
    assert [(r["published"], r["repaired"]) for r in rows(p, "published")] == [(0.01, 0.2), (0.0001, 0.001)]
    assert "1 of them are below 0.05 only as published" in p.alt
    assert published_values([same]) is None
