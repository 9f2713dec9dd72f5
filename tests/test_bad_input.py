"""Whatever a user gets wrong is one line that says what is wrong and what to do, and exit code 2.

Every case is the real command in a process of its own.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command import COMMAND, Outcome, environment, heed_permissions, tiltmeter
from tests.models.provider import refused_url, vector_of

HE, SHE, WORK, HOME = ["he", "him", "his"], ["she", "her", "hers"], ["job", "office"], ["home", "family"]
WORDS = [*HE, *SHE, *WORK, *HOME]
LEXICON = """
name: mine
language: en
groups:
  he: {words: [he, him, his]}
  again: {words: [his, him, he]}
  she: {words: [she, her, hers]}
  work: {words: [job, office]}
  home: {words: [home, family]}
  foreign: {words: [xyzzy, plugh]}
"""
#: A probe that works, in arguments; cases change one thing.
WEAT = ["--targets", "mine.yaml.he,mine.yaml.she", "--attributes", "mine.yaml.work,mine.yaml.home"]


def rows(*changed: str) -> str:
    """A file of word vectors in which some rows are written otherwise."""
    lines = {word: f"{word} {' '.join(f'{number:.4f}' for number in vector_of(word, 4))}" for word in WORDS}
    return "\n".join({**lines, **{line.split()[0]: line for line in changed}}.values()) + "\n"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder a user works in."""
    folder = tmp_path_factory.mktemp("work")
    files = {
        "good.vec": rows(),
        "nan.vec": rows("job 1 nan 1 1"),
        "zero.vec": rows("job 0 0 0 0"),
        "ragged.vec": rows("job 1 2 3"),
        "promises.vec": "11 4\n" + rows(),
        "empty.vec": "",
        "mine.yaml": LEXICON,
        "broken.yaml": "name: mine\nlanguage: en\ngroups:\n  he: {words: [he, him\n  she: x\n",
        "none.yaml": "name: mine\nlanguage: en\ngroups:\n  he: {words: []}\n",
        "suite.yaml": "name: s\nprobes:\n  - {probe: waet}\n",
        "key.yaml": "name: s\nprobes:\n  - {probe: weat, target: [gender.male_terms]}\n",
        "fits.yaml": "name: s\nprobes:\n  - {id: a, probe: weat, targets: [mine.yaml.he, mine.yaml.she], "
        "attributes: [mine.yaml.work, mine.yaml.home]}\n",
        "a_file": "",
    }
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "utf16.vec").write_text(rows(), encoding="utf-16")
    (folder / "utf16.yaml").write_text(LEXICON, encoding="utf-16")
    (folder / "cut.vec.gz").write_bytes(gzip.compress(rows().encode())[:-20])
    (folder / "empty_folder").mkdir()
    return folder


@pytest.fixture
def run(here: Path, tmp_path: Path) -> Callable[..., Outcome]:
    def run(
        *arguments: str, fresh: bool = False, prepare: Callable[[], None] | None = None, **variables: str
    ) -> Outcome:
        env = environment(Path(variables.pop("cache", tmp_path / "cache")), **variables)
        return tiltmeter(*arguments, env=env, folder=here, fresh=fresh, prepare=prepare)

    return run


