"""From token vectors to the vector of a text: what the model's own folder says, or what the user asks."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tiltmeter.errors import BadInput

if TYPE_CHECKING:
    from torch import Tensor

Mode: TypeAlias = Literal["cls", "mean", "max"]
MODES: tuple[Mode, ...] = ("cls", "mean", "max")
_INSTEAD = "choose one with pooling=mean or pooling=cls"


@dataclasses.dataclass(frozen=True, slots=True)
class PoolingRecipe:
    """How a text becomes a vector: the Transformer's folder, what is fed to it, and what is made of its output."""

    folder: Path
    mode: Mode = "mean"
    normalize: bool = False
    prompt: str = ""
    max_length: int | None = None
    lower: bool = False

    def __str__(self) -> str:
        return f"{self.mode}+normalize" if self.normalize else self.mode


def read_recipe(root: Path, pooling: Literal["auto", "cls", "mean"]) -> PoolingRecipe:
    """What sentence-transformers' ``modules.json`` says, where there is one; the mean of all tokens otherwise."""
    modules = read_json(root / "modules.json", default=[])
    kinds = [(str(module["type"]).rpartition(".")[2], root / module["path"]) for module in modules]
    folder = next((path for kind, path in kinds if kind == "Transformer"), root)
    settings: dict[str, Any] = next((read_json(path) for path in sorted(folder.glob("sentence_*_config.json"))), {})
    lower = bool(settings.get("do_lower_case", False))
    recipe = PoolingRecipe(folder, max_length=settings.get("max_seq_length"), lower=lower)
    if pooling != "auto":
        return dataclasses.replace(recipe, mode=pooling)
    for kind, path in kinds:
        if kind == "Pooling":
            recipe = dataclasses.replace(recipe, mode=_mode(path / "config.json"))
        elif kind == "Normalize":
            recipe = dataclasses.replace(recipe, normalize=True)
        elif kind != "Transformer":
            raise BadInput(f"{root}: its modules.json asks for a {kind} layer, not supported; {_INSTEAD}")
    return dataclasses.replace(recipe, prompt=_prompt(root)) if modules else recipe


def _mode(path: Path) -> Mode:
    config = read_json(path)
    asked = config.get("pooling_mode")
    if asked is None:  # files written before sentence-transformers 6 have one switch per mode
        prefix = "pooling_mode_"
        switches = [key.removeprefix(prefix) for key, on in config.items() if key.startswith(prefix) and on]
        asked = [switch.removesuffix("_tokens").removesuffix("_token") for switch in switches] or ["mean"]
    modes = [asked] if isinstance(asked, str) else list(asked)
    supported = [mode for mode in MODES if modes == [mode]]
    if not supported:
        raise BadInput(f"{path}: pooling by {' and '.join(modes)} is not supported; {_INSTEAD}")
    return supported[0]


def _prompt(root: Path) -> str:
    config = read_json(root / "config_sentence_transformers.json", default={})
    return str(config.get("prompts", {}).get(config.get("default_prompt_name"), ""))


def read_json(path: Path, *, default: Any = None) -> Any:
    """The content of a JSON file of a model; ``default``, where given, stands for a file that is not there."""
    if default is not None and not path.is_file():
        return default
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise BadInput(f"{path}: cannot be read ({reason}); fetch the model again") from error


def pool(tokens: Tensor, real: Tensor | None, mode: Mode) -> Tensor:
    """One vector per row of (rows, tokens, dim), over the tokens that are real: all of them when None."""
    if mode == "cls":
        return tokens[:, 0]
    if real is None:
        return tokens.mean(1) if mode == "mean" else tokens.amax(1)
    if mode == "max":
        return tokens.masked_fill(~real[..., None], float("-inf")).amax(1)
    weights = real[..., None].to(tokens.dtype)
    return (tokens * weights).sum(1) / weights.sum(1)
