"""What word vectors are used for, as public sets measure it: similar words, analogies, and SemBias.

SimLex-999, WordSim-353 and the Google analogies come with gensim, as files of its tests; gensim itself is not imported.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tiltmeter.errors import BadInput
from tiltmeter.files import read_text
from tiltmeter.stimuli.datasets.catalogue import find

SIMILARITY = {"SimLex-999": "simlex999.txt", "WordSim-353": "wordsim353.tsv"}
_ANALOGIES = "questions-words.txt"


class RatedPair(NamedTuple):
    """Two words, and how similar people find them."""

    one: str
    two: str
    rating: float


class Analogy(NamedTuple):
    """a is to b as c is to d."""

    a: str
    b: str
    c: str
    d: str
    section: str


class SemBiasRow(NamedTuple):
    """Four pairs of words: one differs in gender by definition, two do not, one by stereotype."""

    definition: tuple[str, str]
    none: tuple[tuple[str, str], tuple[str, str]]
    stereotype: tuple[str, str]


def similar_words(name: str) -> list[RatedPair]:
    """SimLex-999 (Hill et al. 2015) or WordSim-353 (Finkelstein et al. 2002)."""
    path = _of_gensim(SIMILARITY[name])
    rows = [line.split("\t") for line in read_text(path).splitlines() if line and not line.startswith("#")]
    try:
        return [RatedPair(one, two, float(rating)) for one, two, rating in rows]
    except ValueError:
        raise BadInput(f"{path.name}: a line is not word, word, rating: install gensim again") from None


def analogies() -> list[Analogy]:
    """The analogies of Mikolov et al. (2013), in 14 sections."""
    tasks, section = list[Analogy](), ""
    for line in read_text(_of_gensim(_ANALOGIES)).splitlines():
        words = line.split()
        if words[:1] == [":"]:
            section = words[1]
        elif len(words) == 4:
            a, b, c, d = words
            tasks.append(Analogy(a, b, c, d, section))
    return tasks


def _of_gensim(name: str) -> Path:
    spec = find_spec("gensim")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place, "test", "test_data", name)
        if path.is_file():
            return path
    raise BadInput(f"{name} is not installed: it comes with gensim (pip install gensim)")


def sembias() -> list[SemBiasRow]:
    """SemBias (Zhao et al. 2018): 440 rows, of which the last 40 use words that no list of gendered words has."""
    path = find("sembias") / "SemBias"
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        pairs = [(first, second) for cell in line.split("\t") for first, _, second in [cell.strip().partition(":")]]
        if len(pairs) != 4 or not all(second for _, second in pairs):
            raise BadInput(f"{path.name}: line {number} does not hold four pairs of words")
        rows.append(SemBiasRow(pairs[0], (pairs[1], pairs[2]), pairs[3]))
    return rows
