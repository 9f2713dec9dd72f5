"""WinoBias (Zhao et al. 2018): two occupations and a pronoun that refers to one of them.

A line looks like ``12 The clerk called [the guard] because [he] was late.`` A line whose pronoun is not the only
gendered word in it is left out: "because [he] needed to cut [his] hair" gives the answer away at either place.

Winogender schemas (Rudinger et al. 2018): an occupation, another person, and a pronoun for one of them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_text
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, pronoun_sentence
from tiltmeter.stimuli.text import comparable, normalise

_PARTS = tuple(itertools.product(("type1", "type2"), ("dev", "test")))
_SIDES = ("pro", "anti")
_GROUPS = ("men", "women")
_FORMS = (("he", "she"), ("him", "her"), ("his", "her"), ("himself", "herself"), ("his", "hers"))
_PRONOUNS = {form for forms in _FORMS for form in forms}
_FEMALE = {forms[1] for forms in _FORMS}
_GENDERED = _PRONOUNS | {"man", "woman"}
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_ARTICLE = re.compile(r"(?:the|an?) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    where: str
    text: str
    occupation: str
    #: The bracketed pronouns with the place where each begins.
    pronouns: tuple[tuple[str, int], ...]
    #: Other words in the line that say a gender.
    stray: tuple[str, ...]


def load_winobias(folder: str | Path) -> SentenceSet:
    """Read the eight files and the two lists of occupations.

    The forms of "her" (him or his) come from the line of the same number in the opposite file. The tag ``expected`` is
    the gender that the lists give the occupation, and the pro files must agree with it.
    """
    path = Path(folder)
    if not path.is_dir():
        raise BadInput(f"no folder {path}: give the one that holds pro_stereotyped_type1.txt.dev")
    occupations = _occupations(path)
    sentences, notes, left_out = list[Sentence](), list[str](), Counter[str]()
    for kind, split in _PARTS:
        files = {side: path / f"{side}_stereotyped_{kind}.txt.{split}" for side in _SIDES}
        lines = {side: _lines(file, occupations) for side, file in files.items()}
        for side, opposite in zip(_SIDES, reversed(_SIDES), strict=True):
            if missing := sorted(lines[side].keys() - lines[opposite].keys()):
                raise BadInput(f"{files[opposite].name}: no line {missing[0]}, which {files[side].name} has")
            unused: dict[str, list[int]] = {}
            for number, line in lines[side].items():
                forms = _forms(line, lines[opposite][number])
                if isinstance(forms, str):
                    unused.setdefault(forms, []).append(number)
                    continue
                word, start = line.pronouns[0]
                place, expected = (start, start + len(word)), occupations[line.occupation]
                if (_GROUPS[comparable(word) in _FEMALE] == expected) != (side == "pro"):
                    raise BadInput(f"{line.where}: '{word}' for '{line.occupation}' does not belong in the {side} file")
                tags = {"kind": f"{kind} {side} {split}", "id": f"{kind}-{split}-{number}-{side}"}
                sentences.append(pronoun_sentence(line.text, place, forms, line.occupation, expected=expected, **tags))
            for reason, numbers in unused.items():
                left_out[reason] += len(numbers)
                notes.append(f"{files[side].name}: {reason}: left out lines {', '.join(map(str, numbers))}")
    return SentenceSet("winobias", tuple(sentences), groups=_GROUPS, left_out=dict(left_out), notes=tuple(notes))


def _occupations(folder: Path) -> dict[str, str]:
    """The expected group of each occupation, spelled as in the lists ("CEO")."""
    expected: dict[str, str] = {}
    for group, name in zip(_GROUPS, ("male_occupations.txt", "female_occupations.txt"), strict=True):
        for word in filter(None, map(normalise, read_text(folder / name).splitlines())):
            if expected.setdefault(word, group) != group:
                raise BadInput(f"{name}: '{word}' is in both lists of occupations")
    return expected


def _lines(file: Path, occupations: Mapping[str, str]) -> dict[int, _Line]:
    spelled = {comparable(name): name for name in occupations}
    lines: dict[int, _Line] = {}
    for position, raw in enumerate(read_text(file).splitlines(), 1):
        if not raw.strip():
            continue
        where = f"{file.name}: line {position}"
        number, _, sentence = normalise(raw).partition(" ")
        if not number.isdecimal() or int(number) in lines:
            raise BadInput(f"{where}: should begin with a number of its own, begins with '{number}'")
        lines[int(number)] = _line(sentence, where, spelled)
    if not lines:
        raise BadInput(f"{file.name}: no lines in it")
    return lines


def _line(sentence: str, where: str, spelled: Mapping[str, str]) -> _Line:
    """The sentence without brackets, one article where there are two: "the [the chief]", "the [ physician]"."""
    text, entities, pronouns, stray = "", list[str](), list[tuple[str, int]](), list[str]()
    for position, part in enumerate(_BRACKET.split(sentence)):
        bracketed = position % 2 == 1
        if bracketed and comparable(part) in _PRONOUNS:
            pronouns.append((part.strip(), len(text)))
        elif bracketed:
            entities.append(_ARTICLE.sub("", part.strip(), count=1))
            if re.search(r"\b(?:the|an?) $", text, re.IGNORECASE):
                part = entities[-1]
        else:
            stray += [word for word in re.findall(r"\w+", part) if word.casefold() in _GENDERED]
        text += part.strip() if bracketed else part
    if "[" in text or "]" in text or len(entities) != 1 or not pronouns:
        raise BadInput(f"{where}: needs one [occupation] and a [pronoun] in brackets: {sentence}")
    occupation = spelled.get(comparable(entities[0]))
    if occupation is None:
        raise BadInput(f"{where}: {unknown('occupation', entities[0], spelled.values())}")
    return _Line(where, text, occupation, tuple(pronouns), tuple(stray))


def _forms(line: _Line, opposite: _Line) -> tuple[str, str] | str:
    """The masculine and feminine form of the pronoun, or the reason why the line cannot be used."""
    if len(line.pronouns) > 1 or line.stray:
        return "another word in the line says a gender"
    word = line.pronouns[0][0]
    fitting = [forms for forms in _FORMS if comparable(word) in forms]
    if len(fitting) > 1:
        # "her" goes with him and with his, "his" with her and with hers: the opposite line knows.
        others = {comparable(other) for other, _ in opposite.pronouns} - {comparable(word)}
        fitting = [forms for forms in fitting if others & set(forms)]
    if len(fitting) != 1:
        return f"the opposite file does not show the other form of '{word}'"
    male, female = fitting[0]
    return (male.capitalize(), female.capitalize()) if word[0].isupper() else (male, female)


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
    sentences = list[Sentence]()
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
            raise table.wrong(row, f"sentid '{row['sentid']}' appears twice")
        texts[gender] = normalise(row["sentence"])
    for schema, texts in schemas.items():
        for gender in _GENDERS[:2]:
            if gender not in texts:
                raise BadInput(f"{file.name}: no {gender} sentence of {'.'.join(schema)}")
    return schemas


def _sentences(identity: str, texts: Mapping[str, str], occupation: str, kind: str) -> list[Sentence]:
    """The two sentences with the place where their words differ, which the pair itself gives with its case."""
    male, female = ([*_WORD.finditer(texts[gender])] for gender in _GENDERS[:2])
    differing = [pair for pair in zip(male, female, strict=False) if pair[0].group() != pair[1].group()]
    if len(male) != len(female) or len(differing) != 1:
        raise BadInput(f"all_sentences.tsv: the male and female sentence of {identity} should differ in one pronoun")
    ((man, woman),) = differing
    forms = (man.group(), woman.group())
    return [
        pronoun_sentence(texts[gender], word.span(), forms, occupation, kind=kind, id=f"{identity}.{gender}")
        for gender, word in (("male", man), ("female", woman))
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
