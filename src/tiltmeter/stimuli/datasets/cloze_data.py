"""Cloze sets by what a user names: a shipped set, a YAML file, a public data set, or files of one's own."""

from __future__ import annotations

from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.catalogue import find
from tiltmeter.stimuli.datasets.genderlex import load_cloze_files
from tiltmeter.stimuli.sentences.cloze_sets import ClozeSet, cloze_sets, japanese_cloze
from tiltmeter.stimuli.sentences.shipped import set_names

_PUBLIC = ("genderlex", "genderlex_ja", "genderlex_winobias", "genderlex_winogender")


def load_cloze(data: str | Path | None = None) -> tuple[ClozeSet, ...]:
    """The cloze sets of a shipped name, a YAML file, a public set, a folder or CSV file of GenderLex, or a draft.

    >>> load_cloze("pairs_ja")[0].context
    'topic'
    """
    if data is None or str(data) in set_names("cloze") or str(data).endswith((".yaml", ".yml")):
        return cloze_sets(str(data or "cloze_en"))
    if str(data) == "pairs_ja":
        return (japanese_cloze(),)
    path = find(str(data)) if str(data) in _PUBLIC else Path(data)
    if not path.exists():
        names = ", ".join((*set_names("cloze"), "pairs_ja", *_PUBLIC))
        raise BadInput(
            f"no cloze data '{data}': give a folder or CSV file of GenderLex, a draft with accepted rows, or one of "
            f"{names}"
        )
    return load_cloze_files(path)
