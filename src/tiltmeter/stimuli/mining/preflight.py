"""What can be told about a corpus and an output folder before the work begins."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.languages import script_of
from tiltmeter.stimuli.mining.corpus import Shard
from tiltmeter.stimuli.mining.mined import ABOUT, OCCURRENCES
from tiltmeter.stimuli.mining.records import Reader
from tiltmeter.stimuli.mining.settings import Settings

#: How many places of a corpus are looked at.
_PLACES = 16


def check_folder(folder: Path, *, parts: str) -> None:
    """An output folder may hold what mining leaves there, and nothing else."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"--out {folder} is a file: name a folder")
    ours = {ABOUT, OCCURRENCES, parts}
    other = sorted(each.name for each in folder.iterdir() if each.name not in ours) if folder.is_dir() else []
    if other:
        raise BadInput(f"--out {folder} holds something else ({', '.join(other[:3])}): name a new or empty folder")


def check_script(settings: Settings, shards: Sequence[Shard]) -> None:
    """Words in one script are not looked for in hours of text of another."""
    if not shards:
        raise BadInput("the corpus is empty: give a file with text in it")
    text = "".join(_beginning(shard, settings) for shard in shards[:: -(-len(shards) // _PLACES)])
    if not text.strip():
        raise BadInput("the corpus holds no text: give a file with text in it")
    words = " ".join(each.word for each in settings.sought)
    if not _scripts(words) & _scripts(text):
        raise BadInput(
            f"the words are {script_of(words) or 'of no script'}, the corpus is {script_of(text) or 'of no script'}: "
            "give a lexicon in the script of the corpus"
        )


def _beginning(shard: Shard, settings: Settings) -> str:
    blocks = Reader(shard, settings.errors).blocks()
    return "".join(text for text, _, _ in itertools.islice(blocks, 1))


def _scripts(text: str) -> set[str]:
    return {script_of(letter) for letter in set(text) if letter.isalpha()}
