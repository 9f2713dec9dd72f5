"""Log-probabilities: tiltmeter against minicons, scoring as published, and a bare forward loop. Run: make bench

Everyone runs on the same machine in the same run, one after the other, with the models of benchmarks/language_peers.py.
What takes too long in the slow way is timed there on a sample, and compared by rows a second.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import language_peers
from row import Row
from tiltmeter.models.protocol import Continuation, Question, Span
from tiltmeter.models.transformers.batching import by_length, fair_budget, pad
from tiltmeter.models.transformers.hub import BUDGET, TransformerModel
from tiltmeter.stimuli.sentences.cloze_sets import ClozeSet, cloze_sets, stem
from tiltmeter.stimuli.sentences.sentence import Sentence
from tiltmeter.stimuli.sentences.shipped import occupation_set

#: Sentences whose pseudo-log-likelihoods are compared with minicons.
SENTENCES = 200
#: Rows of a cloze set that are also scored one sentence a pass.
CLOZE_SAMPLE = 30
#: Sentence pairs, how many of their masked sentences are also scored one a pass, and how often both take turns.
PAIRS, PAIRS_SAMPLE, TURNS = 100, 80, 5
#: Tokens in the long sentence, and how much more memory than one forward pass it may take.
LONG, MOST_MEMORY = 512, 1.5


def bench() -> list[Row]:
    masked, causal = language_peers.masked_model(), language_peers.models()["causal"]
    texts = sentences(SENTENCES)
    return [
        against_minicons(masked, texts),
        as_published(causal, cloze()),
        pairs(masked),
        against_bare_loop("masked", masked, texts),
        against_bare_loop("causal", causal, texts[:: max(1, SENTENCES // 50)]),
        memory(),
    ]


def sentences(n: int) -> list[str]:
    """Different English sentences of our own sets."""
    texts = occupation_set().texts
    return list(texts[:: max(1, len(texts) // n)][:n])


def cloze() -> list[ClozeSet]:
    """Three sets: of GenderLex, where it is there, or else our own."""
    from tiltmeter.errors import BadInput
    from tiltmeter.stimuli.datasets import find, load_genderlex

    try:
        found: Sequence[ClozeSet] = load_genderlex(find("genderlex"))
    except BadInput:  # not on this machine
        found = cloze_sets()
    return list(found[:3])


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def spans(texts: Sequence[str]) -> list[Span]:
    return [Span(text, 0, len(text)) for text in texts]


def against_minicons(model: TransformerModel, texts: list[str]) -> Row:
    what = f"pseudo-log-likelihood of {len(texts)} sentences, {model.name}"
    model.pseudo_score(spans(texts[:1]))
    ours = len(texts) / seconds(lambda: model.pseudo_score(spans(texts)))
    if not language_peers.python().exists():
        return Row(what, f"{ours:.1f} /s", "no minicons: run make peers")
    with language_peers.for_transformers_4(model) as folder:
        job = {"kind": "masked", "folder": str(folder), "texts": texts, "batch": language_peers.BATCH}
        (answer,) = language_peers.ask([job])
    theirs = len(texts) / answer["seconds"]
    return Row(what, f"{ours:.1f} /s", f"{theirs:.1f} /s (minicons)", ours / theirs, ">= 2 x", ours >= 2 * theirs)


def as_published(model: TransformerModel, sets: list[ClozeSet]) -> Row:
    """The pronoun with and without a full stop after it: stems that sets share are read once, and so is each stem."""
    rows = [row for each in sets for row in each.sentences if stem(row)]
    asked = list(dict.fromkeys(_continuation(row) for row in rows))
    model.continue_with(asked[:1])
    ours = len(rows) / seconds(lambda: model.continue_with(asked))
    sample = rows[:CLOZE_SAMPLE]
    texts = [item.stem + ending for item in map(_continuation, sample) for ending in item.endings]
    ids = [_ids(model, text) for text in texts]
    theirs = len(sample) / _best(lambda: [_forward(model, [each]) for each in ids])
    return Row(
        f"rows of 3 cloze sets ({len(rows)} rows, {len(asked)} stems), {model.name}",
        f"{ours:.1f} /s",
        f"{theirs:.1f} /s (4 passes a row)",
        ours / theirs,
        ">= 8 x",
        ours >= 8 * theirs,
    )


def _continuation(row: Sentence) -> Continuation:
    endings = [f" {pronoun}{mark}" for pronoun in row.forms["pronoun"] for mark in ("", ".")]
    return Continuation(stem(row) or "", tuple(endings))


def pairs(model: TransformerModel) -> Row:
    """Both sentences of a pair, each token masked in turn, turn by turn with the way of the authors of CrowS-Pairs: one
    masked sentence a pass, through the whole head, gradients kept, with torch's own number of threads."""
    both = sentence_pairs(PAIRS)
    texts = [text for pair in both for text in pair]
    rows = _rows("masked", model, texts)
    alone = rows[:: max(1, len(rows) // PAIRS_SAMPLE)]
    ours, theirs = list[float](), list[float]()
    for _ in range(TURNS):
        ours.append(len(both) / seconds(lambda: model.pseudo_score(spans(texts))))
        each = seconds(lambda: [_as_the_authors(model, ids) for ids in alone]) / len(alone)
        theirs.append(len(both) / (each * len(rows)))
    ratio = statistics.median(ours) / statistics.median(theirs)
    return Row(
        f"sentence pairs, every token masked, {model.name}",
        f"{statistics.median(ours):.1f} /s",
        f"{statistics.median(theirs):.2f} /s (one mask a pass)",
        ratio,
        ">= 10 x",
        ratio >= 10,
    )


def _as_the_authors(model: TransformerModel, ids: tuple[int, ...]) -> Any:
    import torch

    (logits,) = model._language._projection.model(input_ids=torch.tensor([ids])).logits
    at = ids.index(model._language.tokenizer.mask_token_id)
    return torch.log_softmax(logits[at], dim=0)[ids[at]].item()


def sentence_pairs(n: int) -> list[tuple[str, str]]:
    """Pairs of CrowS-Pairs, spread over it, where it is there, or else of our own."""
    from tiltmeter.errors import BadInput
    from tiltmeter.stimuli.datasets import find, load_crows_pairs

    try:
        rows = load_crows_pairs(find("crows_pairs")).sentences
    except BadInput:  # not on this machine
        rows = occupation_set().sentences
    pairs = [(row.of_group(1).text, row.of_group(2).text) for row in rows]
    return pairs[:: max(1, len(pairs) // n)][:n]


def against_bare_loop(kind: str, model: TransformerModel, texts: list[str]) -> Row:
    """Transformers' own forward pass over the same batches, with the number of threads that suits it best."""
    rows = list(dict.fromkeys(_rows(kind, model, texts)))
    lengths = [len(ids) for ids in rows]
    batches = [
        [rows[i] for i in group] for group in by_length(lengths, budget=fair_budget(lengths, budget=BUDGET["cpu"]))
    ]
    ours = seconds(lambda: language_peers.ours(kind, model, texts))
    theirs = _best(lambda: [_forward(model, batch) for batch in batches])
    return Row(
        f"{len(rows)} rows of tokens, {kind}, {model.name}",
        f"{len(rows) / ours:.1f} /s",
        f"{len(rows) / theirs:.1f} /s (bare loop)",
        theirs / ours,
        ">= 0.8 x",
        theirs / ours >= 0.8,
    )


def _best(work: Callable[[], object]) -> float:
    """Seconds with one thread or with all of them, whichever is faster here."""
    import torch

    most, times = torch.get_num_threads(), []
    try:
        for threads in sorted({1, most}):
            torch.set_num_threads(threads)
            times.append(seconds(work))
    finally:
        torch.set_num_threads(most)
    return min(times)


def _rows(kind: str, model: TransformerModel, texts: list[str]) -> list[tuple[int, ...]]:
    question, items = (Question.TOKENS, texts) if kind == "causal" else (Question.PSEUDO, spans(texts))
    return [row.ids for task in model._language._questions.tasks(question, items) for row in task.rows]


def _ids(model: TransformerModel, text: str) -> tuple[int, ...]:
    return tuple(model._language.tokenizer(text)["input_ids"])


def _forward(model: TransformerModel, rows: Sequence[tuple[int, ...]]) -> Any:
    """The whole model with its whole head, over a padded batch."""
    import torch

    ids, real = pad(rows, fill=0)
    given = {} if real is None else {"attention_mask": torch.from_numpy(real).long()}
    with torch.inference_mode():
        return model._language._projection.model(input_ids=torch.from_numpy(ids), **given).logits


def memory() -> Row:
    """The peak of a process that masks each token of a long sentence in turn, and of one that reads it once."""
    peaks = {way: _peak(way) for way in ("forward", "pseudo")}
    ratio = peaks["pseudo"] / peaks["forward"]
    return Row(
        f"peak memory, {LONG} tokens masked in turn, against one pass",
        f"{peaks['pseudo']:.0f} MB",
        f"{peaks['forward']:.0f} MB (one pass)",
        ratio,
        f"< {MOST_MEMORY} x the memory",
        ratio < MOST_MEMORY,
    )


def _peak(way: str) -> float:
    done = subprocess.run([sys.executable, __file__, way], capture_output=True, text=True, check=True)
    return float(done.stdout)


def _long_sentence(way: str) -> None:
    model = language_peers.masked_model()
    text = " ".join(["nurse"] * (min(LONG, model._language.limit or LONG) - 2))
    if way == "forward":
        _forward(model, [_ids(model, text)])
    else:
        model.pseudo_score(spans([text]))
    # The kernel's own mark: what getrusage says starts at the size of the parent process.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


if __name__ == "__main__":
    _long_sentence(sys.argv[1])
