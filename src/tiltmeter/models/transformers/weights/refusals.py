"""Why a model cannot be loaded or asked, and what to do: what a library says of it mostly names something else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, ModelFailed

#: What a user can do with a model that tiltmeter does not load itself.
_YOURSELF = "load it yourself and pass (model, tokenizer) in Python, or name them by python:module:attribute"


def why_not_from_the_hub(name: str, error: Exception, said: str) -> ModelFailed:
    """Why the hub gave no model; ``said`` are the library's own words."""
    from huggingface_hub import errors

    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, errors.GatedRepoError):
        return ModelFailed(
            f"cannot load 'hf:{name}': it is gated; accept its conditions on its page at the hub, and set HF_TOKEN to "
            "a token of that account"
        )
    if status == 401 and "invalid" in str(error).lower() and "credentials" in str(error).lower():
        return ModelFailed(f"cannot load 'hf:{name}': the hub refuses your token; set HF_TOKEN to one that is valid")
    if isinstance(error, errors.RepositoryNotFoundError):
        return ModelFailed(
            f"cannot load 'hf:{name}': no such folder, and the hub has no such model, or it is private: check the "
            "name, or set HF_TOKEN to a token that may read it"
        )
    return ModelFailed(
        f"cannot load 'hf:{name}': no such folder, and the hub could not be reached or has no such model ({said}); "
        "give the path of a local copy"
    )


def check_config(folder: Path, called: str, *, trusted: bool) -> None:
    """Refuse a checkpoint whose weights or code Transformers cannot use here, before it tries.

    ``trusted`` means that its own code may be run.
    """
    config = _config(folder)
    quantised = config.get("quantization_config")
    if isinstance(quantised, dict):
        how = quantised.get("quant_method") or "bitsandbytes"
        raise ModelFailed(
            f"cannot load '{called}': its weights are quantised by {how}, which is not read; give the model that they "
            "were made of, or a GGUF file of it (gguf:FILE)"
        )
    code = config.get("auto_map")
    if isinstance(code, dict) and code and not trusted and not _known(config.get("model_type")):
        raise ModelFailed(
            f"cannot load '{called}': it needs Python code of its own ({config.get('model_type')}), which is not run; "
            f"if you have read and trust it, add ?trust_remote_code=yes, or {_YOURSELF}"
        )


def check_task(classes: Sequence[str], called: str, instead: str) -> None:
    """Refuse to take the states of a classifier for vectors of texts, unless somebody asks for that."""
    for name in classes:
        if name.endswith("ForSequenceClassification"):
            raise BadInput(
                f"{called} is a cross-encoder or a classifier ({name}): it scores texts and was not trained to give "
                f"vectors; {instead}"
            )


def is_encoder_decoder(folder: Path) -> bool:
    return _config(folder).get("is_encoder_decoder") is True


def _known(model_type: Any) -> bool:
    from transformers import CONFIG_MAPPING

    return isinstance(model_type, str) and model_type in CONFIG_MAPPING


def classes_in(folder: Path) -> list[str]:
    """The classes of Transformers that config.json names."""
    names = _config(folder).get("architectures")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _config(folder: Path) -> dict[str, Any]:
    """What config.json says; nothing where it cannot be read, which is said when the model is loaded."""
    try:
        content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
