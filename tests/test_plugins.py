"""Probes and kinds of models that another package brings: found, run as ours are, and refused in one line if broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import environment, tiltmeter
from tiltmeter.errors import BadInput
from tiltmeter.plugins import Registry

CODE = """
from tiltmeter.models import ModelKind
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import OF_VECTORS, Kind, Measured, Part
from tiltmeter.readings import DIFFERENCE, Estimate, Item, ItemMeaning, Statistic


def make(*, word="king", times: int = 1):
    return [Part("", f"length of {word}", (word, times), dimension="rank")]


def measure(stimuli, replies, options):
    (vector,) = replies.all(Question.WORDS)
    value = float(vector[0]) * stimuli[1]
    return Measured(
        Estimate("length", value, DIFFERENCE), None, f"{stimuli[0]} has length {value:g}.",
        (Item(stimuli[0], stimuli[0], "words", value),), ItemMeaning("length"), Statistic("mean"), 1, 1,
    )


LENGTH = Kind(
    "length", "How long is a word?", "us", "words should be short.", "vectors of words", make,
    lambda stimuli, can: {Question.WORDS: [stimuli[0]]} if can(Question.WORDS) else None, measure, OF_VECTORS,
)


class Letters:
    def __init__(self, name, times):
        self.name, self.times = name, times

    def embed_words(self, words):
        return [[float(len(word) * self.times), 1.0] for word in words]


def load(name, *, budget, times=1):
    return Letters(name, times)


LETTERS = ModelKind("counts letters", "letters:any?times=2", {"times": int}, load)


def several():
    return [LENGTH]
"""


def installed(folder: Path, entries: str, *, code: str = CODE, package: str = "tilt_more") -> Path:
    """What pip leaves behind when it installs a package: a module, and what it says of itself."""
    (folder / f"{package}.py").write_text(code, encoding="utf-8")
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.replace('_', '-')}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(entries, encoding="utf-8")
    return folder


ENTRIES = "[tiltmeter.probes]\nmore = tilt_more:several\n\n[tiltmeter.models]\nletters = tilt_more:LETTERS\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def run(folder: Path, *arguments: str):
    env = environment(folder)
    env["PYTHONPATH"] = f"{folder}:{env.get('PYTHONPATH', '')}"
    return tiltmeter(*arguments, env=env, folder=folder, fresh=True)


def test_an_installed_package_adds_a_probe_and_a_kind_of_model(tmp_path: Path) -> None:
    installed(tmp_path, ENTRIES)
    done = run(tmp_path, "probe", "length", "letters:any?times=3", "--option", "times=2", "--json")
    assert done.code == 0, done.stderr
    (reading,) = json.loads(done.stdout)
    assert (reading["effect"]["value"], reading["dimension"]) == (24.0, "rank")
    assert reading["about"]["idea"] == "words should be short."
    assert "length" in run(tmp_path, "probes").stdout
    assert "letters:any?times=2" in run(tmp_path, "models").stdout
    (tmp_path / "mine.yaml").write_text("probes:\n  - {id: long, probe: length, word: queen, times: 2}\n")
    audited = run(tmp_path, "audit", "letters:any", "--suite", "mine.yaml", "--out", "out", "--json")
    assert audited.code == 0, audited.stderr
    assert [row["value"] for row in json.loads(audited.stdout)["readings"]] == [10.0]


def test_options_of_another_packages_probe_are_checked_as_ours_are(tmp_path: Path) -> None:
    installed(tmp_path, ENTRIES)
    assert (
        "unknown option of length 'wrd': did you mean 'word'?"
        in run(tmp_path, "probe", "length", "letters:any", "--option", "wrd=queen").complaint
    )
    assert "unknown option of letters models 'tims'" in run(tmp_path, "probe", "length", "letters:any?tims=2").complaint
    assert "NAME=VALUE, not 'word'" in run(tmp_path, "probe", "length", "letters:any", "--option", "word").complaint


@pytest.mark.parametrize(
    ("entries", "code", "says"),
    [
        ("more = tilt_more:LENGTH", "import nothing_like_it\n", "cannot be loaded (ModuleNotFoundError: No module"),
        ("more = tilt_more:LENGHT", CODE, "cannot be loaded (AttributeError"),
        ("more = tilt_more:make", "def make():\n    return 3\n", "is a int, not a Kind: update or uninstall tilt-more"),
    ],
)
def test_a_broken_package_is_one_line_and_ours_still_work(
    entries: str, code: str, says: str, tmp_path: Path, here: Path
) -> None:
    installed(here, f"[tiltmeter.probes]\n{entries}\n", code=code)
    complaint = run(here, "probes").complaint
    assert says in complaint
    assert "'more' (tiltmeter.probes) of the package tilt-more" in complaint
    assert "unknown" not in run(here, "probe", "weat", f"static:{tmp_path / 'none.vec'}").complaint


def test_a_name_that_two_packages_give_is_an_error_that_names_both(here: Path) -> None:
    installed(here, "[tiltmeter.things]\none = json:loads\n", package="tilt_one", code="")
    installed(here, "[tiltmeter.things]\none = json:dumps\n", package="tilt_two", code="")
    things = Registry("tiltmeter.things", type(json.loads), {"ours": json.dump})
    assert things["ours"] is json.dump
    with pytest.raises(BadInput, match=r"packages tilt-(one|two) and tilt-(one|two) both give 'one'"):
        things.complete()
    ours = Registry("tiltmeter.things", type(json.loads), {"one": json.dump})
    with pytest.raises(BadInput, match=r"packages tiltmeter and tilt-(one|two) both give 'one'"):
        ours.complete()


def test_a_name_that_nobody_gives_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Registry("tiltmeter.nothing", int, {})["one"]
