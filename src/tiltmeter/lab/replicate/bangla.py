"""The Bangla study (Sadhu et al. 2024): tables 1, 2, 4, 5 and 6, and figure 1."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.files import cache_folder
from tiltmeter.lab.replicate.asked_models import AskedModels
from tiltmeter.lab.replicate.paper import Paper, TableDefinition, Wishes, cells, printed_name, short_name
from tiltmeter.lab.studies.context_length import order
from tiltmeter.models import Question
from tiltmeter.readings import Reading
from tiltmeter.readings.details.ceat import CeatDetails
from tiltmeter.readings.paper_tables import PaperCell, PaperColumn, PaperRow, shade_of
from tiltmeter.stimuli.datasets import find, load_bangla_categories
from tiltmeter.stimuli.mining import load_mined, mine

_TESTS = tuple(f"C{number}" for number in range(1, 10))
#: The study draws a fixed set of samples for all models (f), or one of its own for each (r).
_SAMPLING = {"f": "fixed", "r": "random"}
_LEXICON = "bangla_categories"
#: From where on the study calls a pooled effect significant, and an effect of table 4.
_SIGNIFICANT, _SIGNIFICANT_4 = 0.005, 0.05
_SHADES = "Shades: .2 small, .5 medium, .8 large. * marks what is not significant at p < .005, as in the study."
_PICTURE = "The study's own values are in a picture, so none are printed next to ours."
_MODELS = "The study measures BanglaBERT, MuRIL and XLM-RoBERTa: name them as hf: models where you have them."


def _addresses(test: str) -> list[str]:
    return [f"{_LEXICON}.{test.lower()}.{side}" for side in "xyab"]


@functools.cache
def _labels(folder: Path) -> dict[str, str]:
    """What each test compares, in words."""
    labels = {}
    for test in load_bangla_categories(folder).tests:
        (x, y), (a, b) = ((one.label, two.label) for one, two in (test.targets, test.attributes))
        labels[test.name] = f"{test.name}: {x} / {y} ({a} / {b})"
    return labels


def _mined(wishes: Wishes) -> Path:
    """The user's folder of mined windows, or the study's sample mined with its words, once."""
    if wishes.mined is not None:
        return Path(wishes.mined)
    source = find("bangla_ceat")
    folder = cache_folder() / "replicate" / "bangla-sample"
    try:
        load_mined(folder)
    except BadInput:
        sample = sorted((source / "sample_data").glob("*.bn"))
        if not sample:
            raise BadInput(
                f"CEAT needs natural text: no sample in {source}, so name a folder of tiltmeter mine with --mined"
            ) from None
        mine(sample, lexicon=[_LEXICON], out=folder, across="lines", keep=5000, least=1)
    return folder


def _ceat(asked: AskedModels, wishes: Wishes, name: str, test: str, sampling: str, draws: int) -> dict[str, Reading]:
    """The readings of one test by length of the windows."""
    folder = _mined(wishes)
    groups = load_mined(folder).groups
    four = _addresses(test)
    if not set(four) <= set(groups):
        tests = {each.name: each for each in load_bangla_categories(find("bangla_ceat")).tests}
        four = [
            f"{_LEXICON}.{group.name.rpartition('.')[2]}" for group in (*tests[test].targets, *tests[test].attributes)
        ]
    method = f"{sampling},draws={draws},at-least=1"
    stimuli: dict[str, Any] = {"targets": four[:2], "attributes": four[2:], "method": method}
    readings = asked.read(name, "ceat", data=str(folder), **stimuli)
    return {each.details.length: each for each in readings if isinstance(each.details, CeatDetails)}


def _cell(reading: Reading | None, wishes: Wishes, *, star: str = "insignificant") -> PaperCell:
    """An effect size with its mark and shade."""
    if reading is None:
        return PaperCell(None)
    estimate = (reading.published if wishes.form == "published" else None) or reading.effect
    p = 1.0 if estimate.p_value is None else estimate.p_value
    starred = p >= _SIGNIFICANT if star == "insignificant" else p < _SIGNIFICANT_4
    return PaperCell(estimate.value, "*" if starred else "", shade_of(estimate.value))


def _encoders(asked: AskedModels) -> list[str]:
    names = asked.that_answer(Question.SPANS)
    if not names:
        raise BadInput("it needs a model that gives vectors of words in context: name one, e.g. bundled:minilm")
    return names


def _lengths(wishes: Wishes) -> list[str]:
    return sorted(load_mined(_mined(wishes)).lengths, key=order)


def _table_1(_asked: AskedModels, _wishes: Wishes) -> Iterator[PaperRow]:
    folder = find("bangla_ceat")
    for test in load_bangla_categories(folder).tests:
        four = (*test.targets, *test.attributes)
        yield PaperRow(_labels(folder)[test.name], cells([len(group.words) for group in four]))


def _table_2(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for name in _encoders(asked):
        readings = {
            (test, letter): _ceat(asked, wishes, name, test, sampling, 5000)
            for test in _TESTS
            for letter, sampling in _SAMPLING.items()
        }
        for length in _lengths(wishes):
            values = tuple(_cell(readings[test, letter].get(length), wishes) for test in _TESTS for letter in _SAMPLING)
            if any(cell.value is not None for cell in values):
                yield PaperRow(length, values, short_name(name))


def _by_category(draws: int, asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    """Categories down, each with a fixed and a random sample, and lengths across, model by model."""
    for name, test in itertools.product(_encoders(asked), _TESTS):
        for letter, sampling in _SAMPLING.items():
            reading = _ceat(asked, wishes, name, test, sampling, draws)
            values = tuple(_cell(reading.get(length), wishes) for length in _lengths(wishes))
            if any(cell.value is not None for cell in values):
                yield PaperRow(f"{test} {letter}", values, short_name(name))


def _figure_1(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for name, test in itertools.product(_encoders(asked), _TESTS):
        reading = _ceat(asked, wishes, name, test, "fixed", 1000)
        values = [_cell(reading.get(length), wishes) for length in _lengths(wishes)]
        # Only what is significant is drawn.
        shown = tuple(PaperCell(None) if cell.mark else cell for cell in values)
        if any(cell.value is not None for cell in shown):
            yield PaperRow(test, shown, short_name(name))


def _by_length(_asked: AskedModels, wishes: Wishes) -> tuple[PaperColumn, ...]:
    return tuple(PaperColumn(length, "words in the window") for length in _lengths(wishes))


def _table_4(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    vectors = asked.word_vectors
    by_column: tuple[tuple[str, Sequence[str]], ...] = (
        ("weat", [name for name in vectors if printed_name(name) != "GloVe"]),
        ("weat", [name for name in vectors if printed_name(name) == "GloVe"]),
        ("seat", asked.that_answer(Question.TEXTS)),
        ("ceat", asked.that_answer(Question.SPANS)),
        ("lpbs", asked.that_answer(Question.FILLS)),
    )
    labels = _labels(find("bangla_ceat"))
    for test in _TESTS:
        for number, names in enumerate(itertools.zip_longest(*(some for _, some in by_column))):
            both = zip(by_column, names, strict=True)
            values = tuple(
                PaperCell(None) if name is None else _measured(asked, wishes, test, kind, name)
                for (kind, _), name in both
            )
            if any(cell.value is not None for cell in values):
                used = ", ".join(short_name(name) for name in dict.fromkeys(filter(None, names)))
                yield PaperRow(f"{labels[test]}, {used}", values, test, like="" if number else "the study")


def _measured(asked: AskedModels, wishes: Wishes, test: str, kind: str, name: str) -> PaperCell:
    """One test of one kind on one model."""
    if kind == "ceat":
        try:
            reading = _ceat(asked, wishes, name, test, "fixed", 5000)
        except BadInput:  # there is no text to mine
            return PaperCell(None)
        return _cell(next(iter(reading.values()), None), wishes, star="significant")
    four = _addresses(test)
    stimuli: dict[str, Any] = {"targets": four[:2], "attributes": four[2:]}
    if kind == "seat":
        stimuli["templates"] = "bangla.bleached"
    return _cell(next(iter(asked.read(name, kind, **stimuli)), None), wishes, star="significant")


PAPER = Paper(
    "bangla",
    "An Empirical Study on the Characteristics of Bias upon Context Length Variation for Bangla",
    "Sadhu, Khan, Bhattacharjee & Shahriyar (2024), Findings of ACL, arXiv:2406.17375",
    ("bundled:minilm",),
    {
        "Table 1": TableDefinition(
            "The nine categories, with the number of words in each list",
            tuple(PaperColumn(name) for name in ("targets X", "targets Y", "attributes A", "attributes B")),
            _table_1,
        ),
        "Table 2": TableDefinition(
            "CEAT by length of the context, 5,000 draws; f: a fixed set of samples, r: a random one",
            tuple(PaperColumn(letter, test) for test in _TESTS for letter in _SAMPLING),
            _table_2,
            (_SHADES, _PICTURE, _MODELS),
        ),
        "Figure 1": TableDefinition(
            "Change of the effect size with the length of the context, 1,000 draws; only what is significant",
            _by_length,
            _figure_1,
            (_PICTURE, _MODELS),
            "lines",
        ),
        "Table 4": TableDefinition(
            "Effect size by measure and category; * p < .05",
            (
                PaperColumn("WEAT (word2vec)"),
                PaperColumn("WEAT (GloVe)"),
                PaperColumn("SEAT"),
                PaperColumn("CEAT", digits=3),
                PaperColumn("log probability bias"),
            ),
            _table_4,
            (
                "CEAT: each occurrence in its longest window. The study's templates for the log probability bias stand "
                "in a picture; ours are plain sentences of two words. Its word vectors, trained on Bangla2B+, are not "
                "public.",
                _MODELS,
            ),
        ),
        "Table 5": TableDefinition(
            "CEAT by category and length, 5,000 draws",
            _by_length,
            functools.partial(_by_category, 5000),
            (_SHADES, _PICTURE, "The study has two more lengths, which its text does not name: --mined takes any."),
        ),
        "Table 6": TableDefinition(
            "CEAT by category and length, 1,000 draws",
            _by_length,
            functools.partial(_by_category, 1000),
            (_SHADES, _PICTURE),
        ),
    },
    ("mined",),
)  # fmt: skip
