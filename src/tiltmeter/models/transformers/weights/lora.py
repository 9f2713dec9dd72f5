"""Adapters trained beside a model, such as LoRA's: a folder with ``adapter_config.json``, for the model it names.

The adapter is merged into the weights, so that the model is as fast as without it and asked in the same way.
"""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

from pydantic import BaseModel, StrictStr

from tiltmeter.errors import BadInput, MissingExtra, ModelFailed
from tiltmeter.models.transformers.pooling import read_part
from tiltmeter.models.transformers.weights.checkpoints import first_line, has_tokenizer, locate, quiet, revision_of

_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
#: Where PEFT puts the model that an adapter changes.
_INSIDE = "base_model.model."
#: What adapters are trained for whose answers are no vectors and no probabilities of words.
_OTHER_TASKS = ("SEQ_CLS", "TOKEN_CLS", "QUESTION_ANS")


class _AdapterConfig(BaseModel):
    base_model_name_or_path: StrictStr | None = None
    revision: StrictStr | None = None
    task_type: StrictStr | None = None
    peft_type: StrictStr = "LORA"


@dataclasses.dataclass(frozen=True)
class Adapter:
    """An adapter's folder, the model that it changes, and what it was trained for."""

    folder: Path
    base: str
    base_revision: str | None
    task: str | None
    kind: str

    @functools.cached_property
    def base_folder(self) -> Path:
        return locate(self.base, revision=self.base_revision)

    @property
    def base_identity(self) -> str:
        return revision_of(self.base, self.base_folder)

    @property
    def gives_vectors_only(self) -> bool:
        return self.task == "FEATURE_EXTRACTION"

    @property
    def tokenizer_folder(self) -> Path:
        return self.folder if has_tokenizer(self.folder) else self.base_folder

    def merged_into(self, tokenizer: Any, model: Any, *, called: str) -> tuple[Any, Any]:
        """The tokenizer that belongs to the adapter, and the model with the adapter in its weights."""
        try:
            import peft
            from safetensors.torch import load_file
            from transformers import AutoTokenizer
        except ImportError as error:
            raise MissingExtra("a LoRA adapter", "hf") from error
        with quiet():
            try:
                if self.tokenizer_folder == self.folder:
                    tokenizer = AutoTokenizer.from_pretrained(self.folder, trust_remote_code=False)
                    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
                        model.resize_token_embeddings(len(tokenizer))
                weights = _placed(load_file(self.folder / _WEIGHTS), model)
                around = peft.get_peft_model(model, peft.PeftConfig.from_pretrained(str(self.folder)))
                outcome: Any = peft.set_peft_model_state_dict(around, weights)
                own = around.active_adapter
                absent = [key for key in outcome.missing_keys if f".{own}." in key]
                if outcome.unexpected_keys or absent:
                    odd = [*outcome.unexpected_keys, *absent]
                    raise ValueError(f"{len(odd)} of its parts have no place there, e.g. {odd[0]}")
                merged = around.merge_and_unload()
            except Exception as error:
                raise ModelFailed(
                    f"cannot load '{called}': the adapter does not fit {self.base} ({first_line(error)}); check which "
                    "model it was trained on"
                ) from error
        return tokenizer, merged.float().eval()


def read_adapter(folder: Path) -> Adapter | None:
    """The adapter in a folder, None where it holds a model of its own."""
    there = {name for name in (_CONFIG, _WEIGHTS, "config.json") if (folder / name).is_file()}
    if _CONFIG not in there or there == {_CONFIG, "config.json"}:
        return None
    config = read_part(folder / _CONFIG, _AdapterConfig)
    if _WEIGHTS not in there:
        raise ModelFailed(f"{folder}: its adapter has no {_WEIGHTS}; save it again with safe_serialization=True")
    if not config.base_model_name_or_path:
        raise BadInput(f"{folder / _CONFIG}: base_model_name_or_path names no model: write the one it was trained on")
    if config.task_type in _OTHER_TASKS:
        raise BadInput(
            f"{folder}: its adapter was trained for {config.task_type}, which gives labels and neither vectors nor "
            "probabilities of words"
        )
    if config.peft_type.startswith(("PROMPT", "PREFIX", "P_TUNING", "MULTITASK_PROMPT")):
        raise BadInput(f"{folder}: an adapter of kind {config.peft_type} changes no weights, so it cannot be merged")
    base = config.base_model_name_or_path
    return Adapter(folder, base, config.revision, config.task_type, config.peft_type)


def _placed(weights: dict[str, Any], model: Any) -> dict[str, Any]:
    """The adapter's weights by where they stand in this model: with its head or without, whichever was trained."""
    modules = {name for name, _ in model.named_modules()}
    prefix = f"{model.base_model_prefix}."

    def there(path: str) -> bool:
        parts = path.split(".")
        return any(".".join(parts[:n]) in modules for n in range(len(parts) - 1, max(1, len(parts) - 5), -1))

    placed = {}
    for key, value in weights.items():
        path = key.removeprefix(_INSIDE)
        shorter, longer = path.removeprefix(prefix), prefix + path
        place = next((one for one in (path, shorter, longer) if there(one)), path)
        placed[_INSIDE + place] = value
    return placed
