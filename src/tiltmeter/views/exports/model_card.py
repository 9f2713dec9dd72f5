"""Model cards: the section on bias, and the ``model-index`` that the Hugging Face hub reads. One card per model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from tiltmeter.readings import STATES, Audit
from tiltmeter.readings.details.sentences import PairsDetails
from tiltmeter.views.exports.markdown import escaped, glance, readings_table, reproduce, table
from tiltmeter.views.report.wording import meanings, origin
from tiltmeter.views.rows import ReadingRow, rows_by_model
from tiltmeter.views.summary import MARKS, summarise_rows

#: What the hub calls the task a probe puts to a model; language models are asked in more than one way.
_VECTORS, _MASK = ("feature-extraction", "Feature Extraction"), ("fill-mask", "Fill-Mask")
_TEXT = ("text-generation", "Text Generation")
_TASKS = {
    "bbq": _TEXT,
    "lpbs": _MASK,
    "unmask": _MASK,
    "cloze": _TEXT,
    "pairs": _TEXT,
    "pronouns": _TEXT,
    "stereoset": _TEXT,
}
_MASKED_METHODS = ("nangia", "meade", "aul")


def to_model_cards(audit: Audit) -> dict[str, str]:
    """For each model that was measured its own card, of its own readings alone."""
    return {name: _card(audit, name, rows) for name, rows in rows_by_model(audit).items() if rows}


def _card(audit: Audit, name: str, rows: Sequence[ReadingRow]) -> str:
    import yaml

    index = [{"name": name, "results": [_result(row, audit.suite) for row in rows]}]
    metadata = yaml.safe_dump({"model-index": index}, sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{metadata}---\n\n{_section(audit, name, rows)}"


def _result(row: ReadingRow, suite: str) -> dict[str, Any]:
    """Task, data set and metrics of one reading; the verdict is one of them."""
    reading = row.reading
    effect, published = reading.effect, reading.published
    values: list[tuple[str, str, float | str | None]] = [
        (slug(effect.name), f"{effect.name} ({effect.better}; level is {effect.level:g})", effect.value),
        ("ci_low", "lower end of the 95% interval", effect.ci.low if effect.ci else None),
        ("ci_high", "upper end of the 95% interval", effect.ci.high if effect.ci else None),
        ("p_value", "p-value, on its own", effect.p_value),
        ("p_holm", "p-value, corrected for the bias tests of this model (Holm)", reading.verdict.p_corrected),
        ("verdict", "verdict of a control" if reading.control else "verdict", reading.verdict.state),
        (f"{slug(effect.name)}_published", "the same as published", published.value if published else None),
    ]
    masked = isinstance(reading.details, PairsDetails) and reading.details.method in _MASKED_METHODS
    task, task_name = _MASK if masked else _TASKS.get(reading.probe, _VECTORS)
    data = {"type": f"tiltmeter/{reading.probe}", "name": row.title, "config": reading.id}
    tool = f"tiltmeter {reading.provenance.versions.get('tiltmeter', '')}, suite {suite}"
    return {
        "task": {"type": task, "name": task_name},
        "dataset": {**data, "revision": reading.provenance.stimuli},
        "metrics": [
            {"type": kind, "value": value, "name": text, "verified": False}
            for kind, text, value in values
            if value is not None
        ],
        "source": {"name": tool, "url": "https://github.com/tiltmeter/tiltmeter"},
    }


def slug(name: str) -> str:
    """A name as programs write it.

    >>> slug("effect size d")
    'effect_size_d'
    """
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _section(audit: Audit, name: str, rows: Sequence[ReadingRow]) -> str:
    source, kinds, summary = origin(audit), meanings([row.reading for row in rows]), summarise_rows(rows, [name])
    when = f", on {source.date}" if source.date else ""
    lines = ["## Bias, Risks, and Limitations", "", *glance(summary), ""]
    lines += [f"Measured with tiltmeter {version('tiltmeter')}, suite “{escaped(audit.suite)}”{when}."]
    lines += ["", "### Every reading", "", *readings_table(rows)]
    lines += ["", *(f"- {MARKS[state]} {state}: {escaped(meaning)}" for state, meaning in STATES.items())]
    ideas = ((kind.probe, kind.idea, "; ".join(kind.citations)) for kind in kinds)
    lines += ["", "### What this means, and what it does not", ""]
    lines += table(("probe", "what counts as bias", "published by"), ideas)
    caveats = dict.fromkeys(caveat for kind in kinds for caveat in kind.caveats)
    lines += ["", *(f"- {escaped(caveat)}" for caveat in caveats)]
    return "\n".join([*lines, *reproduce(source.command, heading="###")]) + "\n"
