"""Train GloVe on a corpus of any size, plain or neutral: count words, count pairs, put them together, descend."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tiltmeter import cluster
from tiltmeter.errors import BadInput, require, unknown
from tiltmeter.files import LOCK, UNFINISHED, at_home, locked, read_json, writable, write_atomically
from tiltmeter.lab.glove.cooccurrence import BLOCKS, PairCount, block_file, buckets, count_pairs, put_together
from tiltmeter.lab.glove.descent import STATE, Seeds, State, descend
from tiltmeter.lab.glove.loss import Matrix
from tiltmeter.lab.glove.seeds import SeedGroup, SomeSeeds, find_seeds, numbered_seeds, seed_groups
from tiltmeter.lab.glove.vocabulary import TextRules, add_up, count_words, numbered
from tiltmeter.progress import progress_bar
from tiltmeter.statistics.groups import Result
from tiltmeter.stimuli.languages import language as language_pack
from tiltmeter.stimuli.mining.corpus import Shard, cut_into_shards, find_files

#: All dimensions, those without the reserved ones, and these alone.
VECTORS, NEUTRAL, RESERVED, ABOUT, PARTS = "vectors.bin", "neutral.bin", "reserved.bin", "glove.json", "parts"
_TEXT, _TRAINING = "text.json", "training.json"
#: The size of one part of the work: what is counted in one is held in memory.
SHARD = 8 << 20
_MEGABYTE = 1_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class GloveSettings(Result):
    """What decides the vectors, but for the text and the words that say a group."""

    size: int = 100
    window: int = 10
    min_count: int = 5
    most_words: int = 400_000
    iterations: int = 25
    rate: float = 0.05
    x_max: float = 100.0
    alpha: float = 0.75
    strength: float = 1.0
    seed: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class GloveReport(Result):
    """What was trained; ``losses`` are the mean of J_G at each iteration, ``reserved`` the last dimensions' number."""

    folder: str
    corpus: tuple[str, ...]
    language: str
    settings: GloveSettings
    words: int
    vocabulary: int
    entries: int
    losses: tuple[float, ...]
    groups: tuple[SeedGroup, ...]
    reserved: int

    @property
    def models(self) -> tuple[str, ...]:
        """The specs of the vectors: all dimensions, and where some are reserved those without and those alone."""
        names = (VECTORS, NEUTRAL, RESERVED) if self.reserved else (VECTORS,)
        return tuple(f"static:{Path(self.folder, name)}" for name in names)


