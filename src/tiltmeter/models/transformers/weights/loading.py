"""How weights are read: in which type, onto which device, with which attention; and whether they fit into the memory
that is free."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

from tiltmeter.errors import BadInput, MissingExtra, ModelFailed, unknown

Device = Literal["auto", "cpu", "cuda", "mps"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
#: Bytes of one number, by the name that safetensors give its type.
_BYTES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "I8": 1}
_TYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
#: Bytes of a number in memory, by type or number of bits.
WIDTH = {"float64": 8.0, "float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "8bit": 1.0, "4bit": 0.5}
#: What the computation takes beside the weights, as a part of them.
MARGIN = 0.1
#: Bytes of the libraries that are read along with a first model.
LIBRARIES = 128 << 20
#: What to do where memory runs out though there seemed to be enough.
NARROWER = "add dtype=bfloat16 or quantize=8bit, or use a machine with more memory"
_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


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


@dataclasses.dataclass(frozen=True, slots=True)
class StoredWeights:
    """How many numbers a checkpoint holds of each type, and the bytes of its files.

    >>> StoredWeights({"BF16": 8_000_000_000, "F32": 1000}, 16_000_004_000).type
    'bfloat16'
    """

    numbers: Mapping[str, int]
    size: int

    @property
    def parameters(self) -> int:
        return sum(self.numbers.values())

    @property
    def type(self) -> str:
        """The type of most of the numbers: "packed" where they are no ordinary floating-point numbers."""
        if not self.numbers:
            return "float32"
        return _TYPES.get(max(self.numbers, key=lambda name: self.numbers[name]), "packed")

    def bytes_in(self, width: str) -> int:
        """What the weights take in a type, or in so many bits; as they are stored where they are packed."""
        return int(self.parameters * WIDTH[width]) if width in WIDTH and self.numbers else self.size


def safetensors_header(file: Path) -> dict[str, Any]:
    """The tensors of a file by name, each with its type and shape; nothing where the file cannot be read as one."""
    try:
        with file.open("rb") as stream:
            header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    except (OSError, ValueError, MemoryError, OverflowError, RecursionError):
        return {}
    return {name: value for name, value in header.items() if name != "__metadata__"} if isinstance(header, dict) else {}


def stored_weights(files: Iterable[Path]) -> StoredWeights:
    """What the weights of a checkpoint are, without reading them; of pickled ones only their size is known."""
    numbers: dict[str, int] = {}
    size = 0
    for file in files:
        with contextlib.suppress(OSError):
            size += file.stat().st_size
        for tensor in safetensors_header(file).values():
            with contextlib.suppress(
                TypeError, KeyError, AttributeError
            ):  # a damaged header is reported when it is read
                start, end = tensor["data_offsets"]
                kind = str(tensor["dtype"])
                numbers[kind] = numbers.get(kind, 0) + (end - start) // _BYTES.get(kind, 1)
    return StoredWeights(numbers, size)


def free_memory(*, mapped: int = 0) -> int | None:
    """Bytes that this process can still take: of the machine, of its container and of its limit; None if unknown.

    So many bytes of files will be ``mapped``, which a limit of addresses counts and the others do not.
    """
    addresses = _address_space()
    limits = [_machine_memory(), _container_memory(), None if addresses is None else addresses - mapped]
    known = [limit for limit in limits if limit is not None]
    return max(min(known), 0) if known else None


def _machine_memory() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _container_memory() -> int | None:
    """By the control group, version 2 or 1: pages of files that can be dropped count as free."""
    for limit, used, droppable in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ):
        with contextlib.suppress(OSError, ValueError):
            most = int((_CGROUP / limit).read_text())  # "max" is not a number: no limit
            statistics = (_CGROUP / limit).with_name("memory.stat").read_text().split()
            cached = int(statistics[statistics.index(droppable) + 1])
            return most - int((_CGROUP / used).read_text()) + cached
    return None


def _address_space() -> int | None:
    """What ``ulimit -v`` leaves."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            return most - pages * resource.getpagesize()
    return None


def in_words(weights: StoredWeights, width: str, free: int | None) -> str:
    """The memory that weights take, as it is said before they are read.

    >>> in_words(StoredWeights({"BF16": 8_030_000_000}, 16_060_000_000), "bfloat16", 24 << 30)
    '8.0 B parameters in bfloat16 take 16.1 GB; 25.8 GB are free'
    """
    count = f"{_amount(weights.parameters)} parameters in {width}" if weights.numbers else "the weights"
    left = "what is free is not known" if free is None else f"{_gigabytes(free)} are free"
    return f"{count} take {_gigabytes(weights.bytes_in(width))}; {left}"


def check_memory(weights: StoredWeights, width: str, free: int | None, *, called: str) -> None:
    """One line, before anything is read, where the weights and some room to compute in do not fit."""

    def fits(name: str) -> bool:
        return free is None or weights.bytes_in(name) * (1 + MARGIN) + LIBRARIES <= free

    if fits(width):
        return
    narrower = [name for name in ("bfloat16", "8bit", "4bit") if fits(name)]
    smaller = [name for name in narrower if weights.bytes_in(name) < weights.bytes_in(width)]
    if smaller[:1] == ["bfloat16"]:
        advice = "add dtype=bfloat16"
    elif smaller:
        advice = f"add quantize={smaller[0]}"
    else:
        advice = "use a machine with more memory"
    raise ModelFailed(
        f"'{called}' does not fit: {in_words(weights, width, free)}, and computing takes some more: {advice}, or "
        "device_map=auto (slow: the rest is read from the disk), or ask a server by completions:MODEL?base_url=..."
    )


def no_memory(error: BaseException) -> bool:
    """Whether a library says that there is no memory left; torch has no class of errors for that on a CPU.

    >>> no_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 3538944 bytes."))
    True
    """
    said = str(error).lower()
    return isinstance(error, MemoryError) or "allocate memory" in said or "out of memory" in said


def _amount(number: int) -> str:
    """A count of parameters as people say it.

    >>> _amount(134_515_008), _amount(70_000_000_000), _amount(4_160)
    ('135 M', '70.0 B', '4,160')
    """
    if number >= 10**9:
        return f"{number / 10**9:.1f} B"
    return f"{number / 10**6:.0f} M" if number >= 10**6 else f"{number:,}"


def _gigabytes(size: int) -> str:
    return f"{size / 10**9:.1f} GB" if size >= 10**8 else f"{size / 10**6:.1f} MB"
