"""Opening a vector file, compressed or not, with errors a user can mend."""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tiltmeter.errors import BadInput

#: Small enough to stay in the processor's second-level cache between copy and search, and to be reused by the
#: allocator: at twice this size each block is fresh memory from the system, which makes reading half as fast.
BLOCK = 1 << 17


@contextlib.contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The (decompressed) bytes of a file; read errors inside the block become BadInput."""
    try:
        with contextlib.ExitStack() as stack:
            if path.suffix.lower() != ".gz":
                yield stack.enter_context(path.open("rb", buffering=BLOCK))
            else:
                unpacked = stack.enter_context(gzip.open(path, "rb"))
                # GzipFile hands out lines through Python code; a buffer around it does so in C.
                yield stack.enter_context(io.BufferedReader(unpacked, BLOCK))
    except EOFError as error:
        raise BadInput(f"{path}: the compressed data end too early; download the file again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"{path}: is not valid gzip data; download it again or drop the .gz") from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror or error})") from error
