"""Folders of models that are there whole or not at all."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.models.transformers.checkpoints import first_line


@contextlib.contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """A folder to write into that takes its name when all is written, and is gone when anything fails."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".draft-", dir=folder.parent) as place:
            draft = Path(place, folder.name)
            draft.mkdir()
            yield draft
            draft.rename(folder)
    except Exception as error:  # each library that writes here has a kind of error of its own
        if not folder.is_dir():  # if it is there, another process was faster
            raise BadInput(
                f"cannot save a model in {folder.parent} ({first_line(error)}): free some space or "
                "make it writable, or choose another folder (TILTMETER_CACHE for the cache)"
            ) from error
