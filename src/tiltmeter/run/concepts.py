"""Concepts for CrowS-Pairs: a language model proposes one word for each pair, and a person edits the file."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tiltmeter.errors import BadInput
from tiltmeter.files import write_atomically
from tiltmeter.models import CachedModel, VectorStore, load
from tiltmeter.models.protocol import Prompt, Question
from tiltmeter.progress import progress_bar
from tiltmeter.run.probe import announce_cost, stored
from tiltmeter.statistics import Result
from tiltmeter.stimuli.datasets import find
from tiltmeter.stimuli.datasets.crows_pairs import GenderPair, gender_pairs, gendered_words
from tiltmeter.stimuli.datasets.csv_tables import Table, read_table
from tiltmeter.stimuli.text import comparable, normalise

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget

_PROMPT = """\
A sentence is written once about a man and once about a woman; a blank (____) stands for who it is about.

Sentence: {sentence}

Which trait or topic does it say of that person? Answer with one English word alone."""
#: A concept has at most so many words and letters.
_WORDS, _LETTERS = 2, 30
_COLUMNS = ("sent_more", "sent_less", "stereo_antistereo", "bias_type", "concept", "proposed")


@dataclasses.dataclass(frozen=True, slots=True)
class Concepts(Result):
    """What came of it: pairs on gender, concepts that stood in the file before, new ones, and answers that were none.

    ``nonsense`` are answers that were kept out: nothing, a whole sentence, or a gendered word.
    """

    file: str
    pairs: int
    kept: int
    proposed: int
    nonsense: int
    examples: tuple[str, ...] = ()


def propose_concepts(
    pairs: str | Path,
    model: str | object,
    *,
    out: str | Path,
    cache: bool | VectorStore = True,
    budget: Budget | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> Concepts:
    """Ask a model for the concept of every pair on gender, and write a table that a person edits.

    Column ``concept`` is what ClozeGender reads; ``proposed`` is what the model said, so that an edit can be seen. What
    stands in ``out`` from before is kept: only pairs whose concept is blank are asked about.

    Args:
        pairs: a table in the form of CrowS-Pairs, or ``crows_pairs`` for the public one.
        model: a chat model, or another that writes text.
        out: the CSV file.
        cache: whether answers are stored, or where.
        budget: the most to spend at a paid API.
        progress: whether to show a bar; by default on a terminal or in a notebook.
        announce: is told what a paid API would cost, before it is asked.
    """
    table = read_table(find("crows_pairs") if str(pairs) == "crows_pairs" else pairs)
    pairs_found, _ = gender_pairs(table)
    if not pairs_found:
        raise BadInput(f"{table.name}: no pair of it exchanges a man and a woman, so there is nothing to name")
    known = _known(Path(out))
    asked = [pair for pair in pairs_found if not known.get(_key(pair), ("", ""))[0]]
    answers = _ask(asked, model, cache, budget, progress, announce)
    concepts, nonsense = dict[tuple[str, str], str](), list[str]()
    for pair, answer in zip(asked, answers, strict=True):
        concept = read_concept(answer)
        concepts[_key(pair)] = concept
        if not concept:
            nonsense.append(answer)
    rows = []
    for pair in pairs_found:
        before, said = known.get(_key(pair), ("", ""))
        new = concepts.get(_key(pair), "")
        rows.append((pair, before or new, said or new))
    write_atomically(Path(out), _csv(table, rows).encode())
    return Concepts(
        str(out),
        len(pairs_found),
        len(pairs_found) - len(asked),
        len(asked) - len(nonsense),
        len(nonsense),
        tuple(nonsense[:3]),
    )


def read_concept(answer: str) -> str:
    """The concept in an answer; empty where it is none.

    >>> [read_concept(answer) for answer in (" **Ineptitude**. ", "I cannot answer that, sorry.", "women", "")]
    ['ineptitude', '', '', '']
    """
    word = comparable(normalise(answer.strip().strip("*_\"'`“”.,:;!?[]() ")))
    letters = word.replace("-", "").replace(" ", "")
    fits = letters.isalpha() and len(word) <= _LETTERS and len(word.split()) <= _WORDS
    return word if fits and word not in gendered_words() else ""


def _key(pair: GenderPair) -> tuple[str, str]:
    return normalise(pair.row["sent_more"]), normalise(pair.row["sent_less"])


def _known(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Concepts of a file from before, and what was proposed then."""
    if not path.exists():
        return {}
    table = read_table(path)
    table.need("sent_more", "sent_less", "concept", filled=False)
    return {
        (normalise(row["sent_more"]), normalise(row["sent_less"])): (
            row["concept"].strip(),
            row.cells.get("proposed", "").strip(),
        )
        for row in table.rows
    }


def _ask(
    asked: list[GenderPair],
    model: str | object,
    cache: bool | VectorStore,
    budget: Budget | None,
    progress: bool | None,
    announce: Callable[[str], None],
) -> list[str]:
    """What the model says of each pair."""
    if not asked:
        return []
    prompts = [Prompt(_PROMPT.format(sentence=pair.blanked), temperature=0, max_tokens=16) for pair in asked]
    with stored(cache) as store:
        writer = CachedModel(load(model, budget=budget), store)
        if not writer.answers_question(Question.GENERATE):
            raise BadInput(f"{writer.identity.name} writes no text: name a chat model, e.g. chat:gpt-4o-mini")
        announce_cost(writer, Question.GENERATE, prompts, announce)
        with progress_bar("concepts", len(prompts), model=writer.identity.name, show=progress) as advance:
            written = writer.answers(Question.GENERATE, prompts, progress=advance)
    return [written[prompt].texts[0] for prompt in prompts]


def _csv(table: Table, rows: list[tuple[GenderPair, str, str]]) -> str:
    columns = [name for name in _COLUMNS if name in (*table.columns, "concept", "proposed")]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for pair, concept, proposed in rows:
        cells = {name: pair.row.cells.get(name, "") for name in columns}
        writer.writerow({**cells, "concept": concept, "proposed": proposed})
    return text.getvalue()
