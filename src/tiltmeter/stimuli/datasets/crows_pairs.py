"""CrowS-Pairs (Nangia et al. 2020): sentence pairs of nine kinds of bias."""

from __future__ import annotations

from pathlib import Path

from tiltmeter.stimuli.datasets.csv_tables import read_table, rows_named
from tiltmeter.stimuli.sentences.sentence import SentenceSet, joint_dimension, sentence_pair
from tiltmeter.stimuli.text import normalise

_DIRECTIONS = ("stereo", "antistereo")
_DIMENSIONS = {"race-color": "race", "socioeconomic": "socioeconomic status"}


def load_crows_pairs(path: str | Path) -> SentenceSet:
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
        kind = normalise(row["bias_type"])
        pairs.append(sentence_pair(more, less, kind=kind, number=str(row.number), direction=direction))
    kinds = {pair.tags["kind"] for pair in pairs}
    dimension = joint_dimension(_DIMENSIONS.get(kind, kind.replace("-", " ")) for kind in kinds)
    first = {pair.forms["sentence"]: pair for pair in reversed(pairs)}
    again = [int(pair.tags["number"]) for pair in pairs if first[pair.forms["sentence"]] is not pair]
    notes = (f"{table.name}: an earlier pair is repeated in {rows_named(again)}: kept as published",) if again else ()
    return SentenceSet("crows_pairs", tuple(pairs), dimension=dimension, notes=notes)
