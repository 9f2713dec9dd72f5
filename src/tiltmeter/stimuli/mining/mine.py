"""Mining: natural texts around the words of a lexicon, out of a corpus of any size."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from tiltmeter.errors import BadInput, unknown
from tiltmeter.progress import progress_bar
from tiltmeter.stimuli.lexicon.lexicon import Group
from tiltmeter.stimuli.mining import engines
from tiltmeter.stimuli.mining.corpus import SHARD, Shard, cut, find_files
from tiltmeter.stimuli.mining.parts import Finds, PartsFolder
from tiltmeter.stimuli.mining.preflight import check_folder, check_script
from tiltmeter.stimuli.mining.result import MiningReport, save
from tiltmeter.stimuli.mining.settings import Settings
from tiltmeter.stimuli.mining.sought import find_groups, find_language, find_words, parse_lengths

LENGTHS = ("9", "25", "75", ">75")
_PARTS = "parts"
_MEGABYTE = 1_000_000
#: Another number wherever windows are ranked in another way than before: parts of two ways do not go together.
_RANKING = 2


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
    the order of the files or the number of workers. A run that was interrupted goes on where it was.
    """
    for name, value, known in (("within", within, ("text", "sentence")), ("errors", errors, ("strict", "replace")),
                               ("engine", engine, ("local", "ray"))):  # fmt: skip
        if value not in known:
            raise unknown(name, value, known)
    if not 1 <= least <= keep:
        raise BadInput(f"--least {least} and --keep {keep}: at least one text, and no more than are kept, can be asked")
    folder, groups = Path(out), find_groups(lexicon)
    speech = find_language(language, groups)
    words = find_words(groups, speech)
    settings = Settings(speech, words, parse_lengths(lengths), keep, within, errors, seed)
    check_folder(folder, parts=_PARTS)
    files = find_files(corpora, column)
    shards = cut(files, shard_bytes)
    check_script(settings, shards)
    store = PartsFolder(folder / _PARTS, _identity(settings, shards))
    finds = _gather(settings, shards, store, announce, engine=engine, workers=workers, ray_address=ray_address)
    if not finds.hits.any():
        store.clear()
        raise BadInput(f"none of the {len(words)} words stands in the corpus: check the lexicon and --language")
    report = save(folder, groups, settings, shards, finds, least)
    store.clear()
    return report


def _gather(
    settings: Settings, shards: Sequence[Shard], store: PartsFolder, announce: Callable[[str], None],
    *, engine: str, workers: int, ray_address: str | None,
) -> Finds:  # fmt: skip
    """What all parts of the corpus hold, without reading again those that were read before."""
    if store.outdated:
        announce("other settings or another corpus than in the run that was interrupted: starting anew")
    store.begin()
    finds = Finds.none(settings)
    store.load(finds)
    if finds.shards:
        announce(f"going on: {len(finds.shards)} of {len(shards)} parts of the corpus are done")
    todo = [shard for shard in shards if shard.number not in finds.shards]
    limits = finds.reservoirs.known_limits
    with _megabytes(sum(shard.size for shard in todo)) as advance:
        if engine == "ray":
            done = engines.ray(settings, todo, limits, advance, workers=workers, address=ray_address)
        elif workers > 1 and len(todo) > 1:
            done = engines.pool(settings, todo, limits, advance, workers=workers)
        else:
            done = engines.here(settings, todo, limits, advance)
        for shard, content in done:
            store.keep(shard.number, content)
            finds.add(content)
            store.put_together(finds)
    return finds


@contextmanager
def _megabytes(total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar that counts megabytes and is told of bytes."""
    read = 0
    with progress_bar("mining, MB", total // _MEGABYTE) as advance:

        def tell(size: int) -> None:
            nonlocal read
            advance((read + size) // _MEGABYTE - read // _MEGABYTE)
            read += size

        yield tell


def _identity(settings: Settings, shards: Sequence[Shard]) -> dict[str, Any]:
    """Everything that decides what is found: a run with another identity cannot go on from this one's parts."""
    speech = settings.language
    rules = [speech.code, speech.unicode, speech.sentence_ends, sorted(speech.abbreviations), str(speech.replacements)]
    return {
        "ranking": _RANKING,
        "rules": rules,
        "words": [[each.word, *each.forms] for each in settings.sought],
        "lengths": list(map(str, settings.lengths)),
        "options": [settings.keep, settings.within, settings.errors, settings.seed],
        "shards": [dataclasses.astuple(shard) for shard in shards],
    }
