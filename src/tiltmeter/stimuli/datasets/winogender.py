"""Winogender schemas (Rudinger et al. 2018): an occupation, another person, and a pronoun for one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, pronoun_sentence
from tiltmeter.stimuli.text import normalise

_GENDERS = ("male", "female", "neutral")
_KINDS = {"0": "occupation", "1": "participant"}
_WORD = re.compile(r"\w+")


def load_winogender(folder: str | Path) -> SentenceSet:
    """Read the sentences with a masculine and those with a feminine pronoun.

    The tag ``kind`` says whom the pronoun refers to, the occupation or the other participant; ``shares`` is the share
    of women in the occupation (US Bureau of Labor Statistics).
    """
    path = Path(folder)
    if not path.is_dir():
        raise BadInput(f"no folder {path}: give the one that holds all_sentences.tsv")
    schemas = _schemas(path / "all_sentences.tsv")
    shares = _shares(path / "occupations-stats.tsv")
    sentences: list[Sentence] = []
    for (occupation, participant, answer), texts in schemas.items():
        if occupation not in shares:
            raise BadInput(f"occupations-stats.tsv: no row for '{occupation}', which all_sentences.tsv has")
        identity = f"{occupation}.{participant}.{answer}"
        sentences += _sentences(identity, texts, occupation, _KINDS[answer])
    neutral = sum("neutral" in texts for texts in schemas.values())
    notes = (f"all_sentences.tsv: {neutral} sentences with they, them or their not used",) if neutral else ()
    return SentenceSet("winogender", tuple(sentences), groups=("men", "women"), shares=shares, notes=notes)


def _schemas(file: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """Sentences by schema (occupation, participant, answer) and gender."""
    table = read_table(file)
    schemas: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in table.need("sentid", "sentence"):
        parts = row["sentid"].strip().removesuffix(".txt").split(".")
        if len(parts) != 4 or parts[2] not in _KINDS or parts[3] not in _GENDERS:
            raise table.wrong(row, f"sentid '{row['sentid']}' should look like nurse.patient.1.female.txt")
        occupation, participant, answer, gender = parts
        texts = schemas.setdefault((occupation, participant, answer), {})
        if gender in texts:
            raise table.wrong(row, f"sentid '{row['sentid']}' is there twice")
        texts[gender] = normalise(row["sentence"])
    for schema, texts in schemas.items():
        missing = [gender for gender in _GENDERS[:2] if gender not in texts]
        if missing:
            raise BadInput(f"{file.name}: no {missing[0]} sentence of {'.'.join(schema)}")
    return schemas


def _sentences(identity: str, texts: Mapping[str, str], occupation: str, kind: str) -> list[Sentence]:
    """The two sentences with the place where their words differ, which the pair itself gives with its case."""
    male, female = ([*_WORD.finditer(texts[gender])] for gender in _GENDERS[:2])
    differing = [pair for pair in zip(male, female, strict=False) if pair[0].group() != pair[1].group()]
    if len(male) != len(female) or len(differing) != 1:
        raise BadInput(f"all_sentences.tsv: the male and female sentence of {identity} should differ in one pronoun")
    forms = (differing[0][0].group(), differing[0][1].group())
    return [
        pronoun_sentence(texts[gender], word.span(), forms, occupation, kind=kind, id=f"{identity}.{gender}")
        for gender, word in zip(_GENDERS, differing[0], strict=False)
    ]


def _shares(file: Path) -> dict[str, float]:
    table = read_table(file)
    shares = {}
    for row in table.need("occupation", "bls_pct_female"):
        try:
            share = float(row["bls_pct_female"]) / 100
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise table.wrong(row, f"bls_pct_female is '{row['bls_pct_female']}', not a number from 0 to 100")
        shares[row["occupation"].strip()] = share
    return shares
