"""Cloze data in the layouts of GenderLex, told apart by the columns of each file."""

from __future__ import annotations

from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.datasets.genderlex import load_genderlex, load_race_sets
from tiltmeter.stimuli.datasets.pronoun_contexts import load_pronoun_contexts
from tiltmeter.stimuli.sentences.cloze_sets import ClozeSet


def load_cloze_files(path: str | Path) -> tuple[ClozeSet, ...]:
    """The cloze sets in a CSV file, or in all those in a folder and the folders below it; sets of races come last."""
    place = Path(path)
    if not place.exists():
        raise BadInput(f"no file or folder {place}: give one that holds GenderLex files (GenderLex_noun.csv, ...)")
    files = sorted(place.rglob("*.csv")) if place.is_dir() else [place]
    if not files:
        raise BadInput(f"{place}: no CSV file in this folder")
    sets: list[ClozeSet] = []
    races: list[ClozeSet] = []
    plain = False
    for file in files:
        columns = read_table(file).columns
        if "race_A1" in columns:
            races += load_race_sets(file)
        elif "pronoun_m" in columns or "prounoun_m" in columns:
            sets.append(load_pronoun_contexts(file))
        else:
            plain = True
            sets += load_genderlex(file)
    # All files of a folder at once also says where they contradict each other.
    together = plain and place.is_dir() and not any(each.context == "topic" for each in sets) and len(sets) > 1
    return (*(load_genderlex(place) if together else sets), *races)
