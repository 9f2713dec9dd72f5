"""Texts that begin alike, and text written, against a plain batched loop and Transformers' own. Run: make bench

CPU seconds are compared, of one thread each, on SmolLM2 in the same run.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import language_peers
from row import Row
from tiltmeter.models.protocol import Continuation, Prompt
from tiltmeter.models.transformers.batching import by_length, pad
from tiltmeter.models.transformers.hub import TransformerModel

#: Examples of BBQ that are scored, and how many of them in the plain way too.
EXAMPLES, PLAIN = 80, 40
#: Prompts that are continued, by how many tokens, and the sizes of batches that Transformers may choose from.
PROMPTS, TOKENS, SIZES = 48, 24, (8, 24, 48)


def bench() -> list[Row]:
    model = language_peers.models()["causal"]
    return [shared_beginnings(model), written(model, mixed=False), written(model, mixed=True)]


def cpu(work: Callable[[], object]) -> float:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    start = time.process_time()
    try:
        work()
        return time.process_time() - start
    finally:
        torch.set_num_threads(threads)


def questions() -> list[Continuation]:
    """Examples of BBQ in fours, where it is there; else our own in the same form."""
    from tiltmeter.errors import BadInput
    from tiltmeter.probes.sentences.bbq import continuation
    from tiltmeter.stimuli.datasets import find, load_bbq

    try:
        examples = load_bbq(find("bbq"))
    except BadInput:  # not on this machine
        people = [("the cook", "the guard"), ("the nurse", "the driver"), ("the clerk", "the painter")]
        texts = [f"I saw {one} and {two} in the library on Monday, and both were in a hurry." for one, two in people]
        more = [text + " The second one had lost a book and asked everyone for it." for text in texts]
        endings = (" The first", " The second", " It is not known")
        return [
            Continuation(f"{text} {question}\nAnswer:", endings)
            for both in zip(texts, more, strict=True)
            for text in both
            for question in ("Who had lost a book?", "Who found it?")
        ] * 6
    starts = np.linspace(0, len(examples) // 4 - 5, EXAMPLES // 20).astype(int) * 4
    return [continuation(example, "plain") for start in starts for example in examples[start : start + 20]]


def shared_beginnings(model: TransformerModel) -> Row:
    """Stems with their endings, against each text as a row of its own, in batches of like length, head where read."""
    items = questions()
    model.continue_with(items[:1])
    ours = cpu(lambda: model.continue_with(items)) / len(items)
    some = items[:PLAIN]
    rows = [_ids(model, item.stem + ending) for item in some for ending in item.endings]
    groups = by_length([len(ids) for ids in rows], budget=1024)
    theirs = cpu(lambda: [_scored(model, [rows[i] for i in group]) for group in groups]) / len(some)
    what = f"BBQ, three answers to each of {len(items)} questions, {model.name}"
    shown = f"{1 / ours:.1f} /s of CPU", f"{1 / theirs:.1f} /s (plain batches)"
    return Row(what, *shown, theirs / ours, ">= 2 x", theirs >= 2 * ours)


def written(model: TransformerModel, *, mixed: bool) -> Row:
    """Prompts of one length or of several, against generate() with the best of several sizes of batches."""
    sentence = "The old bridge near the small town was mended by people who had come from far away in the spring"
    words = sentence.split()
    lengths = [4 + 3 * (i % 5) if mixed else 10 for i in range(PROMPTS)]
    texts = [f"{i} " + " ".join(words[:n]) for i, n in enumerate(lengths, 10)]
    prompts = [Prompt(text, max_tokens=TOKENS) for text in texts]
    model.generate(prompts[:1])
    ours = cpu(lambda: model.generate(prompts))
    times = {size: cpu(functools.partial(_generated, model, texts, size)) for size in SIZES}
    size = min(times, key=times.__getitem__)
    theirs = times[size]
    what = f"{TOKENS} tokens after {PROMPTS} prompts of {'several lengths' if mixed else 'one length'}, {model.name}"
    least = 0.9 if mixed else 1.0
    shown = f"{PROMPTS / ours:.2f} texts/s of CPU", f"{PROMPTS / theirs:.2f} (generate, best batch {size})"
    return Row(what, *shown, theirs / ours, f">= {least:g} x", theirs >= least * ours)


def _ids(model: TransformerModel, text: str) -> tuple[int, ...]:
    return tuple(model._language.tokenizer(text)["input_ids"])


def _scored(model: TransformerModel, rows: Sequence[tuple[int, ...]]) -> Any:
    import torch

    ids, real = pad(rows, fill=0)
    given = {} if real is None else {"attention_mask": torch.from_numpy(real).long()}
    with torch.inference_mode():
        logits = model._language._loaded.model(input_ids=torch.from_numpy(ids), **given).logits
        # As much as an ending needs: the last tokens of each row.
        return torch.log_softmax(logits[:, -8:].float(), dim=-1)


def _generated(model: TransformerModel, texts: Sequence[str], size: int) -> None:
    import torch

    tokenizer, language = model._language.tokenizer, model._language._loaded.model
    tokenizer.padding_side = "left"
    try:
        for start in range(0, len(texts), size):
            some = tokenizer(list(texts[start : start + size]), return_tensors="pt", padding=True)
            with torch.inference_mode():
                language.generate(**some, do_sample=True, top_k=0, max_new_tokens=TOKENS, use_cache=True)
    finally:
        tokenizer.padding_side = "right"


if __name__ == "__main__":
    for row in bench():
        print(row)
