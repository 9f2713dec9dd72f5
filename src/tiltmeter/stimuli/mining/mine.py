"""Mining: natural texts around the words of a lexicon, out of a corpus of any size."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from tiltmeter.errors import BadInput, require, unknown
from tiltmeter.files import LOCK, UNFINISHED, locked
from tiltmeter.progress import progress_bar
from tiltmeter.stimuli.languages import script_of
from tiltmeter.stimuli.lexicon.lexicon import Group
from tiltmeter.stimuli.mining import engines
from tiltmeter.stimuli.mining.corpus import SHARD, Shard, cut_into_shards, find_files
from tiltmeter.stimuli.mining.finds import Finds, PartsFolder
from tiltmeter.stimuli.mining.mined import ABOUT, OCCURRENCES, PARTS, MiningReport, save_finds
from tiltmeter.stimuli.mining.mining_settings import (
    Across,
    MiningSettings,
    find_groups,
    find_words,
    language_of,
    parse_lengths,
)
from tiltmeter.stimuli.mining.records import RecordReader

LENGTHS = ("9", "25", "75", ">75")
_MEGABYTE = 1_000_000
#: Another number wherever windows are ranked in another way than before: parts of two ways do not go together.
_RANKING = 3
#: How many places of a corpus are looked at before the work begins.
_PLACES = 16


def mine(
    corpora: Sequence[str | Path],
    *,
    lexicon: Sequence[str | Group],
    out: str | Path,
    lengths: Sequence[str] = LENGTHS,
    keep: int = 5000,
    least: int = 30,
    column: str | None = None,
    within: Literal["text", "sentence"] = "text",
    across: Across = "none",
    language: str | None = None,
    errors: Literal["strict", "replace"] = "strict",
    seed: int = 0,
    workers: int = 1,
    engine: Literal["local", "ray"] = "local",
    ray_address: str | None = None,
    shard_bytes: int = SHARD,
    announce: Callable[[str], None] = lambda _: None,
) -> MiningReport:
    """Find the words of a lexicon in a corpus, and keep a uniform sample of the texts around them.

    For every word and length at most ``keep`` different windows are kept; which ones depends on the seed alone, not on
    the order of the files or the number of workers. A run that was interrupted resumes where it was.

    Args:
        corpora: Text, JSONL, CSV, TSV and Parquet files, also packed.
        lexicon: Groups of words, their addresses, or names and files of whole lexicons.
        out: The folder for what is found.
        lengths: How much text around a word: ``9`` words, more than 75 (``>75``), or its ``sentence``.
        keep: The most windows kept of each word and length.
        least: Words with fewer windows than this are reported.
        column: The column that holds the text, where files have several.
        within: Whether a window may reach beyond its sentence.
        across: Whether a window may reach into the line before and after in text files (``lines``), into the record
            before and after in any file (``records``), or stays in its own (``none``). A file is then read in one part.
        language: The code or pack of the language; by default that of the words.
        errors: What to do about bytes that are no UTF-8.
        seed: Another seed draws another sample.
        workers: Processes that share the work.
        engine: This machine, or a Ray cluster at ``ray_address``.
        ray_address: Where the cluster is.
        shard_bytes: The size of one part of the work.
        announce: Is told when a run resumes or starts anew.
    """
    known = {"within": ("text", "sentence"), "errors": ("strict", "replace"), "engine": ("local", "ray")}
    options = {"within": within, "errors": errors, "engine": engine, "across": across}
    for name, value in options.items():
        choices = known.get(name, get_args(Across))
        if value not in choices:
            raise unknown(name, value, choices)
    if not 1 <= least <= keep:
        raise BadInput(f"--least {least} and --keep {keep}: at least one text, and no more than are kept, can be asked")
    require("mining a corpus", "mining", "numba", "pyarrow")  # before anything is written
    folder, groups = Path(out), find_groups(lexicon)
    speech = language_of(language, groups)
    words = find_words(groups, speech)
    settings = MiningSettings(speech, words, parse_lengths(lengths), keep, within, across, errors, seed)
    _check_folder(folder)
    shards = cut_into_shards(find_files(corpora, column), shard_bytes, whole=settings.joins)
    _check_script(settings, shards)
    store = PartsFolder(folder / PARTS, _identity(settings, shards))
    with locked(folder):
        finds = _gather(settings, shards, store, announce, engine=engine, workers=workers, ray_address=ray_address)
        if not finds.hits.any():
            store.clear()
            raise BadInput(f"none of the {len(words)} words occurs in the corpus: check the lexicon and --language")
        report = save_finds(folder, groups, settings, shards, finds, least)
        store.clear()
    return report


def _gather(
    settings: MiningSettings, shards: Sequence[Shard], store: PartsFolder, announce: Callable[[str], None],
    *, engine: str, workers: int, ray_address: str | None,
) -> Finds:  # fmt: skip
    """What all parts of the corpus hold, without reading again those that were read before."""
    if store.outdated:
        announce("other settings or another corpus than in the interrupted run: starting over")
    store.begin()
    finds = Finds.none(settings)
    store.load(finds)
    if finds.shards:
        announce(f"resuming: {len(finds.shards)} of {len(shards)} parts of the corpus are done")
    todo = [shard for shard in shards if shard.number not in finds.shards]
    limits = finds.reservoirs.limits.copy
    read = 0
    with progress_bar("mining, MB", sum(shard.size for shard in todo) // _MEGABYTE) as move_bar:

        def advance(size: int) -> None:
            nonlocal read
            move_bar((read + size) // _MEGABYTE - read // _MEGABYTE)
            read += size

        if engine == "ray":
            done = engines.on_ray(settings, todo, limits, advance, workers=workers, address=ray_address)
        elif workers > 1 and len(todo) > 1:
            done = engines.in_a_pool(settings, todo, limits, advance, workers=workers)
        else:
            done = engines.in_this_process(settings, todo, limits, advance)
        for shard, content in done:
            store.keep(shard.number, content)
            finds.add(content)
            store.combine(finds)
    return finds


def _identity(settings: MiningSettings, shards: Sequence[Shard]) -> dict[str, Any]:
    """Everything that decides what is found: a run with another identity cannot resume from the parts of this one."""
    speech = settings.language
    rules = [speech.code, speech.unicode, speech.sentence_ends, sorted(speech.abbreviations), str(speech.replacements)]
    return {
        "ranking": _RANKING,
        "rules": rules,
        "words": [[word.text, *word.forms] for word in settings.words],
        "lengths": list(map(str, settings.lengths)),
        "options": [settings.keep, settings.within, settings.across, settings.errors, settings.seed],
        "shards": [dataclasses.astuple(shard) for shard in shards],
    }


def _check_folder(folder: Path) -> None:
    """An output folder may hold what mining leaves there, and nothing else."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"--out {folder} is a file: name a folder")
    ours = {ABOUT, OCCURRENCES, PARTS, LOCK}
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if other := [name for name in names if name not in ours and not name.endswith(UNFINISHED)]:
        raise BadInput(f"--out {folder} holds something else ({', '.join(other[:3])}): name a new or empty folder")


def _check_script(settings: MiningSettings, shards: Sequence[Shard]) -> None:
    """Words in one script are not looked for in hours of text of another."""
    if not shards:
        raise BadInput("the corpus is empty: give a file with text in it")
    readers = [RecordReader(shard, settings.errors) for shard in shards[:: -(-len(shards) // _PLACES)]]
    text = "".join(text for reader in readers for text, _, _ in itertools.islice(reader.blocks(), 1))
    if not text.strip():
        raise BadInput("the corpus holds no text: give a file with text in it")
    words = " ".join(word.text for word in settings.words)
    scripts = [{script_of(letter) for letter in set(some) if letter.isalpha()} for some in (words, text)]
    if scripts[0].isdisjoint(scripts[1]):
        asked, script = (script_of(some) or "of no script" for some in (words, text))
        raise BadInput(f"the words are {asked}, the corpus is {script}: give a lexicon in the script of the corpus")
