"""Replicate a text: all its tables and figures, or some, on models of one's own."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tiltmeter.errors import BadInput, unknown
from tiltmeter.lab.replicate import association, bangla, cabm, clozegender
from tiltmeter.lab.replicate.asked_models import AskedModels
from tiltmeter.lab.replicate.paper import Paper, Wishes
from tiltmeter.models import VectorStore
from tiltmeter.probes import Options
from tiltmeter.progress import progress_bar
from tiltmeter.readings.paper_tables import Replication
from tiltmeter.run.probe import stored

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget

_PERMUTATIONS = 10_000

PAPERS: Mapping[str, Paper] = {each.PAPER.name: each.PAPER for each in (cabm, clozegender, bangla, association)}


def replicate(
    name: str,
    models: Sequence[str | object] | None = None,
    *,
    tables: Sequence[str] | None = None,
    form: Literal["published", "repaired"] = "published",
    data: str | Path | None = None,
    mined: str | Path | None = None,
    pairs: Sequence[Sequence[str]] | None = None,
    cache: bool | VectorStore = True,
    seed: int = 0,
    permutations: int = _PERMUTATIONS,
    budget: Budget | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> Replication:
    """The tables and figures of a text as it prints them, measured on models of yours.

    A table that cannot be measured here says why in one line, and the others are still made. Answers are cached: a
    run that was stopped resumes, and another table asks for what is new to it alone.

    Args:
        name: cabm, clozegender, bangla or association.
        models: specs or objects; language models and word vectors together, each is used where it fits. By default the
            sample models.
        tables: which tables, by name or number; all if not given.
        form: the statistic as published, or repaired.
        data: the user's own data, where a text takes them: sentences (cabm), CrowS-Pairs with concepts (clozegender),
            a folder of word lists (association).
        mined: a folder of tiltmeter mine for CEAT (bangla); by default the study's sample is mined.
        pairs: the attribute lists that are opposed (association).
        cache: whether answers are stored, or where.
        seed: of every random draw.
        permutations: draws of a permutation test that is too large to count.
        budget: the most to spend at a paid API.
        progress: whether to show bars; by default on a terminal or in a notebook.
        announce: called with what a paid API would cost, before it is asked, and with the models that no table can use.

    >>> replicate("clozgender")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown text to replicate 'clozgender': did you mean 'clozegender'?
    """
    if name not in PAPERS:
        raise unknown("text to replicate", name, PAPERS)
    paper = PAPERS[name]
    chosen = _chosen(paper, tables)
    if form not in ("published", "repaired"):
        raise unknown("form", form, ("published", "repaired"))
    wishes = Wishes(form, data, mined, pairs, seed)
    own = _own(paper, wishes)
    specs = paper.usual if models is None else models
    if not specs:
        raise BadInput(f"no model to measure: name some, e.g. {' '.join(paper.usual)}")
    with stored(cache) as store, progress_bar("tables", len(chosen), show=progress) as advance:
        options = Options(permutations=permutations, seed=seed)
        asked = AskedModels(specs, store, options=options, budget=budget, progress=progress, announce=announce)
        replicated = []
        for table in chosen:
            replicated.append(paper.make(table, asked, wishes))
            advance(1)
    if own and all(table.missing for table in replicated):
        raise BadInput(replicated[0].missing)
    if unused := asked.left_over:
        announce(f"not asked, since no table here has a place for what they answer: {', '.join(unused)}")
    command = _command(name, asked.names, tables, wishes, permutations)
    return Replication(name, paper.title, paper.citation, asked.names, tuple(replicated), command)


#: What a user brings, and what the command calls it.
_OWN = {"data": "--from", "mined": "--mined", "pairs": "--pairs"}


def _own(paper: Paper, wishes: Wishes) -> bool:
    """Whether the user brings something; what a text has no place for is an error."""
    brought = [name for name in _OWN if getattr(wishes, name) is not None]
    for name in brought:
        if name not in paper.takes:
            takes = " and ".join(_OWN[option] for option in paper.takes)
            raise BadInput(f"{paper.name} has no use for {_OWN[name]}: it takes {takes}")
    return bool(brought)


def _command(name: str, models: Sequence[str], tables: Sequence[str] | None, wishes: Wishes, permutations: int) -> str:
    """The command that prints the same again: every wish that is not the usual one.

    >>> _command("bangla", ["bundled:minilm"], ["2", "Figure 1"], Wishes(mined="windows"), 10_000)
    "tiltmeter replicate bangla bundled:minilm --table 2 --table 'Figure 1' --mined windows"
    """
    wished = {
        "--form": wishes.form if wishes.form != "published" else None,
        _OWN["data"]: wishes.data,
        _OWN["mined"]: wishes.mined,
        _OWN["pairs"]: wishes.pairs and ",".join("/".join(pair) for pair in wishes.pairs),
        "--seed": wishes.seed or None,
        "--permutations": permutations if permutations != _PERMUTATIONS else None,
    }
    words = ["tiltmeter", "replicate", name, *models]
    words += [word for table in tables or () for word in ("--table", table)]
    words += [str(word) for option, value in wished.items() if value for word in (option, value)]
    return shlex.join(words)


def _chosen(paper: Paper, tables: Sequence[str] | None) -> list[str]:
    """Tables by their names: the whole name, or its number where only one table has it."""
    if tables is None:
        return list(paper.tables)
    chosen = []
    for wanted in tables:
        exact = [name for name in paper.tables if name.lower() == wanted.lower()]
        numbered = [name for name in paper.tables if name.rpartition(" ")[2].lower() == wanted.lower()]
        if not exact and len(numbered) > 1:
            raise BadInput(f"{paper.name} has {' and '.join(numbered)}: write which one you mean")
        if not (exact or numbered):
            raise unknown(f"table of {paper.name}", wanted, paper.tables)
        chosen += exact or numbered
    return chosen
