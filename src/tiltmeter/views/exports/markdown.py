"""The report as Markdown, and a section for a model card, with the ``model-index`` that the Hugging Face hub reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from tiltmeter.readings import Audit, Reading
from tiltmeter.readings.details.sentences import PairsDetails
from tiltmeter.views.report.words import Meaning, Origin, meanings, not_measured, origin, shared_caveats, verdict
from tiltmeter.views.rows import ReadingRow, rows_by_model

#: What has a meaning in Markdown, or would begin a tag.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def to_markdown(audit: Audit) -> str:
    """Verdict, tables, plain words, caveats, method and how to reproduce it."""
    judged, source = verdict(audit), origin(audit)
    when = f", finished on {source.date}" if source.date else ""
    verdicts = judged.models
    models = [(m.model, f"{m.clear} of {m.tests} tests", m.strongest or "none", m.control or "-") for m in verdicts]
    lines = [
        *("# How far does it lean?", ""),
        *(f"Suite “{plain(audit.suite)}” on {', '.join(map(plain, audit.models))}{when}.", ""),
        *("## Verdict", "", f"**{plain(judged.headline)}** {' '.join(map(plain, judged.sentences))}", ""),
        *table(("model", "clear leans", "strongest clear lean", "control"), models),
        *(line for note in audit.notes for line in ("", f"Note: {plain(note)}.")),
        *(line for name, rows in rows_by_model(audit).items() for line in _model(name, rows)),
        *_not_measured(audit),
        *_meanings(meanings(audit.readings)),
        *_reproduce(source),
    ]
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """A text that stays as it is in Markdown: no tag, no link, no emphasis, one line.

    >>> print(plain("a <b> | *c*"))
    a \\<b\\> \\| \\*c\\*
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; every cell is plain text."""
    cells = (f"| {' | '.join(map(plain, row))} |" for row in rows)
    return [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *cells]


def readings_table(rows: Sequence[ReadingRow]) -> list[str]:
    """The readings of a model with their strength and p-value."""
    head = ("measured", "leans", "how strongly [95% interval]", "statistic", "p, corrected")
    cells = []
    for row in rows:
        statistic = f"{row.reading.effect.name}, {row.reading.effect.better}"
        cells.append((row.title, row.leans or "-", row.value, statistic, row.p or "-"))
    return table(head, cells)


def _model(name: str, rows: Sequence[ReadingRow]) -> list[str]:
    if not rows:
        return ["", f"## {plain(name)}", "", "Nothing was measured on this model."]
    said = [f"- **{plain(row.title)}.** {plain(row.reading.plain_words)}{_published(row)}" for row in rows]
    return ["", f"## {plain(name)}", "", *readings_table(rows), "", *said]


def _published(row: ReadingRow) -> str:
    published = row.reading.published
    if published is None:
        return ""
    p = f", p {row.published_p}" if row.published_p else ""
    return f" As published: {published.value:.4f}{plain(p)}. {plain(row.reading.repair)}"


def _not_measured(audit: Audit) -> list[str]:
    lines = [
        f"- {plain(', '.join(probes))} on {plain(', '.join(models))}: {plain(reason)}"
        for probes, models, reason in not_measured(audit)
    ]
    return ["", "## Not measured", "", *lines] if lines else []


def _meanings(kinds: Sequence[Meaning]) -> list[str]:
    shared = shared_caveats(kinds)
    lines = ["", "## What the probes mean", "", *(f"- {plain(caveat)}" for caveat in shared)]
    for kind in kinds:
        lines += ["", f"### {plain(kind.summary)} ({plain(kind.probe)})", ""]
        lines += [f"What counts as bias: {plain(kind.idea)} Better: {plain('; '.join(kind.better))}.", ""]
        lines += [f"- {plain(caveat)}" for caveat in kind.caveats if caveat not in shared]
        lines += [f"- Method: {plain('; '.join(kind.citations))}"]
    return lines


def _reproduce(source: Origin) -> list[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", source.command)), default=0))
    names = ("model", "revision", "settings")
    listed = (", ".join(f"{k} {v}" for k, v in pairs.items()) for pairs in (source.settings, source.versions))
    settings, versions = map(plain, listed)
    return [
        *("", "## How to reproduce this", "", f"{fence}console", f"$ {source.command}", fence),
        *(["", plain(source.note)] if source.note else []),
        *("", *table(names, ((m["name"], m["revision"], m["settings"]) for m in source.models))),
        *("", f"Settings: {settings}. Versions: {versions}.", "", f"Written by tiltmeter {version('tiltmeter')}."),
    ]


#: What the hub calls the task a probe puts to a model; language models are asked in more than one way.
_VECTORS, _MASK = ("feature-extraction", "Feature Extraction"), ("fill-mask", "Fill-Mask")
_TEXT = ("text-generation", "Text Generation")
_TASKS = {"lpbs": _MASK, "unmask": _MASK, "cloze": _TEXT, "pairs": _TEXT, "pronouns": _TEXT, "stereoset": _TEXT}
_MASKED_METHODS = ("nangia", "meade", "aul")


def to_model_card(audit: Audit) -> str:
    """YAML metadata, and the section on bias; with several models, an entry and a table for each."""
    import yaml

    metadata = yaml.safe_dump({"model-index": model_index(audit)}, sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{metadata}---\n\n{_section(audit)}"


def model_index(audit: Audit) -> list[dict[str, Any]]:
    """One entry per model, with task, data set and metrics of every reading."""
    return [
        {"name": name, "results": [_result(row.reading, audit.suite) for row in rows]}
        for name, rows in rows_by_model(audit).items()
        if rows
    ]


def _result(reading: Reading, suite: str) -> dict[str, Any]:
    effect, published = reading.effect, reading.published
    values: list[tuple[str, str, float | None]] = [
        (slug(effect.name), f"{effect.name} ({effect.better}; level is {effect.level:g})", effect.value),
        ("ci_low", "lower end of the 95% interval", effect.ci.low if effect.ci else None),
        ("ci_high", "upper end of the 95% interval", effect.ci.high if effect.ci else None),
        ("p_value", "p-value, taken alone", effect.p_value),
        ("p_holm", "p-value, corrected for the tests of its model (Holm)", reading.verdict.p_corrected),
        (f"{slug(effect.name)}_published", "the same as published", published.value if published else None),
    ]
    masked = isinstance(reading.details, PairsDetails) and reading.details.method in _MASKED_METHODS
    task, task_name = _MASK if masked else _TASKS.get(reading.probe, _VECTORS)
    data = {"type": f"tiltmeter/{reading.probe}", "name": reading.title, "config": reading.id}
    tool = f"tiltmeter {reading.provenance.versions.get('tiltmeter', '')}, suite {suite}"
    return {
        "task": {"type": task, "name": task_name},
        "dataset": {**data, "revision": reading.provenance.stimuli},
        "metrics": [
            {"type": kind, "value": float(value), "name": text, "verified": False}
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


def _section(audit: Audit) -> str:
    judged, source, kinds = verdict(audit), origin(audit), meanings(audit.readings)
    when = f", on {source.date}" if source.date else ""
    lines = ["## Bias, Risks, and Limitations", ""]
    lines += [f"**{plain(judged.headline)}** {' '.join(map(plain, judged.sentences))}", ""]
    lines += [f"Measured with tiltmeter {version('tiltmeter')}, suite “{plain(audit.suite)}”{when}."]
    for name, rows in rows_by_model(audit).items():
        lines += ["", f"### {plain(name)}", "", *readings_table(rows)] if rows else []
    ideas = ((kind.probe, kind.idea, "; ".join(kind.citations)) for kind in kinds)
    lines += ["", "### What this means, and what it does not", ""]
    lines += table(("probe", "what counts as bias", "published by"), ideas)
    caveats = dict.fromkeys(caveat for kind in kinds for caveat in kind.caveats)
    lines += ["", *(f"- {plain(caveat)}" for caveat in caveats)]
    lines += ["", "### How to reproduce this", "", "```console", f"$ {source.command}", "```"]
    return "\n".join(lines) + "\n"
