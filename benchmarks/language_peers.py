"""Differential test against minicons: the same texts and models, every token. Run: python benchmarks/language_peers.py

minicons does not work with Transformers 5, so it gets an environment of its own, ``.venv-minicons``, made on the first
run (or the one that TILTMETER_MINICONS_VENV names). Exit code 1 where a log-probability differs. The causal model is
bundled:smollm2; the masked one is models/minilm-mlm beside the data sets, where it is there, and a reference model
otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.models.protocol import Span, TokenScores
from tiltmeter.models.registry import load_bundled
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.stimuli.sentences.cloze_sets import cloze_sets
from tiltmeter.stimuli.sentences.shipped import occupation_set, pair_set

ROOT = Path(__file__).resolve().parent.parent
#: A log-probability of a token may differ by so much.
TOLERANCE = 1e-4
#: Texts given to minicons at a time.
BATCH = 10
OWN = (
    "Wait -- is that hers, or his?",
    '"No," she said; "the café on Königstraße (the old one) is closed."',
    "Zoë's résumé mentions São Paulo, Kraków and Malmö.",
    "It cost 3,50 € in 2019 ... and 4.75 € now!",
    "The nurse e-mailed him at 9:30 p.m. about bed no. 12.",
    "Ее мать была инженером, а отец учителем.",
    "তিনি একজন শিক্ষক।",
    "Der Pfleger half der Ärztin über die Straße.",
    "她是一名工程师，他是一名护士。",
    "You're right: they've never met, haven't they?",
    "Two  spaces, a\ttab and a trailing dot .",
    "NASA hired her; IBM didn't.",
)


def main() -> None:
    if not python().exists():
        install()
    print(f"Largest differences between tiltmeter and minicons, a token (allowed: {TOLERANCE:g})")
    worst = 0.0
    with contextlib.ExitStack() as stack:
        for kind, model in models().items():
            folder = stack.enter_context(for_transformers_4(model))
            difference, tokens, texts = compare(kind, model, folder, sentences())
            print(f"{kind:<8}{model.name:<40}{texts:>6} texts{tokens:>8} tokens{difference:>12.1e}", flush=True)
            worst = max(worst, difference)
    if worst > TOLERANCE:
        sys.exit(f"tiltmeter and minicons differ by {worst:.1e}")


def python() -> Path:
    """The interpreter of the environment that holds minicons, whether or not it exists."""
    return Path(os.environ.get("TILTMETER_MINICONS_VENV", ROOT / ".venv-minicons"), "bin", "python")


def install() -> None:
    folder = python().parent.parent
    print(f"Setting up {folder.name} (a few minutes) ...", flush=True)
    venv.create(folder, with_pip=True)
    pip = [str(python()), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "torch", "transformers==4.57.6", "minicons==0.3.39"], check=True)


def models() -> dict[str, TransformerModel]:
    """The models to compare on, by their kind."""
    smollm2 = load_bundled("smollm2")
    assert isinstance(smollm2, TransformerModel)
    return {"causal": smollm2, "masked": masked_model()}


def masked_model() -> TransformerModel:
    data = os.environ.get("TILTMETER_DATA")
    folder = Path(data).resolve().parent / "models" / "minilm-mlm" if data else None
    if folder and folder.is_dir():
        return TransformerModel(str(folder), name="models/minilm-mlm")
    from tiltmeter.lab.reference.reference import ReferenceModel

    return ReferenceModel("tilt-0.9")


def sentences() -> list[str]:
    """One hundred texts of our own sets, and one hundred of public ones where they are there."""
    occupations = occupation_set().texts
    texts = [*cloze_sets()[0].texts[:30], *occupations[:: len(occupations) // 30][:30]]
    return [*texts, *pair_set("pairs_ja").texts[:28], *OWN, *public()]


def public() -> list[str]:
    from tiltmeter.errors import BadInput
    from tiltmeter.stimuli.datasets import find, load_crows_pairs, load_winobias

    try:
        pairs, pronouns = load_crows_pairs(find("crows_pairs")).texts, load_winobias(find("winobias")).texts
    except BadInput:  # not on this machine
        return []
    return [*pairs[::30][:50], *pronouns[::60][:50]]


@contextlib.contextmanager
def for_transformers_4(model: TransformerModel) -> Iterator[Path]:
    """A copy of a model's folder that Transformers 4 reads rightly: version 5 names some settings anew."""
    source = model._recipe.folder
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for file in source.iterdir():
            if file.suffix == ".safetensors":
                (folder / file.name).symlink_to(file.resolve())
            elif file.is_file():
                shutil.copy(file, folder)
        _rewrite(folder / "config.json", _config_4)
        _rewrite(folder / "tokenizer_config.json", _tokenizer_4)
        yield folder


def _rewrite(file: Path, change: Any) -> None:
    file.write_text(json.dumps(change(json.loads(file.read_text(encoding="utf-8")))), encoding="utf-8")


def _config_4(config: dict[str, Any]) -> dict[str, Any]:
    rope = config.pop("rope_parameters", None) or {}  # left in its new place, it would be silently left out
    return config | ({"rope_theta": rope["rope_theta"]} if "rope_theta" in rope else {})


def _tokenizer_4(config: dict[str, Any]) -> dict[str, Any]:
    return config | {"tokenizer_class": "PreTrainedTokenizerFast"}


def ask(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """minicons' answers to jobs, as its side describes them."""
    command = [str(python()), str(ROOT / "benchmarks" / "minicons_side.py")]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"minicons failed:\n{done.stderr}")
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def compare(kind: str, model: TransformerModel, folder: Path, texts: list[str]) -> tuple[float, int, int]:
    """The largest difference of a token, and how many tokens and texts were compared."""
    (theirs,) = ask([{"kind": kind, "folder": str(folder), "texts": texts, "batch": BATCH}])
    pairs = [
        (np.array(one), other.logprobs) for one, other in zip(theirs["logprobs"], ours(kind, model, texts), strict=True)
    ]
    unlike = [text for text, (one, other) in zip(texts, pairs, strict=True) if len(one) != len(other)]
    if unlike:
        sys.exit(f"minicons has other tokens in {unlike[0]!r}")
    return max(float(np.abs(one - other).max()) for one, other in pairs), sum(len(one) for one, _ in pairs), len(texts)


def ours(kind: str, model: TransformerModel, texts: Sequence[str]) -> list[TokenScores]:
    if kind == "causal":
        return model.score(texts)
    return model.pseudo_score([Span(text, 0, len(text)) for text in texts])


if __name__ == "__main__":
    main()
