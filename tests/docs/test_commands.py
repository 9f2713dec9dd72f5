"""Every command in the README and the docs runs as it is written, in a folder that holds what it names.

Models of other people, paid ones and large ones give way to small ones of the same kind; nothing else of a command is
changed, but that some get options that make them quick.
"""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from tests.command import Outcome, environment, needs_sample, tiltmeter
from tests.mined_folder import GROUPS, write_mined
from tests.models.provider import LoopbackProvider
from tests.models.tiny_language_models import save_tiny
from tests.reference import reference_model

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_YAML = re.compile(r'^```yaml title="([^"]+)"\n(.*?)^```', re.DOTALL | re.MULTILINE)

#: Models that are too large for a test, or not ours, by small ones of their kind.
STAND_INS = {
    "bundled:smollm2": "hf:./tiny-causal",
    "gguf:model.Q4_K_M.gguf": "hf:./tiny-causal",
    "hf:my-bangla-model": "hf:./tiny-masked",
    "hf:my-model": "hf:./my-model",
    "hf:bert-base-uncased": "hf:./my-model",
}
#: Commands that ask a model so often that a small one must do.
THOROUGH = ("baseline", "mitigate", "lab")
#: What makes a command quick, by its beginning.
QUICKLY = {
    "audit": "--suite quick.yaml --permutations 99",
    "baseline": "--suite quick.yaml --jitter 3",
    "mitigate": "--suite quick.yaml --permutations 99",
    "samples": "--dry-run",
}
#: Commands of other programs, which are not ours to run; what they name of ours is checked below.
OTHERS = ("make", "pip", "ray", "docker", "git", "uv")
#: The options of a cluster, which is not started here (tests/models/test_engines.py and others start one).
_CLUSTER = re.compile(r" --engine ray| --ray-address \S+| --workers \d+| --gpus-per-model \d+")
_PYTHON = re.compile(r"^```python title=\"tilt_length.py\"\n(.*?)^```", re.DOTALL | re.MULTILINE)
#: Commands that stay until they are stopped.
SERVERS = ("serve",)


def commands(page: Path) -> list[str]:
    """The lines with a prompt in its blocks, without comments."""
    blocks = _CONSOLE.findall(page.read_text(encoding="utf-8"))
    lines = (line for block in blocks for line in block.replace("\\\n", "").splitlines() if line.startswith("$ "))
    return [" ".join(shlex.quote(part) for part in shlex.split(line[2:], comments=True)) for line in lines]


def ours(page: Path) -> list[list[str]]:
    return [words[1:] for words in map(shlex.split, commands(page)) if words[0] == "tiltmeter"]


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as provider:
        yield provider


QUICK = """
name: quick
probes:
  - {probe: weat, targets: [gender.male_terms, gender.female_terms], attributes: [attributes.career, attributes.family]}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small audit, for commands that look at one."""
    needs_sample("glove")
    folder = tmp_path_factory.mktemp("audit")
    (folder / "quick.yaml").write_text(QUICK, encoding="utf-8")
    words = ["audit", "bundled:glove", "--suite", "quick.yaml", "--out", "results"]
    assert tiltmeter(*words, env=environment(folder / "cache"), folder=folder).code == 0
    return folder / "results"


@pytest.fixture
def desk(tmp_path: Path, results: Path) -> Path:
    """A folder with everything that the docs name."""
    for name in ("results", "results-v1", "results-v2", "results-main", "v1", "v2"):
        shutil.copytree(results, tmp_path / name)
    (tmp_path / "quick.yaml").write_text(QUICK, encoding="utf-8")
    (tmp_path / "limits.yaml").write_text("probes: {weat: {limit: 2.0}}\n", encoding="utf-8")
    for name in ("my-encoder", "my-model", "model-v1"):
        shutil.copytree(reference_model(0.9), tmp_path / name)
    save_tiny("roberta", tmp_path / "tiny-masked", max_position_embeddings=514)
    save_tiny("gpt2", tmp_path / "tiny-causal", n_positions=512)
    for page in PAGES:
        for name, text in _YAML.findall(page.read_text(encoding="utf-8")):
            (tmp_path / name).write_text(text, encoding="utf-8")
    words = sorted({word for group in GROUPS.values() for word in group})
    rows = [f"{word} {' '.join(str((hash_of(word) >> 4 * n) % 16 - 7.5) for n in range(8))}" for word in words]
    (tmp_path / "glove.840B.300d.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    told = "In week {n} the office called about the {what}, and {word} answered {how} to her nurse and his plumber, "
    told += "as everybody in the long street by the river beyond the old mill had come to expect over many years.\n"
    ways = [("bridge", "at once"), ("roof", "slowly"), ("garden", "in writing"), ("boat", "with a smile")]
    everyone = (told.format(n=n, what=what, how=how, word=word) for n, word in enumerate(words) for what, how in ways)
    text = "".join(everyone)
    for name in ("news.txt", "my_corpus.txt", "my-text.txt"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "my_corpus.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "news.txt.zst").write_bytes(zstandard.ZstdCompressor().compress(text.encode()))
    write_mined(tmp_path / "mined")
    # What pip would do with the package of the page on plug-ins.
    plug_in = (ROOT / "docs" / "how-to" / "plug-in.md").read_text(encoding="utf-8")
    (tmp_path / "tilt_length.py").write_text(_PYTHON.findall(plug_in)[0], encoding="utf-8")
    information = tmp_path / "tilt_length-0.1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: tilt-length\nVersion: 0.1\n", encoding="utf-8")
    (information / "entry_points.txt").write_text("[tiltmeter.probes]\nlength = tilt_length:LENGTH\n", encoding="utf-8")
    return tmp_path


def hash_of(word: str) -> int:
    return int.from_bytes(word.encode()[:8].ljust(8, b"x"), "big")


def run(words: list[str], desk: Path, server: LoopbackProvider) -> Outcome:
    """One command, with stand-ins for what cannot be asked here."""
    paid = re.compile(r"openai:([\w.-]+)(\?base_url=\S+)?$")
    small = {**STAND_INS, **({"bundled:minilm": "hf:./my-encoder"} if words[0] in THOROUGH else {})}
    here = shlex.split(_CLUSTER.sub("", shlex.join(words)))
    there = [small.get(word, paid.sub(rf"openai:\1?base_url={server.base_url('openai')}", word)) for word in here]
    more = [] if "--suite" in words else shlex.split(QUICKLY.get(words[0], ""))
    outside = {**environment(desk / "cache"), "PYTHONPATH": str(desk)}
    return tiltmeter(*there, *more, env=outside, folder=desk, timeout=600, fresh="length" in words)


@pytest.mark.parametrize("page", [page for page in PAGES if ours(page)], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, desk: Path, server: LoopbackProvider) -> None:
    for words in ours(page):
        if words[0] in SERVERS:
            continue
        outcome = run(words, desk, server)
        # A gate may fail: that is what it is for.
        assert outcome.code in ((0, 1) if words[0] == "check" else (0,)), (words, outcome.stdout, outcome.stderr)


def test_what_other_programs_are_told_of_us_is_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    seen = [shlex.split(command) for page in PAGES for command in commands(page)]
    strange = [words for words in seen if words[0] not in ("tiltmeter", *OTHERS) and "=" not in words[0]]
    assert strange == []
    for words in seen:
        if words[0] == "make":
            assert set(words[1:]) <= set(targets), words
        for named in re.findall(r"tiltmeter\[([\w,]+)\]", " ".join(words)):
            assert set(named.split(",")) <= set(extras), words
