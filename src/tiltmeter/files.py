"""Files: written whole or not at all, and read so that whatever is wrong with one is said in a single line."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput

if TYPE_CHECKING:
    import yaml

#: How the name of a file ends while it is being written.
UNFINISHED = ".part"
#: The file of a folder that is locked while a run writes there.
LOCK = ".lock"
#: The most of YAML that is read, in characters with each node counted as so many more, and how deep it may be nested.
_LARGEST_YAML, _NODE, _DEEPEST_YAML = 1 << 24, 16, 40
#: PyYAML takes minutes for a number of very many digits.
_LONGEST_NUMBER, _NUMBERS = 300, ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


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


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep every other run out of a folder of results; the lock of a run that was killed is gone with it.

    A run that holds it may take it again. What a run that was killed has left half written is removed, and so is a
    folder made for a run that wrote nothing.
    """
    from filelock import FileLock, Timeout

    with writable(folder):
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0, is_singleton=True)
        try:
            lock.acquire()
        except Timeout:
            raise BadInput(
                f"another run is writing to {folder}: wait until it is done, or choose another --out"
            ) from None
    try:
        if lock.lock_counter == 1:
            for left in folder.glob(f".*{UNFINISHED}"):
                left.unlink(missing_ok=True)
        yield
    finally:
        if new and [path.name for path in folder.iterdir()] == [LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()
        lock.release()


def at_home(path: str | Path) -> Path:
    """The path with ``~`` made the folder of its user; as it is where there is no such user."""
    with contextlib.suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def read_text(path: Path | Traversable, *, most: int | None = None) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; ``most`` bytes of it."""
    try:
        with path.open("rb") as file:
            content: bytes = file.read(-1 if most is None else most + 1)
        if most is not None and len(content) > most:
            raise BadInput(f"{path.name}: larger than {most >> 20} MB: give a smaller file")
        return content.decode("utf-8-sig")
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
    """The content of a YAML file, in which no key may be there twice.

    A few letters of YAML can stand for gigabytes, by aliases, or end the process, by nesting: both are refused before
    anything is built of them.
    """
    import yaml

    kind: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        text = read_text(path, most=_LARGEST_YAML)
        _check_extent(yaml.parse(text, Loader=kind))
        loader = kind(text)
        root = loader.get_single_node()
        _check_nodes(root)
        return loader.construct_document(root) if root else None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise BadInput(f"{path.name}: {line}broken YAML: {error.problem}") from None
    # What PyYAML says of a value that does not fit its tag is an error of Python's own.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
        raise BadInput(f"{path.name}: broken YAML: {' '.join(str(error).split())}") from None


def _check_extent(events: Iterable[Any]) -> None:
    """Refuse what is nested too deeply, or too large when each alias is written out."""
    import yaml

    total, sizes = 0, dict[str | None, int]()
    around: list[tuple[str | None, int]] = []
    for event in events:
        before = total
        if isinstance(event, yaml.AliasEvent):
            total += _LARGEST_YAML if event.anchor in dict(around) else sizes.get(event.anchor, 0)
        elif isinstance(event, yaml.ScalarEvent):
            total += _NODE + len(event.value)
            sizes[event.anchor] = total - before
        elif isinstance(event, yaml.CollectionStartEvent):
            total += _NODE
            around.append((event.anchor, before))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = around.pop()
            sizes[anchor] = total - before
        if total >= _LARGEST_YAML or len(around) > _DEEPEST_YAML:
            problem = "nested too deeply" if total < _LARGEST_YAML else "too large, with its aliases written out"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


def _check_nodes(root: yaml.Node | None) -> None:
    """A YAML reader keeps the last of two equal keys: a group would vanish without a word."""
    import yaml

    waiting, seen = [root] if root else [], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode) or key.value in keys:
                    problem = f"'{key.value}' is there twice" if isinstance(key, yaml.ScalarNode) else "no key"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                keys.add(key.value)
                waiting += key, value
        elif node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            problem = f"a number of {len(node.value):,} characters"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