CASES: list[tuple[list[str], str]] = [
    # Names
    (["audti"], "No such command 'audti'. Did you mean 'audit'?"),
    (["audit", "--sute", "weat"], "unknown option '--sute': did you mean '--suite'?"),
    (["audit", "static:good.vec", "--suite"], "Option '--suite' requires an argument"),
    (["probe", "weat"], "Missing argument 'model'. (see tiltmeter probe --help)"),
    (["suites", "more"], "Got unexpected extra argument(s) (more)"),
    (["audit", "opnai:x"], "unknown kind of model 'opnai': did you mean 'openai'?"),
    (["audit", "good.vec"], "for this file write static:good.vec"),
    (["audit", "bundled:glov"], "unknown bundled model 'glov': did you mean 'glove'?"),
    (["audit", "static:good.vec", "--suite", "weta"], "unknown suite 'weta': did you mean 'weat'?"),
    (["audit", "static:good.vec", "--suite", "gone.yaml"], "no file gone.yaml: check the path"),
    (["lexicons", "gendr"], "unknown lexicon 'gendr': did you mean 'gender'?"),
    (["lexicons", "gender.male_term"], "unknown group of gender 'male_term': did you mean 'male_terms'?"),
    (["probe", "waet", "static:good.vec"], "unknown probe 'waet': did you mean 'weat'?"),
    (["probe", "weat", "static:good.vec", "--targets", "mine.yaml.he"], "weat needs 2 targets, but got 1"),
    (
        ["probe", "weat", "static:good.vec", "--targets", "he,she"],
        "'he' is not an address of a group: write lexicon.name",
    ),
    (["probe", "seat", "static:good.vec", "--from", "gone.jsonl"], "gone.jsonl"),
    (["probe", "association", "static:good.vec", "--from", "empty_folder"], "no target_words_*.txt in empty_folder"),
    (["audit", "static:good.vec?kase=lower"], "unknown option of static models 'kase': did you mean 'case'?"),
    (["cache", "--model", "gone"], "unknown model in the cache 'gone'"),
    (["audit", "x" * 5000], "is longer than any file can be called: check the name"),
    (["audit", f"static:{'x' * 300}"], "is longer than any file can be called: check the name"),
    (["report", "x/" * 3000], "a given name is too long for a file name"),
    (["compare", "x" * 5000, "y"], "is longer than any file can be called: check the name"),
    (["audit", "static:good.vec", "--suite", f"{'x' * 5000}.yaml"], "File name too long"),
    (["mine", "x" * 5000, "--lexicon", "gender", "--out", "mined"], "a given name is too long for a file name"),
    # Numbers and words of options
    (["audit", "static:good.vec", "--permutations", "-5"], "permutations must be at least 1, not -5"),
    (["audit", "static:good.vec", "--permutations", "many"], "Invalid value for '--permutations'"),
    (["audit", "static:good.vec", "--seed", "-1"], "the seed must be 0 or more, not -1"),
    (["probe", "weat", "static:good.vec", "--alternative", "geater"], "unknown alternative 'geater': did you mean"),
    (["audit", "static:good.vec", "--budget", "lots"], "cannot read the budget 'lots': write e.g. '100k tokens'"),
    (["audit", "openai:text-embedding-3-small"], "no key for openai: set the environment variable OPENAI_API_KEY"),
    # Files of words
    (["lexicons", "none.yaml"], "none.yaml: group 'he': no words in it: add some or remove the group"),
    (["lexicons", "broken.yaml"], "broken.yaml: line 5: broken YAML"),
    (["lexicons", "utf16.yaml"], "utf16.yaml: not UTF-8 at byte 0: save the file as UTF-8"),
    (["audit", "static:good.vec", "--suite", "broken.yaml"], "broken.yaml: line 5: broken YAML"),
    (["audit", "static:good.vec", "--suite", "suite.yaml"], "unknown probe 'waet': did you mean 'weat'?"),
    (
        ["audit", "static:good.vec", "--suite", "key.yaml"],
        "key.yaml: entry 1: unknown option of weat 'target': did you mean 'targets'?",
    ),
    (
        ["probe", "weat", "static:good.vec", "--targets", "mine.yaml.he,mine.yaml.again"],
        "'mine.he' and 'mine.again' hold the same words: give two different groups",
    ),
    (
        ["probe", "weat", "static:good.vec", *WEAT[:2], "--attributes", "mine.yaml.work,mine.yaml.foreign"],
        "'foreign': none of its 2 words is in the vocabulary of static:good.vec",
    ),
    (
        ["audit", "static:good.vec", "--suite", "weat"],
        "nothing could be measured: static:good.vec, weat10: 'young people's names': none of its 8 words is in",
    ),
    (["probe", "seat", "static:good.vec"], "seat needs vectors of texts: static:good.vec does not give that"),
    # Files of vectors
    (["probe", "weat", "static:gone.vec"], "gone.vec: no such file"),
    (["probe", "weat", "static:empty.vec"], "empty.vec: is empty"),
    (["probe", "weat", "static:utf16.vec", *WEAT], "utf16.vec: is UTF-16 or binary, not UTF-8 text; save it as UTF-8"),
    (["probe", "weat", "static:ragged.vec", *WEAT], "ragged.vec, line 7 ('job'): has 3 values instead of 4"),
    (["probe", "weat", "static:nan.vec", *WEAT], "nan.vec, line 7 ('job'): the vector holds NaN or infinity"),
    (["probe", "weat", "static:zero.vec", *WEAT], "zero.vec, line 7 ('job'): the vector is all zero"),
    (["probe", "weat", "static:cut.vec.gz", *WEAT], "cut.vec.gz: the compressed data end too early; download"),
    (
        ["audit", "static:promises.vec", "--suite", "weat"],
        "promises.vec: the first line promises 11 words, the file holds 10; download it again",
    ),
    # Folders of results
    (["report", "empty_folder"], "empty_folder holds no finished audit (audit.json is missing): run tiltmeter audit"),
    (["report", "gone"], "gone holds no finished audit (audit.json is missing): run tiltmeter audit"),
    (["audit", "static:good.vec", "--out", "a_file/sub"], "a_file/sub cannot be written (Not a directory): free some"),
    (["audit", "static:good.vec", "--out", "a_file"], "a_file cannot be written (File exists)"),
]
#: One case of every command is run by a Python of its own.
FRESH = {arguments[0]: arguments for arguments, _ in reversed(CASES)}


