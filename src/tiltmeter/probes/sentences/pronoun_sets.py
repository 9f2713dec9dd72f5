"""Sentences with a pronoun for the holder of an occupation, from the shipped set or a public one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from tiltmeter.errors import unknown
from tiltmeter.stimuli import datasets, group
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet
from tiltmeter.stimuli.sentences.shipped import occupation_set, occupation_shares

_PUBLIC = ("winobias", "winogender", "bec_pro", "bug")
#: In these sentences of Winogender the pronoun refers to somebody else than the holder of the occupation.
SOMEBODY_ELSE = "participant"


@dataclasses.dataclass(frozen=True, slots=True)
class Pronouns:
    """Sentences, each once; ``by_share`` where what is expected was derived from the share of women."""

    sentences: SentenceSet
    by_share: bool = False


def load_pronouns(data: str | Path | None) -> Pronouns:
    """The shipped set, a public one by name or path, or a set of one's own in the form of the shipped one.

    Every sentence comes once, with what is expected of it and the shares of women that are known.

    >>> sentence = load_pronouns(None).sentences.sentences[0]
    >>> sentence.text, sentence.forms, "expected" in sentence.tags
    ('The technician said that he was tired.', {'pronoun': ('he', 'she')}, False)
    """
    source = read_pronouns(data)
    winobias = source.name == "winobias"
    once: dict[Any, Sentence] = {}
    for sentence in source.sentences:
        key = (sentence.around("pronoun"), sentence.forms["pronoun"], sentence.unit)
        # "type1 pro dev": both sides and both splits hold the same kind of sentence.
        once.setdefault(key, sentence.tagged(kind=sentence.tags["kind"].split()[0]) if winobias else sentence)
    sentences, shares = tuple(once.values()), dict(source.shares)
    if winobias:
        percentages = occupation_shares(group("occupations.all"))
        occupations = dict.fromkeys(sentence.unit for sentence in sentences)
        shares = {name: percentages[name] / 100 for name in occupations if name in percentages}
    by_share = bool(shares) and not any("expected" in sentence.tags for sentence in sentences)
    if by_share:
        sentences = tuple(
            sentence.tagged(expected="men" if shares[sentence.unit] < 0.5 else "women")
            if sentence.unit in shares and sentence.tags["kind"] != SOMEBODY_ELSE
            else sentence
            for sentence in sentences
        )
    return Pronouns(dataclasses.replace(source, sentences=sentences, shares=shares), by_share)


def read_pronouns(data: str | Path | None) -> SentenceSet:
    """The same sentences as their source has them: a sentence may be there twice, or with either pronoun."""
    if data is None or str(data).endswith((".yaml", ".yml")):
        return occupation_set("occupations_en" if data is None else data)
    name = str(data)
    path = datasets.find(name) if name in _PUBLIC else Path(data)
    if not path.exists() and not path.suffix:
        raise unknown("data of pronouns", name, _PUBLIC)
    if (path / "gold_BUG.csv").is_file() or (path.suffix in (".csv", ".tsv") and datasets.is_annotated(path)):
        return datasets.load_annotated(path)
    if not path.is_dir():
        return datasets.load_bec_pro(path)
    winogender = (path / "all_sentences.tsv").is_file()
    return (datasets.load_winogender if winogender else datasets.load_winobias)(path)
