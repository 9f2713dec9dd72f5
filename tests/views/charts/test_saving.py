from __future__ import annotations

import pytest

from tests.views.charts.drawn import READINGS
from tiltmeter.errors import BadInput
from tiltmeter.views.charts import effects, items, write_figures


def test_charts_are_written_as_files_with_their_words(tmp_path):
    named = [("own:one ../../career", effects(READINGS)), ("own:one //career", items(READINGS[0]))]
    written = write_figures(named, tmp_path, format="svg")
    assert [path.name for path in written] == ["own-one-career.svg", "own-one-career-2.svg"]
    assert all(path.parent == tmp_path for path in written)
    assert "own-one-career.svg: Effect sizes of 2 models" in (tmp_path / "alt.txt").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match="unknown format of charts 'jpg'"):
        write_figures(named, tmp_path, format="jpg")
