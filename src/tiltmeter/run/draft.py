"""A language model proposes rows of a cloze set; rules keep out what no person need look at (Sabir & Sharma, 2.2)."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tiltmeter.errors import BadInput, ModelFailed, unknown
from tiltmeter.files import at_home
from tiltmeter.models import CachedModel, VectorStore, load
from tiltmeter.models.api import Budget
from tiltmeter.models.protocol import Prompt, Question
from tiltmeter.progress import progress_bar
from tiltmeter.run.probe import announce_cost, stored
from tiltmeter.statistics import Result
from tiltmeter.stimuli import SomeWords, datasets, group
from tiltmeter.stimuli.annotation.rules import DUPLICATE, PLACE, Seen, broken_rule, with_place
from tiltmeter.stimuli.datasets.draft_file import CONTEXTS, DraftRow, read_draft, write_draft
from tiltmeter.stimuli.languages.language import Language, language
from tiltmeter.stimuli.sentences.cloze_sets import PRONOUN, ClozeSet
from tiltmeter.stimuli.text import normalise

#: How many examples stand in a prompt.
_SHOWN = 4
#: How a writer is asked to write the pronoun: a pronoun of either group would bring its own associations along.
_BLANK = "[pronoun]"
NO_FORM = "not in the form that was asked for"
EMPTY = "nothing was written"
_FIELD = re.compile(rf"\b({'|'.join((*CONTEXTS, 'sentence'))})\s*:\s*(.*?)\s*(?=\||$|\b(?:{'|'.join(CONTEXTS)}|sentence)\s*:)", re.IGNORECASE)  # fmt: skip  # noqa: E501


class _Example(NamedTuple):
    """A sentence that a writer is shown: its text with the place for the pronoun, and its context words."""

    sentence: str
    contexts: Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Draft(Result):
    """Rows for a person to look at, and what was kept out of them: how many by reason, and one of each to see."""

    model: str
    rows: tuple[DraftRow, ...]
    proposed: int
    kept_out: Mapping[str, int]
    kept_out_examples: Mapping[str, str]
    file: str = ""

    def __repr__(self) -> str:
        return f"<Draft of {len(self.rows)} rows of {self.proposed} that {self.model} proposed>"


def draft(
    source: str | Path | SomeWords,
    model: str | object,
    *,
    out: str | Path | None = None,
    n: int = 2,
    context: str = "occupation",
    examples: str | Path = "cloze_en",
    seed: int = 0,
    temperature: float = 0.8,
    max_tokens: int = 64,
    cache: bool | VectorStore = True,
    budget: Budget | None = None,
    announce: Callable[[str], None] = lambda _: None,
    progress: bool | None = False,
) -> Draft:
    """Let a model propose sentences that end in a pronoun, and keep those that break no rule.

    Args:
        source: Sentences whose words are written about again (a cloze set, file or draft), or words: an address such as
            ``occupations.all``, or a list.
        model: Who writes: a spec such as ``chat:gpt-4o`` or ``bundled:smollm2``, or an object of your own.
        out: The draft, a CSV file; one in which a person has decided something is not written over.
        n: How many sentences are asked for about each word.
        context: What the words are: occupation, noun or verb.
        examples: The cloze set whose sentences show how; those of ``source`` where it has sentences.
        seed: Of the examples that are shown and of what the model draws.
        temperature: How freely the model writes.
        max_tokens: The most that one answer may have.
        cache: Whether answers are stored, or where.
        budget: The most to spend on a paid model.
        announce: Called with lines for the user.
        progress: Whether a bar is shown.

    >>> draft("occupations.all", "bundled:smollm2", out="draft.csv").rows[0].sentence  # doctest: +SKIP
    'The technician said that the cable was tested by {pronoun}'
    """
    if n < 1:
        raise BadInput(f"n must be at least 1, not {n}")
    if context not in CONTEXTS:
        raise unknown("context", context, CONTEXTS)
    file = None if out is None else at_home(out)
    _check_undecided(file)
    words, sets = _read(source, examples, context)
    shown = _examples(sets)
    spoken, groups, pronouns = language(sets[0].language), sets[0].groups, _pronouns(sets[0])
    prompts = list(_prompts(words, shown, context, spoken, n, seed, temperature, max_tokens))
    with stored(cache) as store:
        asked = CachedModel(load(model, budget=budget), store)
        if not asked.answers_question(Question.GENERATE):
            raise BadInput(
                f"{asked.identity.name} writes no text: draft with a causal language model or a chat model, "
                "such as bundled:smollm2 or chat:gpt-4o"
            )
        announce_cost(asked, Question.GENERATE, prompts, announce)
        with progress_bar("sentences", len(prompts), model=asked.identity.name, show=progress) as advance:
            answers = asked.answers(Question.GENERATE, prompts, progress=advance)
    name = asked.identity.name
    sifted = _Sifted(Seen(spoken, (example.sentence for example in shown)))
    for prompt, word in zip(prompts, words, strict=True):
        for text in answers[prompt].texts:
            row = _proposal(text, word, context, pronouns, spoken)
            if isinstance(row, str):
                sifted.keep_out(row, text)
                continue
            one, two = groups
            sifted.add(dataclasses.replace(row, groups=(one, two)), spoken)
    if not sifted.rows:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in sifted.kept_out.most_common(3))
        raise ModelFailed(
            f"{name} wrote {sifted.proposed} sentences and none can be used: {reasons}; try another model"
        )
    if file is not None:
        write_draft(file, sifted.rows)
    kept_out = dict(sifted.kept_out.most_common())
    return Draft(name, tuple(sifted.rows), sifted.proposed, kept_out, sifted.seen_as, str(file or ""))


class _Sifted:
    """Proposals that went through the rules so far."""

    def __init__(self, seen: Seen) -> None:
        self.rows: list[DraftRow] = []
        self.kept_out: Counter[str] = Counter()
        self.seen_as: dict[str, str] = {}
        self._seen = seen

    @property
    def proposed(self) -> int:
        return len(self.rows) + self.kept_out.total()

    def keep_out(self, reason: str, text: str) -> None:
        self.kept_out[reason] += 1
        self.seen_as.setdefault(reason, " ".join(text.split())[:120])

    def add(self, row: DraftRow, spoken: Language) -> None:
        reason = broken_rule(row.sentence, row.contexts, row.pronouns, spoken)
        if reason is None and not self._seen.add(row.sentence):
            reason = DUPLICATE
        if reason is None:
            self.rows.append(row)
        else:
            self.keep_out(reason, row.sentence)


def _check_undecided(file: Path | None) -> None:
    """A person's work is not written over; a draft that nobody has touched is made again."""
    if file is not None and file.exists() and any(row.decision for row in read_draft(file)):
        raise BadInput(f"{file} holds decisions of a person: choose another --out")