def train_glove(
    corpora: Sequence[str | Path],
    *,
    out: str | Path,
    neutral: SomeSeeds | None = None,
    size: int = 100,
    window: int = 10,
    min_count: int = 5,
    most_words: int = 400_000,
    iterations: int = 25,
    rate: float = 0.05,
    x_max: float | None = None,
    alpha: float = 0.75,
    strength: float = 1.0,
    language: str = "en",
    column: str | None = None,
    errors: Literal["strict", "replace"] = "strict",
    seed: int = 0,
    workers: int = 1,
    engine: Literal["local", "ray"] = "local",
    ray_address: str | None = None,
    shard_bytes: int = SHARD,
    announce: Callable[[str], None] = lambda _: None,
) -> GloveReport:
    """Train GloVe on a corpus, with what says a group confined to the last dimensions where ``neutral`` names groups.

    ``out`` then holds ``vectors.bin`` (word2vec's binary form), ``neutral.bin`` without the reserved dimensions and
    ``reserved.bin`` with these alone. The same text, settings and seed give the same bytes on the same kind of
    processor, for any number of workers. A run that was interrupted resumes where it was.

    Args:
        corpora: Text, JSONL, CSV, TSV and Parquet files, also packed; a line or cell is a text of its own.
        out: The folder for the vectors.
        neutral: ``gender``, ``race``, addresses of two groups or more, a lexicon, or the groups; None for plain GloVe.
        size: Dimensions, the reserved ones (as many as groups, less one) among them.
        window: Words on each side that count as near.
        min_count: Words that come less often are left out.
        most_words: The largest vocabulary.
        iterations: Passes over all pairs.
        rate: The first learning rate.
        x_max: Pairs counted so often weigh no more; by default 100, and 10 in a text of fewer than 10 million words.
        alpha: The power of the weight below that.
        strength: How strongly a group is confined; see ``lab.glove.loss``.
        language: The code or pack of the language, whose rules tell words apart.
        column: The column that holds the text, where files have several.
        errors: What to do about bytes that are no UTF-8.
        seed: Of the first vectors and the order of the pairs.
        workers: Processes that count, and threads that train.
        engine: Where words and pairs are counted: this machine, or a Ray cluster at ``ray_address``.
        ray_address: Where the cluster is.
        shard_bytes: The size of one part of the work.
        announce: Is told when a run resumes or starts anew.
    """
    require("training GloVe", "mining", "numba")
    for name, value, choices in (("errors", errors, ("strict", "replace")), ("engine", engine, ("local", "ray"))):
        if value not in choices:
            raise unknown(name, value, choices)
    groups = {} if neutral is None else seed_groups(neutral)
    reserved = max(0, len(groups) - 1)
    if size < 4 * reserved + 2:
        raise BadInput(f"--size {size} is too small for {len(groups)} groups: give at least {4 * reserved + 2}")
    if min(window, min_count, most_words, iterations, workers) < 1 or not min(rate, alpha, strength) > 0:
        raise BadInput("--window, --min-count, --iterations and --workers are at least 1, and --strength is above 0")
    rules = TextRules(language_pack(language), errors)
    folder = at_home(out)
    _check_folder(folder)
    shards = cut_into_shards(find_files(corpora, column), shard_bytes)
    if not shards:
        raise BadInput("the corpus is empty: give a file with text in it")
    how = _Sharing(engine, workers, ray_address)
    parts = folder / PARTS
    with locked(folder):
        text: dict[str, Any] = {"shards": [dataclasses.astuple(shard) for shard in shards], "rules": _rules(rules)}
        text |= {"window": window, "min_count": min_count, "most": most_words, "seed": seed, "x": [x_max, alpha]}
        _begin(parts, text, announce)
        try:
            counts = _count_words(parts, rules, shards, how, announce)
            total = sum(counts.values())
            vocabulary = numbered(counts, min_count=min_count, most=most_words)
            if len(vocabulary) < 2:
                raise BadInput(
                    f"no word occurs at least {min_count} times in the corpus of {total:,} words: give more text, or a "
                    "lower --min-count"
                )
            words = list(vocabulary)
            seeds = find_seeds(groups, words, rules.language)
        except BadInput:
            shutil.rmtree(parts)
            raise
        least = x_max or (100.0 if total >= 10_000_000 else 10.0)
        settings = GloveSettings(
            size, window, min_count, most_words, iterations, rate, least, alpha, strength, seed
        )  # fmt: skip
        _count_pairs(parts, PairCount(rules, {word: n for n, word in enumerate(words)}, window), shards, how, announce)
        entries = _put_together(parts, shards, len(words), settings)
        state = _train(parts, len(words), numbered_seeds(seeds, words, strength=strength), settings, workers, announce)
        sources = tuple(dict.fromkeys(shard.file.source for shard in shards))
        report = GloveReport(
            str(folder), sources, rules.language.code, settings, total, len(words), entries, tuple(state.losses),
            tuple(seeds), reserved,
        )  # fmt: skip
        _save(folder, words, state.vectors[0] + state.vectors[1], report)
        shutil.rmtree(parts)
    return report


