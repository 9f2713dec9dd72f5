"""The commands that report, compare, gate and serve what was measured, as a user runs them."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shutil
import socket
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from tests.cli.conftest import LEANS
from tests.command import Outcome, environment, tiltmeter
from tests.compare.result_folders import GROWN, jitter, leaning, write_results
from tests.planted import Named, words
from tests.views.exports.junit_schema import faults
from tests.web.planted_audits import write_audit
from tiltmeter import audit
from tiltmeter.cli import results
from tiltmeter.cli.results import app
from tiltmeter.compare import load_audit
from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.readings import audit as store


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("audit")
    suite = out / "one.yaml"
    suite.write_text("probes:\n  - {id: career, probe: weat}\n", encoding="utf-8")
    audit([Named(words(LEANS), name="own:one")], suite=suite, cache=False, out=out)
    return out


def report(*arguments: str | Path) -> Result:
    done = CliRunner().invoke(app, ["report", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.mark.parametrize(
    ("format", "name", "start"),
    [
        ("md", "audit.md", b"# How far"),
        ("csv", "readings.csv", b"model,id,"),
        ("parquet", "readings.parquet", b"PAR1"),
        ("latex", "audit.tex", b"% Needs"),
        ("model-card", "model-card.md", b"---\nmodel-index:"),
    ],
)
def test_every_format_is_written_beside_the_audit_under_its_usual_name(planted, format, name, start):
    done = report(planted, "--format", format, "--json")
    assert json.loads(done.stdout) == {"report": str(planted / name)}
    assert (planted / name).read_bytes().startswith(start)


def test_cards_of_several_models_are_named_after_them(tmp_path):
    both = [Named(words(LEANS), name=name) for name in ("own:one", "own:two")]
    suite = tmp_path / "one.yaml"
    suite.write_text("probes:\n  - {id: career, probe: weat}\n", encoding="utf-8")
    audit(both, suite=suite, cache=False, out=tmp_path / "out")
    done = report(tmp_path / "out", "--format", "model-card", "-o", tmp_path / "cards", "--json")
    files = [tmp_path / "cards" / f"model-card-own-{name}.md" for name in ("one", "two")]
    assert json.loads(done.stdout) == {"reports": [str(file) for file in files]}
    assert all(f"name: own:{name}" in file.read_text("utf-8") for name, file in zip(("one", "two"), files, strict=True))


def test_a_report_goes_where_it_is_wanted(planted, tmp_path):
    done = report(planted, "-o", tmp_path / "audit.html")
    assert done.stdout == f"report: {tmp_path / 'audit.html'}\n"
    assert (tmp_path / "audit.html").read_bytes().startswith(b"<!doctype html>")


def test_charts_are_written_into_a_folder(planted, tmp_path):
    done = report(planted, "--charts", tmp_path / "figures", "--format", "svg", "--json")
    written = [Path(path).name for path in json.loads(done.stdout)["charts"]]
    assert {"effects.svg", "own-one-career-items.svg"} <= set(written)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {*written, "alt.txt"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--format", "pdf"], "pdf is a format of charts: name a folder for them with --charts"),
        (["--format", "htm"], "unknown format 'htm': did you mean 'html'?"),
        (["--charts", "x", "--format", "html"], "unknown format of charts 'html'"),
        (["--charts", "x", "-o", "y"], "--charts writes files into its own folder"),
    ],
)
def test_what_does_not_go_together_is_one_clear_line(planted, arguments, complaint):
    with pytest.raises(BadInput) as error:
        report(planted, *arguments)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_the_help_of_report_has_examples():
    assert "tiltmeter report tiltmeter-results -o audit.html" in report("--help").stdout


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    write_results(folder / "one", [leaning(id="same"), leaning(id="grown")])
    write_results(folder / "two", [leaning(id="same"), leaning(*jitter(0.04, 1, shift=0.5), id="grown")])
    write_results(folder / "both", [leaning(model="a:1"), leaning(*jitter(0.04, 1, shift=0.5), model="b")])
    return folder


def compare(compared: Path, *arguments: str, fresh: bool = False) -> Outcome:
    return tiltmeter("compare", *arguments, env=environment(compared / "cache"), folder=compared, fresh=fresh)


def test_two_folders_are_compared_with_the_clearest_difference_first(compared: Path) -> None:
    done = compare(compared, "one", "two", fresh=True)
    assert done.code == 0, done.stderr
    assert done.stdout.index("Title of grown") < done.stdout.index("Title of same")
    assert "clear: further from level" in done.stdout
    assert "p is Holm-corrected for the bias tests of a pair" in done.stderr


def test_the_charts_of_all_pairs_are_written_with_their_words(compared: Path) -> None:
    done = compare(compared, "one", "two", "--charts", "figures", "--format", "svg")
    assert done.code == 0, done.stderr
    assert "charts: 1 in figures" in done.stdout
    (chart,) = (compared / "figures").glob("*.svg")
    assert "Title of grown" in chart.read_text(encoding="utf-8")
    assert "2 probes on one: model and two: model" in (compared / "figures" / "alt.txt").read_text(encoding="utf-8")
    named = json.loads(compare(compared, "one", "two", "--charts", "more", "--json").stdout)["charts"]
    assert [Path(name).suffix for name in named] == [".png"]
    assert compare(compared, "one", "two", "--charts", "figures", "--format", "jpg").code == 2


def test_json_holds_the_numbers_of_every_pair_and_rows_for_charts(compared: Path) -> None:
    found = json.loads(compare(compared, "both", "--json").stdout)
    (row,) = found["rows"]
    assert (row["first_model"], row["second_model"], row["verdict"]) == ("a:1", "b", "clear")
    assert row["ci_low"] < row["difference"] < row["ci_high"]
    assert row["growth"] == pytest.approx(row["difference"])
    assert found["pairs"][0]["differences"][0]["method"] == "paired"


def test_a_model_of_a_folder_is_chosen_by_name_even_with_a_colon_in_it(compared: Path) -> None:
    done = compare(compared, "both:a:1", "both:b")
    assert done.code == 0, done.stderr
    assert "a:1 → b: 1 clear" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one",), "one holds one model: name a second folder to compare it with"),
        (("one", "three"), "three is not a folder of results"),
        (("both:c", "both:b"), "unknown model of both 'c'"),
        (("one", "."), ". holds no finished audit"),
    ],
)
def test_what_cannot_be_compared_is_one_line(compared: Path, arguments: tuple[str, ...], message: str) -> None:
    assert compare(compared, *arguments).complaint.startswith(message)


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    write_results(folder / "old", [leaning(id="a"), leaning(id="b")])
    write_results(folder / "same", [leaning(id="a"), leaning(*jitter(0.04, 2), id="b")])
    write_results(folder / "worse", [leaning(id="a"), leaning(*GROWN, id="b")])
    write_results(folder / "fewer", [leaning(id="a")])
    write_results(folder / "other", [leaning(id="a"), leaning(id="b", stimuli="other words")])
    failed = {"model": "big", "probe": "a", "reason": "out of memory", "failed": True}
    write_results(folder / "broken", [leaning(id="a"), leaning(id="b")], skipped=[failed])
    return folder


def gate(folder: Path, *arguments: str | Path, fresh: bool = False) -> Outcome:
    return tiltmeter("check", *arguments, env=environment(folder / "cache"), folder=folder, fresh=fresh)


def test_equal_models_pass(gated: Path) -> None:
    done = gate(gated, "same", "--baseline", "old")
    assert done.code == 0, done.stderr
    assert "Passed: no growth that matters in 2 probes (2 tested against old)." in done.stdout


def test_a_worse_model_fails_with_exit_code_1_says_why_and_writes_both_files(gated: Path, tmp_path: Path) -> None:
    files = tmp_path / "new" / "bias.xml", tmp_path / "bias.md"
    done = gate(gated, "worse", "--baseline", "old", "--junit", files[0], "--summary", files[1], fresh=True)
    assert (done.code, done.stderr) == (1, "")
    assert "bias grew" in done.stdout
    suite = ElementTree.parse(files[0]).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert faults(files[0].read_bytes()) == []
    assert "❌ failed | Title of b" in files[1].read_text(encoding="utf-8")


def test_undecided_fails_only_if_asked(gated: Path) -> None:
    policy = gated / "strict.yaml"
    policy.write_text("probes:\n  b: {matters: 0.001}\n", encoding="utf-8")
    arguments = ("same", "--baseline", "old", "--policy", policy)
    usual, strict = gate(gated, *arguments), gate(gated, *arguments, "--fail-on", "undecided")
    assert (usual.code, strict.code) == (0, 1)
    assert "Undecided: 1 probe undecided" in usual.stdout
    assert "Failed, because undecided fails here" in strict.stdout
    assert gate(gated, *arguments, "--fail-on", "x").complaint.startswith("unknown outcome to fail on 'x'")


def test_the_commands_print_what_the_functions_return(gated: Path) -> None:
    import tiltmeter as package

    found = package.check(gated / "worse", gated / "old")
    said = json.loads(gate(gated, gated / "worse", "--baseline", gated / "old", "--json").stdout)
    assert said == {**json.loads(json.dumps(found.to_dict())), "failed": found.fails, "headline": found.headline}
    pairs = package.compare(gated / "worse", gated / "old")
    said = json.loads(compare(gated, str(gated / "worse"), str(gated / "old"), "--json").stdout)
    assert said == {**json.loads(json.dumps(pairs.to_dict())), "rows": json.loads(json.dumps(pairs.rows()))}


def test_json_tells_all_of_it(gated: Path) -> None:
    done = gate(gated, "worse", "--baseline", "old", "--json")
    found = json.loads(done.stdout)
    assert (done.code, found["failed"]) == (1, True)
    assert [(each["id"], each["outcome"]) for each in found["probes"]] == [("b", "failed"), ("a", "passed")]


def test_a_policy_can_tolerate_the_growth(gated: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("probes:\n  b: {tolerance: 0.5}\n", encoding="utf-8")
    assert gate(gated, "worse", "--baseline", "old", "--policy", tmp_path / "policy.yaml").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fewer", "--baseline", "old"), "the run fewer lacks b of model, which the baseline has: measure it too"),
        (("other", "--baseline", "old"), "b of model was measured differently in the baseline, with different stimuli"),
        (("broken", "--baseline", "old"), "the run broken is not finished: big failed on a (out of memory)"),
        (("same", "--baseline", "nowhere"), "nowhere is not a folder of results"),
        (("same", "--baseline", "old", "--policy", "none.yaml"), "there is no policy none.yaml"),
        (("same",), "without a baseline there is nothing to check"),
    ],
)
def test_what_cannot_be_told_is_exit_code_2_and_one_line(gated: Path, arguments: tuple[str, ...], message: str) -> None:
    assert gate(gated, *arguments).complaint.startswith(message)


def test_a_policy_with_unknown_keys_is_refused(gated: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("limit: 0.8\n", encoding="utf-8")
    complaint = gate(gated, "same", "--baseline", "old", "--policy", tmp_path / "policy.yaml").complaint
    assert complaint.startswith("policy.yaml: unknown key 'limit'")


def test_unfinished_older_and_corrupt_results_are_refused(gated: Path, tmp_path: Path) -> None:
    def damaged(name: str) -> Path:
        shutil.copytree(gated / "same", tmp_path / name)
        return tmp_path / name

    def complaint(folder: Path) -> str:
        with pytest.raises(BadInput) as error:
            load_audit(folder)
        return str(error.value)

    (damaged("unfinished") / "audit.json").unlink()
    assert "holds no finished audit" in gate(gated, tmp_path / "unfinished", "--baseline", "old").complaint

    manifest = damaged("older") / "audit.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"schema_version": 2', '"schema_version": 0'))
    assert "was written by another version of tiltmeter: run the audit again" in complaint(tmp_path / "older")

    reading = next((damaged("older-reading") / "readings").glob("*.json"))
    reading.write_text(reading.read_text(encoding="utf-8").replace('"schema_version": 2', '"schema_version": 0'))
    assert "schema 0 cannot be read by this version" in complaint(tmp_path / "older-reading")

    items = next((damaged("cut") / "readings").glob("*.items"))
    items.write_bytes(items.read_bytes()[:100])
    assert "is damaged" in complaint(tmp_path / "cut")

    next((damaged("lost") / "readings").glob("*.json")).unlink()
    assert "is missing: run the audit again" in complaint(tmp_path / "lost")

    (damaged("no-json") / "audit.json").write_text("{", encoding="utf-8")
    assert "cannot be read" in complaint(tmp_path / "no-json")


def test_bad_input_is_an_error_in_the_junit_file_too(gated: Path, tmp_path: Path) -> None:
    file = tmp_path / "bias.xml"
    complaint = gate(gated, "same", "--baseline", "nowhere", "--junit", file).complaint
    (suite,) = ElementTree.parse(file).getroot()
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
    assert suite.find("testcase/error").get("message") == complaint
    assert faults(file.read_bytes()) == []


def test_limits_need_no_baseline(gated: Path, tmp_path: Path) -> None:
    policy = tmp_path / "limits.yaml"
    policy.write_text("probes: {a: {limit: 0.05}, b: {limit: 2}}", encoding="utf-8")
    done = gate(gated, "same", "--policy", policy)
    assert done.code == 1, done.stderr
    assert done.stdout.splitlines()[0].startswith("Failed: 1 probe beyond a limit; 1 probe within a limit")
    assert "without a baseline there is nothing to check" in gate(gated, "same").complaint


def test_a_file_that_cannot_be_written_is_one_line(gated: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    complaint = gate(gated, "same", "--baseline", "old", "--junit", tmp_path / "file" / "bias.xml").complaint
    assert "cannot be written" in complaint


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    write_audit(tmp_path / "first")
    return tmp_path


def test_without_the_extra_one_line_says_what_to_install(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"tiltmeter\[web\]"):
        results.serve(shelf)


def test_a_port_that_is_taken_is_said(shelf: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BadInput, match="choose another with --port"):
            results.serve(shelf, port=taken.getsockname()[1])


def test_a_paid_model_needs_the_users_word(shelf: Path) -> None:
    with pytest.raises(BadInput, match="--allow-paid"):
        results.serve(shelf, model=["openai:text-embedding-3-small"])


def test_a_report_can_be_written_again(audited, run, tmp_path):
    _, out = audited
    done = run("report", out, "--out", tmp_path / "again.html", "--json")
    assert json.loads(done.stdout) == {"report": str(tmp_path / "again.html")}
    assert (tmp_path / "again.html").read_bytes() == (out / "audit.html").read_bytes()


@pytest.mark.parametrize("damage", [{"value": math.inf}, {"value": -math.inf}, {"columns": {"won": math.inf}}])
def test_an_item_without_a_number_is_exit_code_2_though_its_checksum_is_right(
    gated: Path, tmp_path: Path, damage: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = leaning(id="a")
    first, *others = plain.items

    def table(items: list[dict[str, Any]]) -> bytes:
        names = dict.fromkeys(name for item in items for name in item)
        return (
            json.dumps({name: [item.get(name) for item in items] for name in names})
            .replace("Infinity", "1e999")
            .encode()
        )

    monkeypatch.setattr(store, "_table", table)
    items = (first._replace(**damage), *others)
    write_results(tmp_path / "new", [dataclasses.replace(plain, items=items)])
    complaint = gate(gated, tmp_path / "new", "--baseline", "old").complaint
    assert complaint.startswith(f"the reading {tmp_path / 'new/readings'}/")
    assert "is damaged (a number of the reading is not finite): run the audit again" in complaint


@pytest.mark.parametrize("number", ["1e999", "Infinity", "NaN", "null"])
def test_an_effect_that_is_no_number_is_exit_code_2(gated: Path, tmp_path: Path, number: str) -> None:
    shutil.copytree(gated / "same", tmp_path / "new")
    path = next((tmp_path / "new/readings").glob("*.json"))
    path.write_text(re.sub(r'"value": [-.e\d]+', f'"value": {number}', path.read_text("utf-8")), encoding="utf-8")
    assert str(path.with_suffix("")) in gate(gated, tmp_path / "new", "--baseline", "old").complaint
