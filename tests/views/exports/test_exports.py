from __future__ import annotations

import io

import pandas as pd
import pytest

from tests.views.exports.audits import AUDIT
from tests.views.made import audit, reading
from tiltmeter import Audit
from tiltmeter.errors import BadInput
from tiltmeter.views.exports import FORMATS, export, to_csv, to_parquet
from tiltmeter.views.exports.model_card import to_model_cards

ONE = audit(*(each for each in AUDIT.readings if each.model == "own:one"))


@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_gets_the_usual_name_and_the_same_bytes_every_time(format, tmp_path):
    (path,) = export(ONE, tmp_path, format=format)
    assert path == tmp_path / FORMATS[format].file
    first = path.read_bytes()
    assert first
    assert export(ONE, tmp_path / "other", format=format) == [tmp_path / "other"]
    assert (tmp_path / "other").read_bytes() == first


def test_cards_of_several_models_are_files_beside_each_other(tmp_path):
    names = {"own:one": "own-one", "hf:two": "hf-two"}
    usual = [tmp_path / f"model-card-{name}.md" for name in names.values()]
    assert export(AUDIT, tmp_path, format="model-card") == usual
    named = [tmp_path / f"card-{name}.md" for name in names.values()]
    assert export(AUDIT, tmp_path / "card.md", format="model-card") == named
    folder = [tmp_path / "cards" / f"model-card-{name}.md" for name in names.values()]
    assert export(AUDIT, tmp_path / "cards", format="model-card") == folder
    cards = to_model_cards(AUDIT)
    for model, *paths in zip(names, usual, named, folder, strict=True):
        assert {path.read_text("utf-8") for path in paths} == {cards[model]}


def test_an_unknown_format_is_one_clear_line(tmp_path):
    with pytest.raises(BadInput, match=r"unknown format 'latx': did you mean 'latex'\?"):
        export(AUDIT, tmp_path, format="latx")


def same(frame: pd.DataFrame, found: Audit) -> None:
    pd.testing.assert_frame_equal(frame, found.to_frame(), check_dtype=False)


def test_csv_and_parquet_read_back_as_the_table():
    csv = pd.read_csv(io.StringIO(to_csv(AUDIT.rows())), keep_default_na=False, na_values=[""])
    numbers = [name for name in csv.columns if csv[name].dtype.kind in "fi"]
    pd.testing.assert_frame_equal(csv[numbers], AUDIT.to_frame()[numbers], check_dtype=False)
    assert list(csv["title"]) == [r.title for r in AUDIT.readings]
    same(pd.read_parquet(io.BytesIO(to_parquet(AUDIT))), AUDIT)


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_no_cell_of_a_csv_file_is_a_formula(start):
    csv = to_csv(audit(reading(model=start, title=start)).rows())
    (row,) = pd.read_csv(io.StringIO(csv)).to_dict("records")
    assert row["model"] == row["title"] == f"'{start}"
    assert row["value"] == 0.9
