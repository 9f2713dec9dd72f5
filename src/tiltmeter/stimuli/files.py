"""Files of stimuli, read so that whatever is wrong with one is said in a single line."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput


def read_text(path: Path | Traversable) -> str:
    """The text of a UTF-8 file, with or without a byte order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"no file {path}: check the path") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name}: not UTF-8 at byte {error.start}: save the file as UTF-8") from None
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None


def read_json(path: Path, *, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The content of a JSON file; ``pairs`` makes each object of its keys and values."""
    try:
        return json.loads(read_text(path), object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path.name}: line {error.lineno}: broken JSON: {error.msg}") from None
