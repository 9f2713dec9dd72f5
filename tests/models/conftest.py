"""Tiny language models, made when a test asks for them and shared by all."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from tiltmeter.models.transformers.hub import TransformerModel


@pytest.fixture(scope="session")
def tiny_lm(tmp_path_factory) -> Callable[[str], TransformerModel]:
    """A tiny language model by its family."""
    from tests.models.tiny_language_models import save_tiny

    root = tmp_path_factory.mktemp("tiny-language")
    return functools.cache(lambda family: TransformerModel(str(save_tiny(family, root / family))))
