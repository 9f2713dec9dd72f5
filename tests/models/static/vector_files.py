"""Vector files in every format, as the tests of their readers write them."""

from __future__ import annotations

import gzip
import json
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.models.static import StaticVectors

WORDS = ["the", "nurse", "New_York", "naïve", "নার্স", "看護師", "👩‍⚕️", "'s", "0.5", "1,000"]


VALUES = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)


def gensim_vectors(words=WORDS, values=VALUES):
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(values.shape[1])
    keyed.add_vectors(words, values)
    return keyed


def text_of(words, values, *, header=True, end="\n"):
    first = [f"{len(words)} {len(values[0])}"] if header else []
    return end.join(
        [*first, *(f"{w} {' '.join(map(repr, map(float, v)))}" for w, v in zip(words, values, strict=True))]
    )


def binary_of(words, values, *, end=b""):
    rows = (w.encode() + b" " + np.asarray(v, "<f4").tobytes() + end for w, v in zip(words, values, strict=True))
    return f"{len(words)} {len(values[0])}\n".encode() + b"".join(rows)


def file(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def one(path: Path, word: str, **options):
    return StaticVectors(path, **options).embed_words([word])[0]


def refusal(path: Path, *words: str, **options) -> str:
    """The one line a user gets."""
    with pytest.raises(BadInput) as caught:
        StaticVectors(path, **options).embed_words(words or ["nurse"])
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


#: Line ends and spaces separate words in these files; a byte of zero or a lone surrogate is not a text.
LETTERS = st.characters(
    blacklist_categories=("Cs", "Zs", "Zl", "Zp"), blacklist_characters="\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\0"
)


VOCABULARY = st.lists(
    st.text(LETTERS, min_size=1, max_size=6),
    min_size=1,
    max_size=8,
    unique_by=lambda w: unicodedata.normalize("NFC", w),
)


NUMBERS = st.floats(-1e6, 1e6, width=32).filter(lambda x: x != 0)


def sample(package: str, *parts: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"the sample package {package} is not installed")
    return Path(spec.origin).parent.joinpath(*parts)


def write_index(path: Path, words=WORDS) -> None:
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"index": words}), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    else:
        count = " 17" if path.suffix == ".vocab" else ""
        path.write_text("".join(f"{word}{count}\n" for word in words), encoding="utf-8")
