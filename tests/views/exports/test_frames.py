from __future__ import annotations

import io

import pandas as pd
import pytest

from tests.views.exports.audits import AUDIT
from tests.views.made import audit, reading
from tiltmeter import Audit
from tiltmeter.views.exports import to_csv, to_parquet


def same(frame: pd.DataFrame, found: Audit) -> None:
    pd.testing.assert_frame_equal(frame, found.to_frame(), check_dtype=False)


def test_csv_and_parquet_read_back_as_the_table():
    csv = pd.read_csv(io.StringIO(to_csv(AUDIT.to_frame())), keep_default_na=False, na_values=[""])
    numbers = [name for name in csv.columns if csv[name].dtype.kind in "fi"]
    pd.testing.assert_frame_equal(csv[numbers], AUDIT.to_frame()[numbers], check_dtype=False)
    assert list(csv["title"]) == [r.title for r in AUDIT.readings]
    same(pd.read_parquet(io.BytesIO(to_parquet(AUDIT.to_frame()))), AUDIT)


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_no_cell_of_a_csv_file_is_a_formula(start):
    csv = to_csv(audit(reading(model=start, title=start)).to_frame())
    (row,) = pd.read_csv(io.StringIO(csv)).to_dict("records")
    assert row["model"] == row["title"] == f"'{start}"
    assert row["value"] == 0.9
