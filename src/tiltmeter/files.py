"""Files: written whole or not at all, and read so that whatever is wrong with one is said in a single line."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput

if TYPE_CHECKING:
    import yaml

#: How the name of a file ends while it is being written.
UNFINISHED = ".part"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under another name, and give it its own when it is whole."""
    with writable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def writable(path: Path) -> Iterator[None]:
    """A full disk or a folder that takes no files is one clear line."""
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written ({error.strerror or error}): free some space or choose another folder "
            "with --out; what is already done is kept"
        ) from None


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


def read_yaml(path: Path | Traversable) -> Any:
    """The content of a YAML file, in which no key may be there twice."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = read_text(path)
    try:
        _reject_repeated_keys(yaml.compose(text, Loader=loader))
        return yaml.load(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise BadInput(f"{path.name}: {line}broken YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{path.name}: broken YAML: {' '.join(str(error).split())}") from None


def _reject_repeated_keys(root: yaml.Node | None) -> None:
    """A YAML reader keeps the last of two equal keys: a group would vanish without a word."""
    import yaml

    waiting, seen = [root] if root else [], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias may point back at its own parent
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                if str(key.value) in keys:
                    raise yaml.MarkedYAMLError(problem=f"'{key.value}' is there twice", problem_mark=key.start_mark)
                keys.add(str(key.value))
                waiting.append(value)
