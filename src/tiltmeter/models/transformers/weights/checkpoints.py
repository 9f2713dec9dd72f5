"""Transformers checkpoints: found in a folder or on the hub, identified, loaded without chatter, or refused."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from tiltmeter.errors import BadInput, MissingExtra, ModelFailed
from tiltmeter.files import at_home, fingerprint
from tiltmeter.models.transformers.cpu import computed_in_float32
from tiltmeter.models.transformers.weights.loading import (
    NARROWER,
    Loading,
    StoredWeights,
    check_memory,
    no_memory,
    safetensors_header,
    stored_weights,
)

Head = Literal["none", "masked", "causal"]
#: As weights are read for training, and to be changed.
IN_FLOAT32 = Loading(device="cpu", dtype="float32")
_CLASSES: dict[Head, str] = {"none": "AutoModel", "masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}
#: Masked language models whose names say something else: mostly saved with another head beside that one.
_MASKED_TOO = {
    "AlbertForPreTraining",
    "BertForPreTraining",
    "BigBirdForPreTraining",
    "FlaubertWithLMHeadModel",
    "MegatronBertForPreTraining",
}
#: Seconds to wait for the hub's answer.
HUB_TIMEOUT = 5.0
#: sentence-transformers keeps the parts of a model in folders called 0_Transformer, 1_Pooling, ...
_PART = r"(?:\d+_\w+/)?"
_SETTINGS = re.compile(_PART + r"[^/]+\.(?:json|txt|model)")
_TOKENIZER = re.compile(_PART + r"(?:tokenizer\.json|vocab\.(?:txt|json)|[^/]+\.model)")
_SAFETENSORS = re.compile(_PART + r"(?:adapter_)?model(?:-\d+-of-\d+)?\.safetensors")
#: The first torch that runs no code out of pickled weights.
_SAFE_TORCH = (2, 6)
#: Set to anything, this environment variable has pickled weights refused whatever the torch.
SAFETENSORS_ONLY = "TILTMETER_SAFETENSORS_ONLY"
_PICKLED = re.compile(_PART + r"pytorch_model(?:-\d+-of-\d+)?\.bin")


def locate(name: str, *, revision: str | None = None) -> Path:
    """The folder of a model: the one named, or the hub's copy on this machine, fetched where it is missing."""
    folder = at_home(name)
    if folder.is_dir():
        if revision is not None:
            raise BadInput(f"revision={revision} is for models on the hub, but '{name}' is a folder: leave it out")
        return folder
    try:
        import huggingface_hub as hub
    except ImportError as error:
        raise MissingExtra("a Transformers model", "hf") from error
    try:
        config = hub.try_to_load_from_cache(name, "config.json", revision=revision)
    except ValueError:  # the hub has no such names, so it was meant as a path
        raise ModelFailed(f"cannot load 'hf:{name}': no such folder; give the path of a local copy") from None
    cached = Path(config).parent if isinstance(config, str) else None
    if cached and (cached / "modules.json").is_file() and _weights(_files(cached)):
        return cached
    try:
        return _fetch(name, cached.name if cached else revision)
    except Exception as error:
        if cached and _weights(_files(cached)):
            return cached
        # Without what it came from: that holds the request, and the request the token.
        raise why_not_from_the_hub(name, error, _without_token(first_line(error))) from None


def _without_token(text: str) -> str:
    import huggingface_hub as hub

    token = hub.get_token()
    return text.replace(token, "[token]") if token else text


def _fetch(name: str, revision: str | None) -> Path:
    import huggingface_hub as hub

    bars: Any = hub.utils
    info = hub.HfApi().model_info(name, revision=revision, timeout=HUB_TIMEOUT)
    wanted = _needed(file.rfilename for file in info.siblings or ())
    shown = not bars.are_progress_bars_disabled()
    bars.disable_progress_bars()
    try:
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=wanted, etag_timeout=HUB_TIMEOUT))
    finally:
        if shown:
            bars.enable_progress_bars()


def revision_of(name: str, folder: Path) -> str:
    """The hub's commit, or a hash of the weights, settings and vocabulary of a local folder."""
    if not at_home(name).is_dir():
        return folder.name
    total = hashlib.blake2b(digest_size=8)
    for file in _needed(_files(folder)):
        total.update(f"{file}\0{fingerprint(folder / file)}\0".encode())
    return total.hexdigest()


def head_of(folder: Path) -> Head:
    """The language-model head that a checkpoint was saved with, by its config.json."""
    try:
        names = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("architectures") or []
    except (OSError, ValueError, AttributeError, RecursionError):
        return "none"  # what is wrong with the file is said when the model is loaded
    head = head_named(list(map(str, names if isinstance(names, list) else ())))
    return "none" if head == "masked" and _only_encoder(folder / "model.safetensors") else head


def head_named(classes: Sequence[str]) -> Head:
    """The language-model head that classes of Transformers have, by their names.

    >>> head_named(["BertForMaskedLM"]), head_named(["GPT2LMHeadModel"]), head_named(["BertModel"])
    ('masked', 'causal', 'none')
    """
    for name in classes:
        if name.endswith("ForMaskedLM") or name in _MASKED_TOO:
            return "masked"
        if name.endswith(("ForCausalLM", "LMHeadModel")):
            return "causal"
    return "none"


