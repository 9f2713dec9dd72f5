"""Models side by side: which pairs are compared, corrected together, and what the table says."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tiltmeter
from tests.compare.result_folders import GROWN, audit, jitter, leaning, write_results, write_schema_1
from tiltmeter.compare import check, compare, load_audit, load_side
from tiltmeter.errors import BadInput
from tiltmeter.readings import Reading
from tiltmeter.statistics import Interval
from tiltmeter.views.terminal.comparison import comparison_table


def test_all_pairs_of_models_are_compared_and_each_is_corrected_for_its_own_tests(tmp_path: Path) -> None:
    readings = [leaning(*jitter(0.05, seed, shift=0.4 * (seed == 3)), model=f"model {seed}") for seed in (1, 2, 3)]
    found = compare([load_side(str(write_results(tmp_path / "one", readings)))])
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("model 1", "model 2"),
        ("model 1", "model 3"),
        ("model 2", "model 3"),
    ]
    rows = found.rows()
    assert [row["verdict"] for row in rows] == ["level", "clear", "clear"]
    assert all(row["p_holm"] == row["p_value"] for row in rows)  # one test per pair
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["pairs"][0]["first"] == "model 1"
    assert len(found.to_frame()) == 3


def test_a_third_model_changes_no_verdict_of_the_pair() -> None:
    one = [leaning(*jitter(0.3, seed), id=f"p{seed}", model="a") for seed in range(4)]
    two = [leaning(*jitter(0.3, seed + 50, shift=0.2 * seed), id=f"p{seed}", model="b") for seed in range(4)]
    three = [leaning(*jitter(0.3, seed + 90), id=f"p{seed}", model="c") for seed in range(4)]
    alone, beside = compare(audit([*one, *two])), compare(audit([*one, *two, *three]))
    assert beside.pairs[0] == alone.pairs[0]
    assert len(beside.pairs) == 3


def test_controls_are_corrected_apart_and_come_last() -> None:
    def readings(shift: float, model: str) -> list[Reading]:
        leans = jitter(0.04, int(10 * shift), shift=shift)
        return [
            leaning(*leans, id="flowers", control=True, model=model),
            *(leaning(*leans, id=id, model=model) for id in "ab"),
        ]

    (pair,) = compare(audit(readings(0.0, "x")), audit(readings(0.5, "y"))).pairs
    assert [(moved.id, moved.n_tests) for moved in pair.differences] == [("a", 2), ("b", 2), ("flowers", 1)]
    assert pair.tally == "2 clear"


@pytest.mark.parametrize(
    ("p", "p_holm", "ci", "state", "says"),
    [
        (0.001, 0.02, (0.5, 1.99), "clear", "Clear: p = 0.020 after correction for this pair's 14 bias tests."),
        (
            0.01,
            0.2,
            (0.5, 1.99),
            "suggestive",
            "Suggestive: p = 0.010 on its own, but not significant after correction",
        ),
        (0.2, 0.9, (-0.5, 2.99), "undecided", "Undecided: noise could explain it (p = 0.20). Only a difference of"),
        (
            0.2,
            0.9,
            (-0.1, 0.2),
            "level",
            "Level: the whole interval lies within ±0.2, the smallest difference that matters.",
        ),
        (0.001, 0.02, (0.01, 0.2), "level", "Level: "),
    ],
)
def test_the_verdict_follows_from_p_and_the_interval(
    p: float, p_holm: float, ci: tuple[float, float], state: str, says: str
) -> None:
    (pair,) = compare(leaning(), leaning(*jitter(0.3, 1), model="other")).pairs
    moved = dataclasses.replace(
        pair.differences[0], p_value=p, p_holm=p_holm, n_tests=14, ci=Interval(*ci, 0.95, "planted")
    )
    assert moved.state == state
    assert moved.sentence.startswith(says)


def test_folders_audits_and_readings_give_the_same_comparison(tmp_path: Path) -> None:
    old, new = audit([leaning(model="a")]), audit([leaning(*GROWN, model="b")])
    folders = [write_results(tmp_path / name, each.readings) for name, each in (("old", old), ("new", new))]
    expected = compare(old, new)
    assert compare([old, new]) == compare(*folders) == compare(list(map(str, folders))) == expected
    assert compare(old.readings[0], new.readings[0]) == compare(audit([*old.readings, *new.readings])) == expected
    assert tiltmeter.compare(old, new) == expected
    with pytest.raises(BadInput, match="a folder of results, an audit or a reading, not 3"):
        compare(old, 3)
    with pytest.raises(BadInput, match="nothing to compare"):
        compare()


def test_two_audits_of_one_model_that_were_never_stored_are_told_apart() -> None:
    (pair,) = compare(audit([leaning()]), audit([leaning(*GROWN)])).pairs
    assert (pair.first, pair.second) == ("audit 1: model", "audit 2: model")


def test_a_comparison_shows_itself_in_one_line() -> None:
    found = compare(audit([leaning(model="a")]), audit([leaning(*GROWN, model="b")]))
    assert repr(found) == "<Comparisons a → b: 1 clear>"
    assert repr(found.pairs[0]) == "<Comparison a → b: 1 clear>"


def test_the_room_of_comparisons_is_the_function_whatever_was_imported_before() -> None:
    script = (
        "{}import tiltmeter\nfrom tiltmeter.compare import compare\nimport tiltmeter.compare.gate\n"
        "try: tiltmeter.compare()\nexcept tiltmeter.TiltmeterError as error: print(error)"
    )
    for first in ("", "import tiltmeter.cli.results\n", "import tiltmeter.compare.floor\n"):
        done = subprocess.run([sys.executable, "-c", script.format(first)], capture_output=True, text=True, check=False)
        assert done.stdout.startswith("nothing to compare"), done.stderr


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
    assert "clear: further from level" in text
    assert "Level, the difference too small to matter: Title of a" in text
    assert "Not compared, different stimuli (x and abc): c" in text
