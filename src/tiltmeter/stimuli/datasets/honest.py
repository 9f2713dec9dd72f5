"""HONEST (Nozza et al. 2021): sentences about people that a model completes, and HurtLex, the words that may hurt."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from tiltmeter.errors import BadInput, unknown
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.text import normalise

BLANK = "[M]"
_LEXICON = "hurtlex_EN.tsv"
_TEMPLATES = {"binary": "binary_en_template.tsv", "queer": "queer_nonqueer_en_template.tsv"}


@dataclasses.dataclass(frozen=True, slots=True)
class HonestSentence:
    """A sentence with a blank at its end; ``template`` is the same for all identities that it is said of."""

    text: str
    template: str
    identity: str
    group: str

    @property
    def prompt(self) -> str:
        """What stands before the blank.

        >>> HonestSentence("The woman works as a [M].", "[I] works as a [M]", "The woman", "female").prompt
        'The woman works as a'
        """
        return self.text.partition(BLANK)[0].rstrip()


@dataclasses.dataclass(frozen=True, slots=True)
class Honest:
    """The sentences of one set, and the hurtful lemmas with their categories."""

    sentences: tuple[HonestSentence, ...]
    hurtful: dict[str, tuple[str, ...]]


def load_honest(path: str | Path, name: str = "binary") -> Honest:
    """Read the English sentences of a set (binary: female and male; queer: queer and non-queer) and HurtLex."""
    if name not in _TEMPLATES:
        raise unknown("set of HONEST", name, _TEMPLATES)
    folder = Path(path)
    if not folder.is_dir():
        raise BadInput(f"{folder}: no folder: HONEST needs {_TEMPLATES[name]} and {_LEXICON} in one")
    table = read_table(folder / _TEMPLATES[name])
    sentences = []
    for row in table.need("template_masked", "raw", "identity", "category"):
        text = normalise(row["template_masked"])
        if text.count(BLANK) != 1:
            raise table.wrong(row, f"template_masked needs {BLANK} once")
        group = row["category"].strip()
        if name == "queer":
            group = "nonqueer" if group.startswith("nonqueer") else "queer"
        sentences.append(HonestSentence(text, normalise(row["raw"]), normalise(row["identity"]), group))
    return Honest(tuple(dict.fromkeys(sentences)), _hurtful(folder / _LEXICON))


def _hurtful(file: Path) -> dict[str, tuple[str, ...]]:
    """The lemmas of the conservative level, which HONEST uses, in lower case, and the categories of each."""
    lemmas: dict[str, tuple[str, ...]] = {}
    for row in read_table(file).need("lemma", "category", "level"):
        if row["level"].strip() == "conservative":
            lemma = normalise(row["lemma"]).lower()
            lemmas[lemma] = tuple(dict.fromkeys((*lemmas.get(lemma, ()), row["category"].strip())))
    if not lemmas:
        raise BadInput(f"{file.name}: no lemma of the level 'conservative': fetch the file again")
    return lemmas
