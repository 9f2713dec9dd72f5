"""From the states of tokens to the vector of a text, as a folder of sentence-transformers describes it."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

from pydantic import BaseModel, Field, RootModel, StrictBool, StrictInt, StrictStr

from tiltmeter.errors import BadInput, ModelFailed, unknown
from tiltmeter.files import Shape, check

if TYPE_CHECKING:
    from torch import Tensor

Mode: TypeAlias = Literal["cls", "mean", "max", "mean_sqrt_len", "weightedmean", "lasttoken"]
#: In the order in which vectors of several modes are joined.
MODES: tuple[Mode, ...] = ("cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken")
_INSTEAD = "choose one with pooling=mean or pooling=cls"
#: Activations of a dense layer, by the names of their classes in torch.nn.
_ACTIVATIONS = ("Identity", "Tanh", "ReLU", "GELU", "Sigmoid", "SiLU")


class _Module(BaseModel):
    type: StrictStr
    path: StrictStr


class _Modules(RootModel[list[_Module]]):
    pass


class _Limits(BaseModel):
    max_seq_length: Annotated[StrictInt, Field(ge=0, lt=1 << 31)] | None = None
    do_lower_case: StrictBool | None = None


class _Prompts(BaseModel):
    prompts: dict[str, StrictStr | None] | None = None
    default_prompt_name: StrictStr | None = None


class _PoolingConfig(BaseModel, extra="allow"):
    pooling_mode: StrictStr | list[StrictStr] | None = None
    include_prompt: StrictBool = True


class _DenseConfig(BaseModel):
    activation_function: StrictStr = "torch.nn.modules.activation.Tanh"
    use_residual: StrictBool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Dense:
    """A linear layer behind the pooling: the folder of its weights, and its activation."""

    folder: Path
    activation: str


#: What follows the pooling, in order.
After: TypeAlias = Dense | Literal["normalize"]


@dataclasses.dataclass(frozen=True, slots=True)
class PoolingRecipe:
    """How a text becomes a vector: the model's folder, what is fed to it, and what is made of its output.

    ``table``: the folder holds one vector per token, and no layers.
    """

    folder: Path
    modes: tuple[Mode, ...] = ("mean",)
    after: tuple[After, ...] = ()
    prompt: str = ""
    max_length: int | None = None
    lower: bool = False
    table: bool = False

    def __str__(self) -> str:
        first = ["tokens"] if self.table else []
        return "+".join([*first, *self.modes, *(step if isinstance(step, str) else "dense" for step in self.after)])


def read_recipe(root: Path, pooling: Literal["auto", "cls", "mean"], *, prompt: str | None = None) -> PoolingRecipe:
    """What sentence-transformers' ``modules.json`` says, where there is one; the mean of all tokens otherwise."""
    modules = read_part(root / "modules.json", _Modules, default=[]).root
    parts = [(module.type.rpartition(".")[2], root / module.path) for module in modules]
    table = "StaticEmbedding" in dict(parts)
    folder = dict(parts).get("StaticEmbedding" if table else "Transformer", root)
    paths = sorted(folder.glob("sentence_*_config.json"))
    settings = read_part(paths[0], _Limits) if paths else _Limits()
    path = root / "config_sentence_transformers.json"
    config = read_part(path, _Prompts, default={}) if modules else _Prompts()
    prompts = {name: text or "" for name, text in (config.prompts or {}).items()}
    if prompt is not None and prompt not in prompts:
        raise unknown("prompt", prompt, prompts) if prompts else BadInput(f"{root} holds no prompts: leave it out")
    first = prompts.get(prompt or config.default_prompt_name or "", "")
    fed: dict[str, Any] = {"max_length": settings.max_seq_length, "lower": bool(settings.do_lower_case), "table": table}
    if pooling != "auto":
        return PoolingRecipe(folder, (pooling,), prompt=first if prompt else "", **fed)
    modes: tuple[Mode, ...] = ("mean",)
    after = list[After]()
    for kind, place in parts:
        if kind == "Pooling":
            modes = _modes(place / "config.json", prompted=bool(first))
        elif kind == "Normalize":
            after.append("normalize")
        elif kind == "Dense":
            after.append(_dense(place))
        elif kind not in ("Transformer", "StaticEmbedding"):
            raise BadInput(f"{root}: its modules.json asks for a {kind} layer, not supported; {_INSTEAD}")
    return PoolingRecipe(folder, modes, tuple(after), first, **fed)


