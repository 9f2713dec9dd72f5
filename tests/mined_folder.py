"""A small folder of mined occurrences, written as ``tiltmeter mine`` writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from tiltmeter.stimuli.mining.mined import COLUMNS, save_mined

#: Two groups of targets and two of attributes, in that order.
GROUPS = {
    "gender.male_terms": ("he", "man", "boy", "father", "son"),
    "gender.female_terms": ("she", "woman", "girl", "mother", "daughter"),
    "attributes.career": ("salary", "office", "business"),
    "attributes.family": ("home", "family", "children"),
}


def write_mined(
    folder: Path,
    *,
    contexts: int = 6,
    lengths: Sequence[str] = ("9", "25"),
    groups: Mapping[str, Sequence[str]] = GROUPS,
    never: Sequence[str] = (),
    rare: Mapping[str, int] | None = None,
    thin: Mapping[str, int] | None = None,
    suffix: str = "",
    padding: int = 3,
) -> Path:
    """Every word ``contexts`` times at each length, those in ``rare`` so many times and those in ``never`` not once.

    At a length in ``thin`` there are no more than so many of each.
    """
    often = {**dict.fromkeys(never, 0), **(rare or {})}
    rows: list[tuple[object, ...]] = []
    for address, words in groups.items():
        for word in words:
            for length in lengths:
                for number in range(min(often.get(word, contexts), (thin or {}).get(length, contexts))):
                    before = "and " * padding + f"in text {number} of {length} "
                    form = word + suffix
                    text = f"{before}{form} stood there" + " too" * padding
                    start = len(before)
                    end, root_end = start + len(form), start + len(word)
                    rows.append((word, address, form, length, text, start, end, root_end, "own.txt", number + 1, 7))
    counts = [
        {
            "word": word,
            "groups": [address],
            "length": length,
            "found": often.get(word, contexts),
            "kept": often.get(word, contexts),
            "missing": 0,
        }
        for address, words in groups.items()
        for word in words
        for length in lengths
    ]
    about = {
        "language": "en",
        "groups": {address: list(words) for address, words in groups.items()},
        "lengths": list(lengths),
        "counts": counts,
    }
    folder.mkdir(parents=True, exist_ok=True)
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    kinds = {name: pa.large_string() if isinstance(values[0], str) else pa.int64() for name, values in columns.items()}
    save_mined(folder, {name: pa.array(values, kinds[name]) for name, values in columns.items()}, about)
    return folder
