"""Files: written whole or not at all, read so that whatever is wrong with one is said in a single line, and told apart
by a hash of their content."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from tiltmeter.errors import BadInput, unknown

if TYPE_CHECKING:
    import yaml
    from pydantic import BaseModel, ValidationError

Shape = TypeVar("Shape", bound="BaseModel")

#: The most bytes in a path and in the name of a file on Linux; other systems take no more.
_LONGEST_PATH, _LONGEST_NAME = 4096, 255
#: How the name of a file ends while it is being written.
UNFINISHED = ".part"
#: The file of a folder that is locked while a run writes there.
LOCK = ".lock"
#: The most of YAML that is read, in characters with each node counted as so many more, and how deep it may be nested.
_LARGEST_YAML, _NODE, _DEEPEST_YAML = 1 << 24, 16, 40
#: PyYAML takes minutes for a number of very many digits.
_LONGEST_NUMBER, _NUMBERS = 300, ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
#: What an entry of a list is about, so that it can be named.
_NAMES = ("word", "occupation", "topic", "text")
_PLAIN = {"missing": "is missing", "model_type": "should be a mapping"}
#: What may be wrong with JSON that is well formed: Python reads neither.
NO_JSON = "broken JSON: nested too deeply, or a number of thousands of digits"
DIGITS = 16
#: A file changed this recently may change again within one tick of the clock (2 s on FAT): not remembered.
SETTLED_SECONDS = 2.0

_Key = tuple[str, int, int]


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file under another name, and give it its own when it is whole; ``mode`` says who may read it."""
    with writable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(mode)
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
    sizes = [len(part.encode(errors="replace")) for part in (str(path), *Path(path).parts)]
    if sizes[0] >= _LONGEST_PATH or max(sizes[1:], default=0) > _LONGEST_NAME:
        raise BadInput(f"'{str(path)[:40]}…' is longer than any file can be called: check the name")
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
    except (ValueError, RecursionError):
        raise BadInput(f"{path.name}: {NO_JSON}") from None


def read_yaml(path: Path | Traversable) -> Any:
    """The content of a YAML file, in which no key may be there twice."""
    return parse_yaml(read_text(path, most=_LARGEST_YAML), path.name)


def parse_yaml(text: str, name: str) -> Any:
    """What YAML text stands for; ``name`` is what it is called where it is broken.

    A few letters of YAML can stand for gigabytes, by aliases, or end the process, by nesting: both are refused before
    anything is built of them.

    >>> parse_yaml("{a: 1}", "mine")
    {'a': 1}
    """
    import yaml

    kind: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_extent(yaml.parse(text, Loader=kind))
        loader = kind(text)
        root = loader.get_single_node()
        _check_nodes(root)
        return loader.construct_document(root) if root else None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise BadInput(f"{name}: {line}broken YAML: {error.problem}") from None
    # What PyYAML says of a value that does not fit its tag is an error of Python's own.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
        raise BadInput(f"{name}: broken YAML: {' '.join(str(error).split())}") from None


def is_yaml_path(name: str | Path) -> bool:
    """Whether this is the path of a YAML file, and not the name of something that ships."""
    return isinstance(name, Path) or name.endswith((".yaml", ".yml"))


def yaml_names(folder: Traversable) -> tuple[str, ...]:
    """The names of the YAML files in a folder, without their ending."""
    return tuple(sorted(file.name.removesuffix(".yaml") for file in folder.iterdir() if file.name.endswith(".yaml")))


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
                    problem = f"'{key.value}' appears twice" if isinstance(key, yaml.ScalarNode) else "no key"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                keys.add(key.value)
                waiting += key, value
        elif node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            problem = f"a number of {len(node.value):,} characters"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def check(source: str, raw: Any, shape: type[Shape]) -> Shape:
    """What a file says in the form of a model; ``source`` is how the file is called in a complaint.

    >>> from pydantic import BaseModel
    >>> class Lamp(BaseModel, extra="forbid"):
    ...     colour: str
    >>> check("lamp.yaml", {"color": "red"}, Lamp)
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: lamp.yaml: unknown key 'color': did you mean 'colour'?
    """
    from pydantic import ValidationError

    try:
        return shape.model_validate(raw)
    except ValidationError as error:
        raise BadInput(f"{source}: {_complaint(error, raw, shape)}") from None


