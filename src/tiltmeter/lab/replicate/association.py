"""The association study over embedding APIs: every folder of word lists on every model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.files import read_json
from tiltmeter.lab.replicate.asked_models import AskedModels
from tiltmeter.lab.replicate.paper import Paper, TableDefinition, Wishes, short_name
from tiltmeter.models import Question
from tiltmeter.models.registry import KINDS
from tiltmeter.readings import Reading
from tiltmeter.readings.paper_tables import PaperCell, PaperColumn, PaperRow, shade_of
from tiltmeter.statistics import by_unit, pooled_d
from tiltmeter.stimuli.datasets import data_folder

_BANDS = ("negligible", "small", "medium", "large")
_LISTS = "target_words_*.txt"


def models_in(path: str | Path) -> list[str]:
    """The specs of the models in a ``models_config.json``. Keys in it are not read: they come from the environment.

    The file is a list, or a mapping, of entries with a provider (openai, cohere or voyage) and the name of a model.
    """
    content = read_json(Path(path))
    if isinstance(content, dict) and isinstance(content.get("models"), list | dict):
        content = content["models"]
    entries = list(content.values()) if isinstance(content, dict) else content
    if not isinstance(entries, list) or not entries:
        raise BadInput(f"{path}: it should list models, each with a provider and a model")
    return [_spec(path, number, entry) for number, entry in enumerate(entries, 1)]


def _spec(path: str | Path, number: int, entry: Any) -> str:
    values: Mapping[str, Any] = entry if isinstance(entry, dict) else {}
    provider = str(next((values[key] for key in ("provider", "api", "type") if key in values), "")).lower()
    model = next((values[key] for key in ("model", "model_name", "name") if key in values), None)
    if provider not in KINDS or not isinstance(model, str) or not model.strip():
        raise BadInput(f"{path}: entry {number} needs a provider (openai, cohere or voyage) and a model")
    return f"{provider}:{model}"


def _folders(wishes: Wishes) -> list[Path]:
    """Every folder of word lists."""
    root = data_folder() / "association" / "word_lists" if wishes.data is None else Path(wishes.data)
    if not root.is_dir():
        raise BadInput(f"no folder {root}: name the one that holds word lists with --from")
    folders = sorted({file.parent for file in root.glob(f"**/{_LISTS}")})
    if not folders:
        raise BadInput(f"{root}: no {_LISTS} in it or below: name the folder that holds the word lists")
    return folders


def _readings(asked: AskedModels, wishes: Wishes) -> Iterator[tuple[str, str, Reading]]:
    names = asked.that_answer(Question.TEXTS)
    if not names:
        raise BadInput("it needs a model that gives vectors of texts: name one, e.g. bundled:minilm")
    chosen: dict[str, Any] = {} if wishes.pairs is None else {"pairs": [list(pair) for pair in wishes.pairs]}
    for folder in _folders(wishes):
        for name in names:
            for reading in asked.read(name, "association", data=str(folder), **chosen):
                yield folder.name, name, reading


def _table(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for folder, name, reading in _readings(asked, wishes):
        effect, published = reading.effect, reading.published
        assert published is not None  # the kind always has it
        assert effect.ci is not None
        assert reading.item_meaning is not None
        assert reading.item_meaning.poles is not None
        pair = " / ".join(reading.item_meaning.poles)
        values = [
            PaperCell(published.value, shade=shade_of(published.value)),
            PaperCell(published.p_value, mark="*" if (published.p_value or 0) <= 0.05 else ""),
            PaperCell(_BANDS[shade_of(published.value)]),
            PaperCell(_pooled(reading)),
            PaperCell(effect.value, shade=shade_of(effect.value)),
            PaperCell(effect.ci.low),
            PaperCell(effect.ci.high),
            PaperCell(effect.p_value, mark="*" if (effect.p_value or 0) <= 0.05 else ""),
        ]
        yield PaperRow(f"{pair}, {short_name(name)}", tuple(values), folder)


def _pooled(reading: Reading) -> float:
    """Cohen's d with the SD within the groups, which is the formula that the study's text has; every sentence once."""
    assert reading.statistic is not None
    sides = [
        by_unit([float(item.value or 0.0) for item in reading.items if item.group == group])
        for group in reading.statistic.between
    ]
    return pooled_d(*sides)


PAPER = Paper(
    "association",
    "Bias Analysis of Word Embeddings in Language Models (association tests over embedding APIs)",
    "Bias analysis of word embeddings in language models: association tests over embedding APIs",
    ("bundled:minilm",),
    {
        "Table 1": TableDefinition(
            "Effect sizes by pair of attribute lists and model",
            (
                PaperColumn("d", "as published", 4),
                PaperColumn("p", "as published", 4),
                PaperColumn("level", "as published"),
                PaperColumn("d, pooled SD", "the text's formula", 4),
                PaperColumn("d", "repaired", 4),
                PaperColumn("low", "repaired"),
                PaperColumn("high", "repaired"),
                PaperColumn("p", "repaired", 4),
            ),
            _table,
            (
                "The study's program divides by the SD of all scores together; its text says pooled SD. Its levels: .2 "
                "small, .5 medium, .8 large. * p <= .05. The study prints no results, so there is nothing to compare.",
            ),
        ),
    },
    ("data", "pairs"),
)  # fmt: skip
