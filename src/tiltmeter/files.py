"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tiltmeter.errors import BadInput

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
