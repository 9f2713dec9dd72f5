"""Bad input through the real command: one clear line that says what is wrong and what to do, and exit code 2."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .command import environment, needs_sample, tiltmeter

PRONOUNS = ("--targets", "gender.male_pronouns,gender.female_pronouns")
VECTORS = "he 1 2 3\nhim 1 2 2\nhis 2 2 3\nshe 3 2 1\nher 3 2 2\nhers 3 1 1\ncareer 1 1 3\nhome 3 1 2\n"
LEXICON = """\
name: mine
language: en
licence: MIT
citation: none
notes: none
groups:
  a: {label: men, words: [he, him, his]}
  same: {label: also men, words: [he, him, his]}
  odd: {label: odd words, words: [qqqzz, zzzqq, xxqqz]}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "good.vec").write_text(VECTORS, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(LEXICON, encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(
        "name: s\ndescription: d\nprobes:\n  - {id: p, probe: weat, targets: [gender.male_pronouns, "
        "gender.female_pronouns], attributes: [attributes.career, attributes.family]}\n",
        encoding="utf-8",
    )
    return tmp_path


def complaint(here: Path, *arguments: str, **more: str) -> str:
    return tiltmeter(*arguments, env=environment(here / "cache", **more), folder=here).complaint


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("audit", "bundld:glove"), "did you mean 'bundled'?"),
        (("audit", "bundled:glov"), "did you mean 'glove'?"),
        (("audit", "good.vec"), "write static:good.vec"),
        (("audit", "static:nowhere.vec"), "no such file"),
        (("audit", "static:good.vec", "--suite", "defualt"), "did you mean 'default'?"),
        (("audit", "static:good.vec", "--suite", "nowhere.yaml"), "nowhere.yaml"),
        (("audit", "static:good.vec?cas=lower"), "did you mean 'case'?"),
        (("audit", "static:good.vec", "--siute", "weat"), "did you mean '--suite'?"),
        (("audit", "static:good.vec", "--budget", "much"), "budget"),
        (("adit",), "audit"),
        (("lexicons", "gendr"), "did you mean 'gender'?"),
        (("probe", "waet", "static:good.vec"), "did you mean 'weat'?"),
        (("probe", "weat", "static:good.vec", "--targets", "gender.male_term,gender.female_terms"), "'male_terms'?"),
        (("probe", "weat", "static:good.vec", "--targets", "gender.male_terms"), "needs 2 targets"),
        (("probe", "weat", "static:good.vec", *PRONOUNS, "--alternative", "grater"), "did you mean 'greater'?"),
        (("probe", "weat", "static:good.vec", *PRONOUNS, "--permutations", "-1"), "permutations must be at least 1"),
        (("probe", "weat", "static:good.vec", *PRONOUNS, "--seed", "x"), "--seed"),
        (("probe", "weat", "static:good.vec", "--targets", "mine.yaml.a,mine.yaml.same"), "hold the same words"),
        (("probe", "weat", "static:good.vec", "--targets", "mine.yaml.odd,mine.yaml.a"), "none of its 3 words"),
        (("probe", "seat", "static:good.vec"), "needs vectors of texts"),
        (("report", "."), "run tiltmeter audit"),
        (("cache", "--model", "nobody"), "unknown model in the cache"),
    ],
)
def test_a_mistake_is_one_clear_line(here: Path, arguments: tuple[str, ...], says: str) -> None:
    assert says in complaint(here, *arguments)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (VECTORS.encode("utf-16"), "UTF-8"),
        (VECTORS.replace("him 1 2 2", "him 1 2").encode(), "line 2 ('him')"),
        (VECTORS.replace("him 1 2 2", "him 1 nan 2").encode(), "NaN"),
        (VECTORS.replace("him 1 2 2", "him 0 0 0").encode(), "no direction"),
        (VECTORS.replace("him 1 2 2", "him 1 two 2").encode(), "'him'"),
        (b"", "is empty"),
    ],
)
def test_vectors_that_cannot_be_used_are_named(here: Path, content: bytes, says: str) -> None:
    (here / "bad.vec").write_bytes(content)
    line = complaint(here, "probe", "weat", "static:bad.vec", *PRONOUNS)
    assert says in line
    assert "bad.vec" in line


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (LEXICON.replace("[he, him, his]}\n  same", "[]}\n  same"), "'a'"),
        (LEXICON.replace("words: [qqqzz", "words: [qqqzz, {"), "line 9"),
        (LEXICON + "wrods: 1\n", "wrods"),
        (LEXICON.replace("[qqqzz, zzzqq, xxqqz]", "[he, He, him]"), "'odd'"),
    ],
)
def test_a_lexicon_that_cannot_be_used_is_named(here: Path, content: str, says: str) -> None:
    (here / "mine.yaml").write_text(content, encoding="utf-8")
    line = complaint(here, "lexicons", "mine.yaml")
    assert says in line
    assert "mine.yaml" in line


def test_a_hub_that_cannot_be_reached_is_one_clear_line(here: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra hf")
    # An address on this machine where nobody listens stands for a hub that is down.
    line = complaint(here, "audit", "hf:no/such-model", HF_ENDPOINT="http://127.0.0.1:9")
    assert "cannot load 'hf:no/such-model'" in line
    assert "local" in line


def test_a_missing_key_names_the_variable(here: Path) -> None:
    pytest.importorskip("openai", reason="needs the extra api")
    assert "OPENAI_API_KEY" in complaint(here, "audit", "openai:text-embedding-3-small", "--suite", "suite.yaml")


def test_a_folder_that_cannot_be_written_is_found_before_anything_is_measured(here: Path) -> None:
    (here / "file").write_text("", encoding="utf-8")
    line = complaint(here, "audit", "static:good.vec", "--suite", "suite.yaml", "--out", "file/sub")
    assert "cannot be written" in line
    assert not (here / "cache" / "vectors.sqlite").exists()


def test_a_damaged_audit_is_named(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out" / "audit.json").write_text('{"schema_version": 1, "suite"', encoding="utf-8")
    assert "audit.json" in complaint(here, "report", "out")


def _small_files_only() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))


def test_a_file_that_cannot_grow_is_one_clear_line_and_no_part_of_it_stays(here: Path) -> None:
    env = environment(here / "cache")
    ended = tiltmeter(
        "audit",
        "static:good.vec",
        "--suite",
        "suite.yaml",
        "--no-cache",
        env=env,
        folder=here,
        prepare=_small_files_only,
    )
    assert "cannot be written" in ended.complaint
    assert not list((here / "tiltmeter-results").rglob("*.part"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("a small disk cannot be mounted here: it needs root")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(os.name != "posix", reason="mounts a file system")
def test_a_full_disk_is_one_clear_line_and_what_was_measured_stays(here: Path, small_disk: Path) -> None:
    needs_sample("glove")
    line = complaint(here, "audit", "bundled:glove", "--out", str(small_disk / "out"))
    assert "No space left on device" in line
    written = list((small_disk / "out" / "readings").glob("*.json"))
    assert written
    assert not list((small_disk / "out").rglob("*.part"))