def _complaint(error: ValidationError, raw: Any, shape: type[BaseModel]) -> str:
    complaints = error.errors()
    # A misspelt key is also missing under its right name; the misspelling is the more useful thing to say.
    first = next((one for one in complaints if one["type"] == "extra_forbidden"), complaints[0])
    place = list(_places(first["loc"], raw))
    if first["type"] == "extra_forbidden":
        *above, key = place
        return ": ".join([*above, str(unknown("key", key, _keys(shape, first["loc"][:-1])))])
    if first["type"] == "missing" and isinstance(first["loc"][-1], int):
        return f"{': '.join(place[:-1])}: needs two words"
    if first["type"] == "string_type" and isinstance(first["input"], bool | int | float):
        message = f"{first['input']!r} is not text to YAML: put it in quotes"
    elif first["type"] == "value_error":
        message = str(first["ctx"]["error"])
    else:
        message = _PLAIN.get(first["type"], first["msg"])
        place = place or ["the file"]
    return ": ".join([*place, message])


def _places(steps: Sequence[int | str], raw: Any) -> Iterator[str]:
    """Keys by their name, an entry of a list by what it is about, or else by its number."""
    for step in steps:
        try:
            raw = raw[step]
        except (KeyError, IndexError, TypeError):
            raw = None
        names = (raw.get(key) for key in _NAMES) if isinstance(raw, dict) else (raw,)
        by_name = (f"'{name}'" for name in names if isinstance(name, str))
        yield next(by_name, f"entry {step + 1}") if isinstance(step, int) else step


def _keys(shape: Any, steps: Sequence[int | str]) -> list[str]:
    """The keys that the model at a place has."""
    for step in steps:
        # Of a list or a mapping, what its entries are; of a model, what the field is.
        shape = shape.model_fields[step].annotation if hasattr(shape, "model_fields") else get_args(shape)[-1]
    return [field.alias or name for name, field in shape.model_fields.items()]


def cache_folder() -> Path:
    """Where vectors are kept: TILTMETER_CACHE, or the user's cache folder."""
    import platformdirs

    return at_home(os.environ.get("TILTMETER_CACHE") or platformdirs.user_cache_dir("tiltmeter"))


def fingerprint(path: Path) -> str:
    """16 hex digits of the content of a file, or of all files in a folder with their names.

    All bytes count: a sample would miss the one row that was fine-tuned. Large files are therefore hashed once and
    remembered on disk by path, size and time of change.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "weights")
    ...     _ = file.write_bytes(b"1 2 3")
    ...     fingerprint(file)
    '624ea8a46f80b271'
    """
    try:
        if path.is_file():
            return _of_file(path)
        files = [Path(root, name) for root, _, names in os.walk(path) for name in names]
        total = hashlib.blake2b()
        for name, file in sorted((file.relative_to(path).as_posix(), file) for file in files):
            total.update(f"{name}\0{_of_file(file)}\0".encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror or error})") from error
    if not files:
        raise BadInput(f"{path}: {'holds no files' if path.is_dir() else 'no such file or folder'}")
    return total.hexdigest()[:DIGITS]


def _of_file(path: Path) -> str:
    key = _key(path)
    settled = time.time() - key[2] / 1e9 > SETTLED_SECONDS
    if settled and (remembered := _recall(key)):
        return remembered
    with path.open("rb", buffering=0) as stream:
        digest = hashlib.file_digest(stream, hashlib.blake2b).hexdigest()[:DIGITS]
    if settled and _key(path) == key:
        _remember(key, digest)
    return digest


def _key(path: Path) -> _Key:
    status = path.stat()
    return str(path.resolve()), status.st_size, status.st_mtime_ns


_digests: dict[_Key, str] = {}


def _recall(key: _Key) -> str | None:
    if key not in _digests:
        with contextlib.suppress(*_MEMO_FAILS), _memo() as memo:
            rows = memo.execute("SELECT digest FROM seen WHERE path=? AND size=? AND mtime=?", key)
            _digests.update((key, digest) for (digest,) in rows)
    return _digests.get(key)


def _remember(key: _Key, digest: str) -> None:
    _digests[key] = digest
    with contextlib.suppress(*_MEMO_FAILS), _memo() as memo:
        memo.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", (*key, digest))


#: A memo that cannot be read or written costs time, never a result. ValueError: a path that is not a Unicode.
_MEMO_FAILS = (sqlite3.Error, OSError, ValueError)


@contextlib.contextmanager
def _memo() -> Iterator[sqlite3.Connection]:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(folder / "fingerprints.sqlite")) as memo, memo:
        memo.execute("CREATE TABLE IF NOT EXISTS seen (path TEXT PRIMARY KEY, size INT, mtime INT, digest TEXT)")
        yield memo
