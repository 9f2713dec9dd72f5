"""CrowS-Pairs (Nangia et al. 2020): sentence pairs of nine kinds of bias."""

from __future__ import annotations

from pathlib import Path

from tiltmeter.stimuli.datasets.csv_tables import read_table, rows_named
from tiltmeter.stimuli.sentences.sets import PairSet, SentencePair
from tiltmeter.stimuli.text import normalise

_DIRECTIONS = ("stereo", "antistereo")


def load_crows_pairs(path: str | Path) -> PairSet:
    """Read the pairs. ``sent_more`` is the sentence that fits the stereotype in both directions.

    The direction says which of the two sentences was written first: one that shows a stereotype of a disadvantaged
    group (stereo), or one that goes against it (antistereo).
    """
    table = read_table(path)
    pairs = []
    for row in table.need("sent_more", "sent_less", "stereo_antistereo", "bias_type"):
        more, less, direction = (normalise(row[key]) for key in ("sent_more", "sent_less", "stereo_antistereo"))
        if direction not in _DIRECTIONS:
            raise table.wrong(row, f"stereo_antistereo is '{direction}', not stereo or antistereo")
        if more == less:
            raise table.wrong(row, "both sentences are the same")
        pairs.append(SentencePair(more, less, normalise(row["bias_type"]), row.number, direction))
    return PairSet("crows_pairs", tuple(pairs), warnings=_repeated(table.name, pairs))


def _repeated(name: str, pairs: list[SentencePair]) -> tuple[str, ...]:
    first: dict[tuple[str, str], int] = {}
    again = [
        pair.number for pair in pairs if first.setdefault((pair.stereotyped, pair.other), pair.number) != pair.number
    ]
    return (f"{name}: an earlier pair is repeated in {rows_named(again)}: kept as published",) if again else ()