def _modes(path: Path, *, prompted: bool) -> tuple[Mode, ...]:
    config = read_part(path, _PoolingConfig)
    if prompted and not config.include_prompt:
        raise BadInput(f"{path}: pooling without the prompt is not supported; {_INSTEAD}")
    asked = config.pooling_mode
    if asked is None:  # files written before sentence-transformers 6 have one switch per mode
        prefix = "pooling_mode_"
        asked = [
            key.removeprefix(prefix) for key, on in (config.model_extra or {}).items() if key.startswith(prefix) and on
        ] or ["mean"]
    named = [asked] if isinstance(asked, str) else asked
    modes = [name.removesuffix("_tokens").removesuffix("_token") for name in named]
    for mode in modes:
        if mode not in MODES:
            raise BadInput(f"{path}: pooling by {mode} is not supported; {_INSTEAD}")
    # Switches have no order of their own; a list is joined as it stands.
    ordered = modes if config.pooling_mode is not None else [mode for mode in MODES if mode in modes]
    return cast(tuple[Mode, ...], tuple(ordered))


def _dense(folder: Path) -> Dense:
    config = read_part(folder / "config.json", _DenseConfig)
    name = config.activation_function.rpartition(".")[2]
    if name not in _ACTIVATIONS or config.use_residual:
        what = "a residual connection" if config.use_residual else f"the activation {name}"
        raise BadInput(f"{folder}: a dense layer with {what} is not supported; {_INSTEAD}")
    return Dense(folder, name)


def read_part(path: Path, shape: type[Shape], *, default: Any = None) -> Shape:
    """A JSON file of a model, in the form it should have; ``default`` stands for one that is not there."""
    try:
        absent = default is not None and not path.is_file()
        return check(path.name, default if absent else json.loads(path.read_text(encoding="utf-8")), shape)
    except (OSError, ValueError, RecursionError, BadInput) as error:
        said = (
            error.strerror if isinstance(error, OSError) else error if isinstance(error, BadInput) else "it is not JSON"
        )
        raise BadInput(f"{path}: cannot be read ({said}); fetch the model again") from error


def pool(tokens: Tensor, real: Tensor | None, mode: Mode) -> Tensor:
    """One vector per row of (rows, tokens, dim), over the tokens that are real: all of them when None."""
    import torch

    if mode == "cls":
        return tokens[:, 0]
    if real is None:
        real = torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
    if mode == "max":
        return tokens.masked_fill(~real[..., None], float("-inf")).amax(1)
    if mode == "lasttoken":
        return tokens[torch.arange(len(tokens), device=tokens.device), real.sum(1) - 1]
    weights = real[..., None].to(tokens.dtype)
    if mode == "weightedmean":  # a token counts as often as its place says
        weights = weights * torch.arange(1, tokens.shape[1] + 1, device=tokens.device, dtype=tokens.dtype)[:, None]
    total, count = (tokens * weights).sum(1), weights.sum(1)
    return total / (count.sqrt() if mode == "mean_sqrt_len" else count)


def finish(vectors: Tensor, after: Sequence[After]) -> Tensor:
    """What follows the pooling: dense layers, and the length of 1."""
    import torch

    for step in after:
        if isinstance(step, Dense):
            weight, bias = _weights(step.folder, vectors)
            vectors = getattr(torch.nn, step.activation)()(torch.nn.functional.linear(vectors, weight, bias))
        else:
            vectors = torch.nn.functional.normalize(vectors)
    return vectors


@functools.lru_cache(maxsize=8)
def _read_weights(folder: Path) -> dict[str, Any]:
    try:
        from safetensors.torch import load_file

        weights: dict[str, Any] = load_file(folder / "model.safetensors")
    except Exception as error:
        raise ModelFailed(f"{folder}: the weights of the dense layer cannot be read ({error})") from error
    return weights


def _weights(folder: Path, like: Tensor) -> tuple[Tensor, Tensor | None]:
    """The weights of a dense layer, read once, where the vectors are."""
    parts = _read_weights(folder)
    weight, bias = parts["linear.weight"].to(like), parts.get("linear.bias")
    return weight, None if bias is None else bias.to(like)