@pytest.mark.parametrize(("arguments", "complaint"), CASES, ids=[" ".join(case[0])[:60] for case in CASES])
def test_a_mistake_is_one_line_that_says_what_is_wrong(
    run: Callable[..., Outcome], arguments: list[str], complaint: str
) -> None:
    outcome = run(*arguments, fresh=FRESH[arguments[0]] is arguments)
    assert complaint in outcome.complaint
    assert outcome.stdout == ""


# A hub that cannot be reached


@contextlib.contextmanager
def black_hole() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=20) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_hub_that_refuses_or_never_answers_is_given_up_soon(run: Callable[..., Outcome]) -> None:
    audit = ("audit", "hf:no/such-model", "--out", "o")
    refused = run(*audit, fresh=True, HF_ENDPOINT=refused_url().removesuffix("/v1"))
    started = time.monotonic()
    with black_hole() as address:
        silent = run(*audit, fresh=True, HF_ENDPOINT=address)
    assert time.monotonic() - started < 20
    for outcome in (refused, silent):
        assert "cannot load 'hf:no/such-model': no such folder, and the hub could not be reached" in outcome.complaint
        assert "give the path of a local copy" in outcome.complaint


# Results that are damaged


@pytest.fixture(scope="module")
def finished(here: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished audit."""
    out = tmp_path_factory.mktemp("finished")
    env = environment(tmp_path_factory.mktemp("cache"))
    done = tiltmeter("audit", "static:good.vec", "--suite", "fits.yaml", "--out", out, env=env, folder=here, fresh=True)
    assert done.code == 0, done.stderr
    return out


def test_damaged_results_are_one_line_that_names_the_file(
    run: Callable[..., Outcome], finished: Path, tmp_path: Path
) -> None:
    manifest = (finished / "audit.json").read_bytes()
    whole = next(finished.glob("readings/*.json")).read_bytes()
    damages: list[tuple[str, bytes | None, str]] = [
        ("audit.json", manifest[: len(manifest) // 2], "cannot be read"),
        ("audit.json", b"[]", "cannot be read (no JSON object)"),
        ("audit.json", b'{"schema_version": 1, "readings": []}', "is damaged ('suite')"),
        ("audit.json", b'{"schema_version": 9}', "was written by another version of tiltmeter"),
        ("audit.json", b"\xff\xfe\x00", "cannot be read"),
        ("readings/*.json", whole[: len(whole) // 2], "cannot be read"),
        ("readings/*.json", b'{"schema_version": 1}', "is damaged ('probe')"),
        ("readings/*.json", None, "is missing"),
        ("readings/*.items", b"{}", "is damaged"),
        ("readings/*.items", None, "is missing"),
    ]
    for number, (pattern, content, complaint) in enumerate(damages):
        folder = tmp_path / str(number)
        shutil.copytree(finished, folder)
        (file,) = folder.glob(pattern)
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        found = run("report", str(folder)).complaint
        assert complaint in found
        assert str(file.with_suffix("") if "readings" in pattern else file) in found
        assert found.endswith("run the audit again")


# Places that cannot be written


def test_a_read_only_folder_is_one_line(run: Callable[..., Outcome], tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    arguments = ["audit", "static:good.vec", "--suite", "fits.yaml", "--out"]
    out = run(*arguments, str(locked / "out"), prepare=heed_permissions)
    assert f"{locked / 'out'} cannot be written (Permission denied): free some space or choose" in out.complaint
    cache = run(*arguments, str(tmp_path / "out"), prepare=heed_permissions, cache=str(locked / "cache"))
    assert f"the cache folder {locked / 'cache'} cannot be made (Permission denied): set TILTMETER" in cache.complaint


def test_results_may_go_to_a_folder_whose_name_is_no_utf8(run: Callable[..., Outcome], tmp_path: Path) -> None:
    out = os.fsdecode(bytes(tmp_path) + b"/caf\xe9")
    assert run("audit", "static:good.vec", "--suite", "fits.yaml", "--out", out, fresh=True).code == 0
    assert run("report", out, fresh=True).code == 0


def at_most(size: int) -> Callable[[], None]:
    """No file may grow beyond this: writing more fails as on a full disk (Python ignores the signal)."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


AUDIT = ("audit", "static:good.vec", "--suite", "fits.yaml", "--out")


@pytest.mark.parametrize("limit", [500, 1000])
def test_readings_that_cannot_be_written_whole_are_not_there_at_all(
    run: Callable[..., Outcome], tmp_path: Path, limit: int
) -> None:
    out = tmp_path / "out"
    complaint = run(*AUDIT, str(out), "--no-cache", prepare=at_most(limit)).complaint
    assert "cannot be written (File too large): free some space or choose another folder with --out" in complaint
    assert [path.name for path in out.rglob("*") if path.is_file()] == [".lock"]


def test_a_cache_that_cannot_grow_is_one_line_and_works_again_when_it_can(
    run: Callable[..., Outcome], tmp_path: Path
) -> None:
    out = str(tmp_path / "out")
    complaint = run(*AUDIT, out, prepare=at_most(20_000)).complaint
    assert "vectors.sqlite cannot be used (disk I/O error): free some space or make it writable" in complaint
    again = run(*AUDIT, out)
    assert again.code == 0
    assert "10 inputs sent to models, 0 from the cache." in again.stdout


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """A disk of so many KB; needs the right to mount one."""
    made: list[Path] = []

    def mount(size: int) -> Path:
        disk = tmp_path / f"disk{len(made)}"
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(disk)]
        if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("a small disk cannot be mounted here; the limit on the size of files is tested instead")
        made.append(disk)
        return disk

    yield mount
    for disk in made:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_one_line_and_nothing_half_written(
    run: Callable[..., Outcome], tiny_disk: Callable[[int], Path], tmp_path: Path
) -> None:
    results = tiny_disk(8)
    (results / "ballast").write_bytes(bytes(4096))
    complaint = run(*AUDIT, str(results)).complaint
    assert "cannot be written (No space left on device): free some space or choose another folder" in complaint
    assert not list(results.rglob("*.part"))
    assert not list(results.rglob("*.json"))
    cache = tiny_disk(48)
    complaint = run(*AUDIT, str(tmp_path / "out"), cache=str(cache)).complaint
    assert f"the cache {cache / 'vectors.sqlite'} cannot be used (" in complaint
    assert "free some space" in complaint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    for command in (["suites"], ["suites", "--json"], ["--version"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*COMMAND, *command],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                env=environment(tmp_path),
            )
        assert done.returncode == 2
        assert done.stderr == "error: the output cannot be written (No space left on device): free some space\n"


def test_output_in_another_encoding_escapes_what_it_cannot_show(run: Callable[..., Outcome]) -> None:
    outcome = run("probe", "weat", "static:good.vec", *WEAT, fresh=True, PYTHONIOENCODING="ascii")
    assert outcome.code == 0
    assert outcome.stdout.isascii()
    assert "\\xd7" in outcome.stdout


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            "sh",
            "-c",
            f"'{sys.executable}' -c 'from tiltmeter.cli.app import main; main()' lexicons --json | head -c 10",
        ],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert len(done.stdout) == 10