def _only_encoder(weights: Path) -> bool:
    """Whether a file holds an encoder alone: fine-tuned ones often keep the config.json of the model they came from."""
    names = list(safetensors_header(weights))
    return bool(names) and all(name.startswith(("embeddings.", "encoder.", "pooler.")) for name in names)


def weights_in(folder: Path) -> StoredWeights:
    """What the weights of a checkpoint are, without reading them."""
    return stored_weights(folder / file for file in _weights(_files(folder)))


def load_checkpoint(
    folder: Path, *, called: str, head: Head = "none", loading: Loading = IN_FLOAT32
) -> tuple[Any, Any]:
    """The fast tokenizer and the model, with the head asked for, ready to be asked."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra("a Transformers model", "hf") from error
    _check_files(folder, called)
    if not any(map(_SAFETENSORS.fullmatch, _files(folder))):
        _check_pickled(str(torch.__version__), called)
    trusted = loading.trust_remote_code == "yes"
    check_config(folder, called, trusted=trusted)
    weights = weights_in(folder)
    check_memory(weights, loading.width(weights.type), loading.free(weights), called=called)
    arguments = loading.arguments(weights)
    with quiet():
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=trusted)
        except Exception as error:
            said = f"bad tokenizer ({first_line(error)}); {_advice(folder, transformers.__version__)}"
            raise ModelFailed(f"cannot load '{called}': {said}") from error
        if not tokenizer.is_fast:
            raise ModelFailed(f"cannot load '{called}': it has no fast tokenizer; save one as tokenizer.json")
        try:
            model, report = getattr(transformers, _CLASSES[head]).from_pretrained(
                folder, output_loading_info=True, trust_remote_code=trusted, **arguments
            )
        except Exception as error:
            if no_memory(error):
                raise ModelFailed(
                    f"'{called}' does not fit: memory ran out while its weights were read; {NARROWER}"
                ) from None
            said = f"bad weights or config.json ({first_line(error)}); {_advice(folder, transformers.__version__)}"
            raise ModelFailed(f"cannot load '{called}': {said}") from error
    # The pooler is the one part that no answer uses; any other missing weight would be random.
    missing = sorted(key for key in report["missing_keys"] if not key.startswith("pooler."))
    if missing:
        raise ModelFailed(
            f"cannot load '{called}': its weights do not fit its config.json ({len(missing)} missing, e.g. "
            f"{missing[0]}); fetch it again"
        )
    model.config.use_cache = False
    return tokenizer, (computed_in_float32(model) if loading.widens(weights.type) else model).eval()


def _advice(folder: Path, version: str) -> str:
    """What to do about a checkpoint that Transformers cannot read."""
    saved = _config(folder).get("transformers_version")
    new, here = (re.match(r"(\d+)\.(\d+)", str(number)) for number in (saved, version))
    if new and here and tuple(map(int, new.groups())) > tuple(map(int, here.groups())):
        return f"Transformers {saved} saved it, and {version} is installed: pip install -U transformers"
    return "fetch it again"


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder holds a tokenizer."""
    return any(map(_TOKENIZER.fullmatch, _files(folder)))


def _check_files(folder: Path, called: str) -> None:
    files = _files(folder)
    for what, there in (
        ("config.json", "config.json" in files),
        ("weights (model.safetensors or pytorch_model.bin)", bool(_weights(files))),
        ("tokenizer (tokenizer.json or its vocabulary)", has_tokenizer(folder)),
    ):
        if not there:
            raise ModelFailed(f"cannot load '{called}': no {what} in {folder}; give a Transformers model's folder")


def _check_pickled(torch_version: str, called: str) -> None:
    if os.environ.get(SAFETENSORS_ONLY):
        raise ModelFailed(f"cannot load '{called}': it has no safetensors, and {SAFETENSORS_ONLY} is set")
    numbers = re.match(r"(\d+)\.(\d+)", torch_version)
    if numbers and tuple(map(int, numbers.groups())) < _SAFE_TORCH:
        raise ModelFailed(
            f"cannot load '{called}': torch {torch_version} may run code from pytorch_model.bin (CVE-2025-32434); "
            f"install torch {'.'.join(map(str, _SAFE_TORCH))}, or save the model as safetensors"
        )


def _files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in (*folder.glob("*"), *folder.glob("*/*"))]


def _needed(files: Iterable[str]) -> list[str]:
    names = sorted(files)
    return [name for name in names if _SETTINGS.fullmatch(name)] + _weights(names)


def _weights(files: list[str]) -> list[str]:
    return [f for f in files if _SAFETENSORS.fullmatch(f)] or [f for f in files if _PICKLED.fullmatch(f)]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Transformers' log lines, progress bars and warnings off; as they were at the end."""
    import transformers

    logging: Any = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def first_line(error: BaseException, *, most: int = 160) -> str:
    """What a library's error says, short enough to stand in a line of ours.

    >>> first_line(ValueError("no such model\\nTraceback ..."))
    'no such model'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = lines[0] if lines else type(error).__name__
    return line if len(line) <= most else f"{line[: most - 3]}..."


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


def labels_in(folder: Path) -> list[str]:
    """The labels of a classifier, by config.json."""
    names = _config(folder).get("id2label")
    return [str(name) for name in names.values()] if isinstance(names, dict) else []


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