def load_report(folder: Path) -> GloveReport:
    """What ``train_glove`` wrote about the vectors of a folder."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(GloveReport).validate_python({**read_json(folder / ABOUT), "folder": str(folder)})
    except (ValidationError, TypeError) as error:
        raise BadInput(f"{folder / ABOUT} is damaged ({' '.join(str(error).split())[:80]}): train again") from None


@dataclasses.dataclass(frozen=True, slots=True)
class _Sharing:
    """Who counts: this process, processes of this machine, or a Ray cluster."""

    engine: str
    workers: int
    address: str | None

    def run(
        self, work: Callable[[Any, Shard], Any], shared: Any, shards: Sequence[Shard]
    ) -> Iterator[tuple[Shard, Any]]:
        if not shards:
            return
        if self.engine == "ray":
            with cluster.connected(workers=self.workers, address=self.address) as ray:
                yield from ray.share_out(work, shared, shards)
        elif self.workers > 1 and len(shards) > 1:
            yield from cluster.in_a_pool(work, shared, shards, workers=self.workers)
        else:
            yield from ((shard, work(shared, shard)) for shard in shards)


def _rules(rules: TextRules) -> list[Any]:
    speech = rules.language
    return [speech.code, speech.unicode, str(speech.replacements), sorted(speech.lower.items()), rules.errors]


def _begin(parts: Path, identity: dict[str, Any], announce: Callable[[str], None]) -> None:
    """Make the folder of parts ready; those of another text or of other settings are removed."""
    content = json.dumps(identity, sort_keys=True).encode()
    stored = parts / _TEXT
    if parts.is_dir() and not (stored.is_file() and stored.read_bytes() == content):
        announce("other settings or another corpus than in the interrupted run: starting over")
        shutil.rmtree(parts)
    with writable(parts):
        parts.mkdir(parents=True, exist_ok=True)
        for left in parts.glob(f".*{UNFINISHED}"):
            left.unlink(missing_ok=True)
    write_atomically(stored, content)


def _share_out(
    label: str, files: dict[int, Path], work: Callable[[Any, Shard], Any], shared: Any, shards: Sequence[Shard],
    how: _Sharing, to_bytes: Callable[[Any], bytes], announce: Callable[[str], None],
) -> None:  # fmt: skip
    """Do the work for every part of the corpus whose file does not exist yet."""
    todo = [shard for shard in shards if not files[shard.number].is_file()]
    if 0 < len(todo) < len(shards):
        announce(f"resuming: {label} in {len(shards) - len(todo)} of {len(shards)} parts of the corpus")
    with progress_bar(f"{label}, MB", sum(shard.size for shard in todo) // _MEGABYTE) as advance:
        read = 0
        for shard, answer in how.run(work, shared, todo):
            write_atomically(files[shard.number], to_bytes(answer))
            advance((read + shard.size) // _MEGABYTE - read // _MEGABYTE)
            read += shard.size


def _count_words(
    parts: Path, rules: TextRules, shards: Sequence[Shard], how: _Sharing, announce: Callable[[str], None]
) -> dict[str, int]:
    files = {shard.number: parts / f"words-{shard.number:08}.json" for shard in shards}

    def to_bytes(counts: dict[str, int]) -> bytes:
        return json.dumps(counts, ensure_ascii=False).encode()

    _share_out("words counted", files, count_words, rules, shards, how, to_bytes, announce)
    return dict(add_up(json.loads(path.read_bytes()) for _, path in sorted(files.items())))


def _count_pairs(
    parts: Path, how_counted: PairCount, shards: Sequence[Shard], how: _Sharing, announce: Callable[[str], None]
) -> None:
    if block_file(parts, BLOCKS - 1, BLOCKS - 1).is_file():
        return
    _share_out("pairs counted", _pair_files(parts, shards), count_pairs, how_counted, shards, how, bytes, announce)


def _pair_files(parts: Path, shards: Sequence[Shard]) -> dict[int, Path]:
    return {shard.number: parts / f"pairs-{shard.number:08}.safetensors" for shard in shards}


def _put_together(parts: Path, shards: Sequence[Shard], size: int, settings: GloveSettings) -> int:
    """Blocks of entries for training, and how many entries there are; the last file says that all are there."""
    last, files = block_file(parts, BLOCKS - 1, BLOCKS - 1), list(_pair_files(parts, shards).values())
    todo = [] if last.is_file() else buckets()
    with progress_bar("pairs put together, blocks", len(todo)) as advance:
        for one, two in todo:
            put_together(
                files, one, two, parts, size=size, x_max=settings.x_max, alpha=settings.alpha, seed=settings.seed
            )
            advance(1)
    for path in files:
        path.unlink(missing_ok=True)
    return sum(path.stat().st_size for path in parts.glob("block-*.bin")) // 16


def _train(
    parts: Path, size: int, seeds: Seeds, settings: GloveSettings, threads: int, announce: Callable[[str], None]
) -> State:
    identity = dataclasses.asdict(settings) | {"seeds": [members.tolist() for members in seeds.groups]}
    content, stored, path = json.dumps(identity, sort_keys=True).encode(), parts / _TRAINING, parts / STATE
    if not (stored.is_file() and stored.read_bytes() == content):
        path.unlink(missing_ok=True)
        write_atomically(stored, content)
    state = State.load(path) if path.is_file() else State.drawn(size, settings.size, seeds, seed=settings.seed)
    done = len(state.losses)
    if done:
        announce(f"resuming: {done} of {settings.iterations} iterations are done")
    with progress_bar("training, steps", (settings.iterations - done) * BLOCKS) as advance:
        return descend(
            state, parts, seeds, iterations=settings.iterations, rate=settings.rate, seed=settings.seed,
            threads=threads, keep=lambda now: now.save(path), advance=advance,
        )  # fmt: skip


def _save(folder: Path, words: Sequence[str], vectors: Matrix, report: GloveReport) -> None:
    if not np.isfinite(vectors).all():
        raise BadInput("training diverged: give a lower --rate")
    cut = vectors.shape[1] - report.reserved
    kinds = {VECTORS: vectors, NEUTRAL: vectors[:, :cut], RESERVED: vectors[:, cut:]}
    for name, some in kinds.items():
        if name == VECTORS or report.reserved:
            write_atomically(folder / name, _word2vec(words, some))
        else:
            (folder / name).unlink(missing_ok=True)
    about = {**report.to_dict(), "folder": folder.name}
    write_atomically(folder / ABOUT, (json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode())


def _word2vec(words: Sequence[str], vectors: Matrix) -> bytes:
    """Word2vec's binary form, which every library reads.

    >>> _word2vec(["he"], np.zeros((1, 1), np.float32))
    b'1 1\\nhe \\x00\\x00\\x00\\x00\\n'
    """
    rows = (word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, vectors, strict=True))
    return b"%d %d\n" % vectors.shape + b"".join(rows)


def _check_folder(folder: Path) -> None:
    """An output folder may hold what training leaves there, and nothing else."""
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"--out {folder} is a file: name a folder")
    ours = {VECTORS, NEUTRAL, RESERVED, ABOUT, PARTS, LOCK}
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if other := [name for name in names if name not in ours and not name.endswith(UNFINISHED)]:
        raise BadInput(f"--out {folder} holds something else ({', '.join(other[:3])}): name a new or empty folder")
