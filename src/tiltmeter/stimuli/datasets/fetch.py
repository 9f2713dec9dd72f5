"""Fetching a public data set from where its authors keep it: checked, whole or not at all, resumed where it broke off.

By the standard library: pooch, which fetches with checksums, begins anew whenever a connection breaks.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.files import UNFINISHED, locked
from tiltmeter.progress import progress_bar
from tiltmeter.stimuli.datasets.catalogue import DataSet, entry_named, fetched_folder

#: An address that holds the files under the paths that they have in a data folder, asked before the authors' own.
MIRROR = "TILTMETER_MIRROR"
#: Connections in a row that may bring nothing before it is given up.
_TRIES = 3
_SECONDS = 30.0
_CHUNK = 1 << 16


def fetch(name: str) -> Path:
    """The folder or file of a data set after it was fetched into the cache; one that is there is not fetched again."""
    entry = entry_named(name)
    target = fetched_folder() / entry.path
    if target.exists():
        return target
    if not (entry.fetch or os.environ.get(MIRROR)):
        raise BadInput(
            f"data set '{name}' cannot be fetched: get it from {entry.url}, unpack it, and set TILTMETER_DATA"
        )
    work = fetched_folder() / f".fetching-{name}"
    with locked(fetched_folder()):
        for file, checksum in entry.files.items():
            part = work / f"{file}{UNFINISHED}"
            if not (work / file).is_file():
                part.parent.mkdir(parents=True, exist_ok=True)
                _download(_address(entry, file), part, most=entry.size)
                _check(part, checksum, lambda: shutil.rmtree(work, ignore_errors=True))
                part.replace(work / file)
        single = entry.single
        target.parent.mkdir(parents=True, exist_ok=True)
        if single:
            (work / single).replace(target)
        else:
            staged = work / ".whole"
            staged.mkdir()
            for file in entry.files:
                (staged / file).parent.mkdir(parents=True, exist_ok=True)
                (work / file).replace(staged / file)
            staged.replace(target)
        shutil.rmtree(work, ignore_errors=True)
    return target


def _address(entry: DataSet, file: str) -> str:
    mirror = os.environ.get(MIRROR)
    if mirror:
        below = entry.path if entry.single else f"{entry.path}/{file}"
        return f"{mirror.rstrip('/')}/{urllib.parse.quote(below)}"
    return entry.fetch.rstrip("/") + "/" + urllib.parse.quote(entry.renamed.get(file, file))


def _download(address: str, part: Path, *, most: int) -> None:
    """Bring a file to the end that its server names, whatever has come before."""
    idle = 0
    with progress_bar(part.name.removesuffix(UNFINISHED), most) as advance:
        while True:
            before = part.stat().st_size if part.exists() else 0
            try:
                if _continue(address, part, most, advance):
                    return
                reason = "the connection was closed"
            except urllib.error.HTTPError as error:
                if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and before:
                    part.unlink()
                    continue
                raise BadInput(f"{address} answers {error.code} {error.reason}: fetch it by hand") from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                reason = str(getattr(error, "reason", error)) or type(error).__name__
            came = part.stat().st_size if part.exists() else 0
            idle = 0 if came > before else idle + 1
            if idle == _TRIES:
                raise BadInput(
                    f"{address}: broke off after {came:,} bytes ({reason}): run the same command again, "
                    "it resumes there"
                )


def _continue(address: str, part: Path, most: int, advance: Callable[[int], None]) -> bool:
    """Ask for what is missing of a file; whether its end was reached."""
    there = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"tiltmeter/{version('tiltmeter')}", **({"Range": f"bytes={there}-"} if there else {})}
    if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
        raise BadInput(f"{address} is not a web address: check {MIRROR}")
    with contextlib.closing(
        urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=_SECONDS)
    ) as answer:
        # A server that knows no ranges sends the file from its beginning.
        resumed = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        length = answer.headers.get("Content-Length")
        with part.open("ab" if resumed else "wb") as file:
            size = there if resumed else 0
            whole = size + int(length) if length else None
            while chunk := answer.read(_CHUNK):
                size += len(chunk)
                if size > most:
                    part.unlink()
                    raise BadInput(f"{address} is larger than the {most:,} bytes that the data set has: not kept")
                file.write(chunk)
                advance(len(chunk))
    return whole is None or size >= whole


def _check(path: Path, checksum: str, discard: Callable[[], None]) -> None:
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != checksum:
        discard()
        raise BadInput(
            f"{path.name.removesuffix(UNFINISHED)} is not the file that the catalogue knows (SHA-256 {actual[:12]}..., "
            f"not {checksum[:12]}...): nothing was kept; its authors may have changed it"
        )
