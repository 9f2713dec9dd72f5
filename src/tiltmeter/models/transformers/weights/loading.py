"""How weights are read: in which type, onto which device, with which attention, and what of it changes an answer."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

from tiltmeter.errors import BadInput, MissingExtra, unknown
from tiltmeter.models.transformers.weights.memory import StoredWeights, free_memory

if TYPE_CHECKING:
    from torch import Tensor

Device = Literal["auto", "cpu", "cuda", "mps"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
#: Numbers of a matrix that are widened at a time (256 MB).
_WIDENED = 1 << 26


@dataclasses.dataclass(frozen=True, slots=True)
class Loading:
    """The options of a spec that say how weights are read.

    ``dtype="auto"`` holds weights in the type in which they are stored, never in a wider one. On a CPU each layer is
    widened to float32 while it computes, so that half-precision weights give the numbers of float32 in half the memory;
    elsewhere the stored type computes. Another ``dtype`` holds and computes in that one.

    >>> Loading(dtype="float8")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown dtype 'float8': did you mean 'float32'?
    """

    device: str = "auto"
    dtype: str = "auto"
    device_map: str | None = None
    quantize: str | None = None
    attention: str | None = None
    max_length: int | None = None
    trust_remote_code: str = "no"

    def __post_init__(self) -> None:
        for option, choices in (
            ("device", get_args(Device)),
            ("dtype", get_args(Dtype)),
            ("device_map", (None, "auto")),
            ("quantize", (None, "8bit", "4bit")),
            ("attention", (None, "sdpa", "eager")),
            ("trust_remote_code", ("no", "yes")),
        ):
            if (value := getattr(self, option)) not in choices:
                raise unknown(option, value, [choice for choice in choices if choice])
        if self.max_length is not None and self.max_length < 2:
            raise BadInput(f"max_length={self.max_length}: give at least 2 tokens")
        if self.device_map and self.device != "auto":
            raise BadInput("device_map=auto places the weights itself: leave device out")

    def settings(self, stored: str) -> dict[str, str]:
        """What of it changes an answer, for weights that are stored in a type."""
        chosen = {"quantize": self.quantize, "attention": self.attention, "max_length": self.max_length}
        trusted = {"trust_remote_code": "yes"} if self.trust_remote_code == "yes" else {}
        return {
            "dtype": f"{self.held(stored)} computed in float32" if self.widens(stored) else self.held(stored),
            **{name: str(value) for name, value in chosen.items() if value is not None},
            **trusted,
        }

    def held(self, stored: str) -> str:
        """The type in which weights stored in another are held."""
        if self.dtype != "auto":
            return self.dtype
        return "float32" if stored == "float64" else stored

    def widens(self, stored: str) -> bool:
        """Whether layers compute in float32 though their weights are held in less."""
        half = self.dtype == "auto" and stored in ("float16", "bfloat16") and not (self.device_map or self.quantize)
        return half and self.on() == "cpu"

    def width(self, stored: str) -> str:
        """What decides the memory that the weights take."""
        return self.quantize or self.held(stored)

    def on(self) -> str:
        """The device that computes."""
        import torch

        available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
        device = next(name for name, usable in available.items() if usable) if self.device == "auto" else self.device
        if not available[device]:
            raise BadInput(f"device={device} is not available on this machine: use cpu, or leave it out")
        return device

    def free(self, weights: StoredWeights) -> int | None:
        """Bytes that are free where weights go; None where that is not known, or where the disk takes the rest."""
        import torch

        if self.device_map:
            return None
        return torch.cuda.mem_get_info()[0] if self.on() == "cuda" else free_memory(mapped=weights.size)

    def arguments(self, weights: StoredWeights) -> dict[str, Any]:
        """What Transformers is told when it reads the weights."""
        import torch

        held = self.held(weights.type)
        dtype: Any = getattr(torch, held) if held != "packed" else "auto"
        attention = {"attn_implementation": self.attention} if self.attention else {}
        # Without a place for all of it, weights would go through the memory of the machine on their way to a GPU.
        place: Any = {"": self.on()} if self.on() != "cpu" or self.quantize else None
        return {
            "dtype": dtype,
            **attention,
            **(_offloaded() if self.device_map else {"device_map": place} if place else {}),
            **({"quantization_config": self._quantisation()} if self.quantize else {}),
        }

    def _quantisation(self) -> Any:
        if find_spec("bitsandbytes") is None:
            raise MissingExtra(f"quantize={self.quantize}", "quantize")
        from transformers import BitsAndBytesConfig

        # It says for each layer of each batch that inputs are cast.
        logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
        configuration: Any = BitsAndBytesConfig
        if self.quantize == "8bit":
            return configuration(load_in_8bit=True)
        return configuration(load_in_4bit=True, bnb_4bit_quant_type="nf4")


def _offloaded() -> Mapping[str, Any]:
    """Weights on the GPUs first, then in what memory is free, the rest on the disk."""
    import tempfile

    from accelerate.utils import get_max_memory

    room = dict(get_max_memory())
    free = free_memory()
    if free is not None:
        room["cpu"] = min(room.get("cpu", free), free * 9 // 10)
    return {"device_map": "auto", "max_memory": room, "offload_folder": tempfile.mkdtemp(prefix="tiltmeter-offload-")}


def computed_in_float32(model: Any) -> Any:
    """The model with each layer in float32, its weights held in fewer bits: they are widened while it computes.

    Widening changes no number, so answers are those of weights held in float32. What is no matrix (a bias, a norm) is
    small, and held in float32. An architecture that reaches past its layers to their weights is widened as a whole.
    """
    import torch
    from torch import nn
    from transformers.pytorch_utils import Conv1D

    hooks = []
    module: Any
    for module in model.modules():
        matrix = isinstance(module, nn.Linear | nn.Embedding | Conv1D)
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.is_floating_point() and not (matrix and name == "weight"):
                setattr(module, name, nn.Parameter(parameter.float(), requires_grad=False))
        for name, buffer in module.named_buffers(recurse=False):
            if buffer.dtype in (torch.float16, torch.bfloat16):
                setattr(module, name, buffer.float())
        if isinstance(module, nn.Embedding):
            hooks.append(module.register_forward_hook(lambda _module, _inputs, output: output.float()))
        elif isinstance(module, nn.Linear):
            vars(module)["forward"] = _linear(module)
        elif isinstance(module, Conv1D):
            vars(module)["forward"] = _conv1d(module)
    if _runs(model):
        return model
    for module in model.modules():
        module.__dict__.pop("forward", None)
    for hook in hooks:
        hook.remove()
    return model.float()


def _runs(model: Any) -> bool:
    import torch

    part = model.get_encoder() if model.config.is_encoder_decoder else model
    with torch.inference_mode():
        try:
            part(input_ids=torch.tensor([[1, 2, 3], [3, 2, 1]]), attention_mask=torch.tensor([[1, 1, 1], [1, 1, 0]]))
        except Exception:
            return False
    return True


def _linear(module: Any) -> Any:
    import torch
    from torch.nn.functional import linear

    rows = max(1, _WIDENED // module.in_features)

    def forward(states: Tensor) -> Tensor:
        weight, bias = module.weight, module.bias
        if module.out_features <= rows:
            return linear(states, weight.float(), bias)
        parts = [linear(states, some.float()) for some in weight.split(rows)]
        return torch.cat(parts, dim=-1) if bias is None else torch.cat(parts, dim=-1) + bias

    return forward


def _conv1d(module: Any) -> Any:
    import torch

    def forward(states: Tensor) -> Tensor:
        whole = torch.addmm(module.bias, states.reshape(-1, states.shape[-1]), module.weight.float())
        return whole.view(*states.shape[:-1], module.nf)

    return forward
