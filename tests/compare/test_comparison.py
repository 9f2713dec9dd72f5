"""Models side by side: which pairs are compared, corrected together, and what the table says."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.compare.result_folders import GROWN, jitter, leaning, write_results, write_schema_1
from tiltmeter.compare import check, compare, load_audit, load_side
from tiltmeter.errors import BadInput
from tiltmeter.views.terminal.comparison import comparison_table


def test_all_pairs_of_models_are_compared_and_corrected_together(tmp_path: Path) -> None:
    readings = [leaning(*jitter(0.05, seed, shift=0.4 * (seed == 3)), model=f"model {seed}") for seed in (1, 2, 3)]
    found = compare([load_side(str(write_results(tmp_path / "one", readings)))])
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("model 1", "model 2"),
        ("model 1", "model 3"),
        ("model 2", "model 3"),
    ]
    rows = found.rows()
    assert [row["really_different"] for row in rows] == [False, True, True]
    assert all(row["p_holm"] >= row["p_value"] for row in rows)
    assert min(row["p_holm"] for row in rows) == pytest.approx(3 * min(row["p_value"] for row in rows))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["pairs"][0]["first"] == "model 1"
    assert len(found.to_frame()) == 3


def test_the_clearest_difference_comes_first(tmp_path: Path) -> None:
    quiet = [leaning(id="a"), leaning(id="b")]
    loud = [leaning(*jitter(0.05, 1), id="a"), leaning(*jitter(0.05, 1, shift=0.5), id="b")]
    sides = [load_side(str(write_results(tmp_path / name, each))) for name, each in (("1", quiet), ("2", loud))]
    (pair,) = compare(sides).pairs
    assert [each.id for each in pair.differences] == ["b", "a"]
    assert pair.first.endswith("1: model")  # one name on both sides: the folders tell them apart


def test_folders_of_several_models_are_paired_by_name_and_one_can_be_chosen(tmp_path: Path) -> None:
    for name in ("old", "new"):
        write_results(tmp_path / name, [leaning(model="a:b"), leaning(*jitter(0.1, 1), model="c")])
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    assert len(compare([load_side(old), load_side(new)]).pairs) == 2
    (pair,) = compare([load_side(f"{old}:a:b"), load_side(f"{new}:c")]).pairs
    assert (pair.first, pair.second) == ("a:b", "c")
    with pytest.raises(BadInput, match=r"unknown model of .*did you mean 'a:b'"):
        load_side(f"{old}:a:bb")


def test_a_folder_of_schema_1_is_compared_with_one_of_schema_2(tmp_path: Path) -> None:
    new = leaning(*GROWN)
    old = write_schema_1(tmp_path / "old", leaning())
    (pair,) = compare([load_side(str(old)), load_side(str(write_results(tmp_path / "new", [new])))]).pairs
    (moved,) = pair.differences
    assert (moved.method, moved.n_units) == ("paired", 16)
    assert moved.difference == pytest.approx(new.effect.value - leaning().effect.value)
    (failed,) = check(load_audit(tmp_path / "new"), load_audit(old)).failed
    assert failed.id == new.id


def test_models_that_share_no_probe_are_an_error(tmp_path: Path) -> None:
    sides = [load_side(str(write_results(tmp_path / name, [leaning(id=name)]))) for name in ("a", "b")]
    with pytest.raises(BadInput, match="nothing can be compared: a: not measured on"):
        compare(sides)


def test_the_table_says_what_is_real_and_what_was_left_out(tmp_path: Path) -> None:
    from rich.console import Console

    first = write_results(tmp_path / "1", [leaning(id="a"), leaning(id="[b]"), leaning(id="c", stimuli="x")])
    grown = leaning(*jitter(0.05, 1, shift=0.6), id="[b]")
    second = write_results(tmp_path / "2", [leaning(id="a"), grown, leaning(id="c")])
    (pair,) = compare([load_side(str(first)), load_side(str(second))]).pairs
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(comparison_table(pair))
    text = console.export_text()
    assert "Title of [b]" in text
    assert "really different: further from" in text
    assert "no real difference" in text
    assert "Not compared: c (other stimuli (x and abc))" in text
