"""A section for a model card: readings in words, and as the ``model-index`` that the Hugging Face hub reads."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from tiltmeter.readings import Reading
from tiltmeter.readings.details.sentences import PairsDetails
from tiltmeter.views.exports.markdown import plain, readings_table, table
from tiltmeter.views.report.background import meanings, origin
from tiltmeter.views.report.verdict import verdict
from tiltmeter.views.rows import reading_rows

if TYPE_CHECKING:
    from tiltmeter.readings import Audit

#: What the hub calls the task a probe puts to a model; language models are asked in more than one way.
_TASKS = {
    "lpbs": ("fill-mask", "Fill-Mask"),
    "unmask": ("fill-mask", "Fill-Mask"),
    "cloze": ("text-generation", "Text Generation"),
    "pairs": ("text-generation", "Text Generation"),
    "pronouns": ("text-generation", "Text Generation"),
    "stereoset": ("text-generation", "Text Generation"),
}
_VECTORS = ("feature-extraction", "Feature Extraction")
_MASKED_METHODS = ("nangia", "meade", "aul")


def to_model_card(audit: Audit) -> str:
    """YAML metadata, and the section on bias; with several models, an entry and a table for each."""
    import yaml

    metadata = yaml.safe_dump({"model-index": model_index(audit)}, sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{metadata}---\n\n{_section(audit)}"


def model_index(audit: Audit) -> list[dict[str, Any]]:
    """One entry per model, with task, data set and metrics of every reading."""
    rows = list(zip(audit.readings, audit.adjusted(), strict=True))
    return [
        {
            "name": name,
            "results": [_result(r, holm, audit.suite) for r, holm in rows if r.model == name],
        }
        for name in audit.models
        if any(reading.model == name for reading, _ in rows)
    ]


def _result(reading: Reading, p_holm: float | None, suite: str) -> dict[str, Any]:
    effect, published = reading.effect, reading.published
    values: list[tuple[str, str, float | None]] = [
        (slug(effect.name), f"{effect.name} ({effect.better}; level is {effect.level:g})", effect.value),
        ("ci_low", "lower end of the 95% interval", effect.ci.low if effect.ci else None),
        ("ci_high", "upper end of the 95% interval", effect.ci.high if effect.ci else None),
        ("p_value", "p-value, taken alone", effect.p_value),
        ("p_holm", "p-value, corrected for all tests of the audit (Holm)", p_holm),
        (f"{slug(effect.name)}_published", "the same as published", published.value if published else None),
    ]
    task, name = _task(reading)
    return {
        "task": {"type": task, "name": name},
        "dataset": {
            "type": f"tiltmeter/{reading.probe}",
            "name": reading.title,
            "config": reading.id,
            "revision": reading.provenance.stimuli,
        },
        "metrics": [
            {"type": kind, "value": float(value), "name": text, "verified": False}
            for kind, text, value in values
            if value is not None
        ],
        "source": {
            "name": f"tiltmeter {reading.provenance.versions.get('tiltmeter', '')}, suite {suite}",
            "url": "https://github.com/tiltmeter/tiltmeter",
        },
    }


def _task(reading: Reading) -> tuple[str, str]:
    if isinstance(reading.details, PairsDetails) and reading.details.method in _MASKED_METHODS:
        return _TASKS["unmask"]
    return _TASKS.get(reading.probe, _VECTORS)


def slug(name: str) -> str:
    """A name as programs write it.

    >>> slug("effect size d")
    'effect_size_d'
    """
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _section(audit: Audit) -> str:
    judged, source = verdict(audit), origin(audit)
    rows = reading_rows(audit.readings, audit.adjusted())
    lines = [
        "## Bias, Risks, and Limitations",
        "",
        f"**{plain(judged.headline)}** {' '.join(map(plain, judged.sentences))}",
        "",
        f"Measured with tiltmeter {version('tiltmeter')}, suite “{plain(audit.suite)}”"
        f"{f', on {source.date}' if source.date else ''}.",
    ]
    for name in audit.models:
        mine = [row for row in rows if row.reading.model == name]
        if mine:
            lines += ["", f"### {plain(name)}", "", *readings_table(mine)]
    kinds = meanings(audit.readings)
    lines += ["", "### What this means, and what it does not", ""]
    lines += table(
        ("probe", "what counts as bias", "published by"), ((k.probe, k.idea, "; ".join(k.citations)) for k in kinds)
    )
    caveats = dict.fromkeys(caveat for kind in kinds for caveat in kind.caveats)
    lines += ["", *(f"- {plain(caveat)}" for caveat in caveats)]
    lines += ["", "### How to reproduce this", "", "```console", f"$ {source.command}", "```"]
    return "\n".join(lines) + "\n"