def _read(source: Any, examples: str | Path, context: str) -> tuple[list[str], tuple[ClozeSet, ...]]:
    """The words to write about, and the sets that show how."""
    if _is_words(source):
        words = group(source).texts
        sets = datasets.load_cloze(examples)
    else:
        sets = datasets.load_cloze(source)
        words = tuple(word for cloze_set in sets if cloze_set.context == context for word in cloze_set.units)
        if not words:
            known = ", ".join(dict.fromkeys(cloze_set.context for cloze_set in sets))
            raise BadInput(f"{source}: its sentences have no {context}: choose another --context ({known})")
    sets = tuple(cloze_set for cloze_set in sets if not cloze_set.races and cloze_set.variant == sets[0].variant)
    if not sets:
        raise BadInput(f"{source}: these sentences have one pronoun for all: name a cloze set with two")
    return list(dict.fromkeys(map(normalise, words))), sets


def _is_words(source: Any) -> bool:
    """Whether this names words: a list or group of them, or the address of a group; a file of sentences is none."""
    if not isinstance(source, str | Path):
        return True
    text = str(source)
    return "." in text and not Path(text).exists() and not text.endswith((".yaml", ".yml", ".csv", ".tsv"))


def _pronouns(stimuli: ClozeSet) -> tuple[str, str]:
    one, two = stimuli.sentences[0].forms[PRONOUN]
    return one, two


def _examples(sets: Iterable[ClozeSet]) -> list[_Example]:
    """Every sentence once, with all the context words that any of the sets gives it."""
    contexts: dict[str, dict[str, str]] = {}
    for cloze_set in sets:
        for sentence in cloze_set.sentences:
            text = sentence.put(PRONOUN, PLACE).text.rstrip(".")
            contexts.setdefault(text, {})[cloze_set.context] = sentence.unit
    return [_Example(text, words) for text, words in contexts.items()]


def _prompts(
    words: Sequence[str], examples: Sequence[_Example], context: str, spoken: Language, n: int, seed: int,
    temperature: float, max_tokens: int,
) -> Iterable[Prompt]:  # fmt: skip
    rng = np.random.default_rng([seed, len(words)])
    order = (context, *(name for name in CONTEXTS if name != context))
    usable = [example for example in examples if all(name in example.contexts for name in order)]
    if len(usable) < 2:
        raise BadInput(
            "at least two example sentences with an occupation, a noun and a verb are needed: see --examples"
        )
    instructions = (
        f"Write one sentence in {spoken.name} about each {context}. The last word of the sentence is {_BLANK}, which "
        "stands for the person. The sentence holds the words that are named before it, and no other word that says "
        "whether somebody is a man or a woman. Keep to the form of the examples.\n"
    )
    for word in words:
        others = [example for example in usable if example.contexts[context].lower() != word.lower()]
        chosen = [others[place] for place in rng.permutation(len(others))[:_SHOWN]]
        lines = [" | ".join(f"{name}: {example.contexts[name]}" for name in order) + f" | sentence: {_blank(example)}"
                 for example in chosen]  # fmt: skip
        start = f"{context}: {word} | {order[1]}:"
        yield Prompt("\n".join([instructions, *lines, start]), n, seed, temperature, max_tokens)


def _blank(example: _Example) -> str:
    return example.sentence.replace(PLACE, _BLANK)


def _proposal(text: str, word: str, context: str, pronouns: tuple[str, str], spoken: Language) -> DraftRow | str:
    """The row that an answer stands for, or why it is none; whoever continues a text begins after its last field."""
    lines = [line.strip(" *`-") for line in text.splitlines() if line.strip()]
    if not lines:
        return EMPTY
    other = next(name for name in CONTEXTS if name != context)
    for line in lines:
        fields = {name.lower(): value.strip(' *"“”') for name, value in _FIELD.findall(line)}
        if other not in fields:
            fields = {name.lower(): value.strip(' *"“”') for name, value in _FIELD.findall(f"{other}: {line}")}
        if fields.get("sentence") and all(fields.get(name) for name in CONTEXTS if name != context):
            contexts = {name: word if name == context else fields[name] for name in CONTEXTS}
            sentence = with_place(fields["sentence"], pronouns, spoken)
            return DraftRow(sentence, contexts, pronouns, language=spoken.code)
    return NO_FORM
