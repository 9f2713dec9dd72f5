"""The report as Markdown, and a section for a model card, with the ``model-index`` that the Hugging Face hub reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from tiltmeter.readings import Audit, Reading
from tiltmeter.readings.details.sentences import PairsDetails
from tiltmeter.views.report.background import Meaning, Origin, meanings, origin, shared_caveats
from tiltmeter.views.report.verdict import not_measured, verdict
from tiltmeter.views.rows import ReadingRow, reading_rows

#: What has a meaning in Markdown, or would begin a tag.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def to_markdown(audit: Audit) -> str:
    """Verdict, tables, plain words, caveats, method and how to reproduce it."""
    rows = reading_rows(audit.readings, audit.adjusted())
    judged, source, kinds = verdict(audit), origin(audit), meanings(audit.readings)
    lines = [
        "# How far does it lean?",
        "",
        f"Suite “{plain(audit.suite)}” on {', '.join(map(plain, audit.models))}"
        f"{f', finished on {source.date}' if source.date else ''}.",
        "",
        "## Verdict",
        "",
        f"**{plain(judged.headline)}** {' '.join(map(plain, judged.sentences))}",
        "",
        *table(
            ("model", "clear leans", "strongest clear lean", "control"),
            (
                (m.model, f"{m.clear} of {m.tests} tests", m.strongest or "none", m.control or "-")
                for m in judged.models
            ),
        ),
        *(line for note in audit.notes for line in ("", f"Note: {plain(note)}.")),
    ]
    for name in audit.models:
        lines += _model(name, [row for row in rows if row.reading.model == name])
    lines += [*_not_measured(audit), *_meanings(kinds), *_reproduce(source)]
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """A text that stays as it is in Markdown: no tag, no link, no emphasis, one line.

    >>> print(plain("a <b> | *c*"))
    a \\<b\\> \\| \\*c\\*
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; every cell is plain text."""
    return [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(f"| {' | '.join(map(plain, row))} |" for row in rows),
    ]


def readings_table(rows: Sequence[ReadingRow]) -> list[str]:
    """The readings of a model with their strength and p-value."""
    head = ("measured", "leans", "how strongly [95% interval]", "statistic", "p, corrected")
    return table(
        head,
        (
            (
                row.title,
                row.leans or "-",
                row.value,
                f"{row.reading.effect.name}, {row.reading.effect.better}",
                row.p or "-",
            )
            for row in rows
        ),
    )


def _model(name: str, rows: Sequence[ReadingRow]) -> list[str]:
    if not rows:
        return ["", f"## {plain(name)}", "", "Nothing was measured on this model."]
    said = [f"- **{plain(row.title)}.** {plain(row.sentence)}{_published(row)}" for row in rows]
    return ["", f"## {plain(name)}", "", *readings_table(rows), "", *said]


def _published(row: ReadingRow) -> str:
    published = row.reading.published
    if published is None:
        return ""
    p = f", p {row.published_p}" if row.published_p else ""
    return f" As published: {published.value:.4f}{plain(p)}. {plain(row.reading.repair)}"


def _not_measured(audit: Audit) -> list[str]:
    if not audit.skipped:
        return []
    lines = [
        f"- {plain(', '.join(probes))} on {plain(', '.join(models))}: {plain(reason)}"
        for probes, models, reason in not_measured(audit)
    ]
    return ["", "## Not measured", "", *lines]


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
    return [
        "",
        "## How to reproduce this",
        "",
        f"{fence}console",
        f"$ {source.command}",
        fence,
        *(["", plain(source.note)] if source.note else []),
        "",
        *table(("model", "revision", "settings"), ((m["name"], m["revision"], m["settings"]) for m in source.models)),
        "",
        f"Settings: {plain(', '.join(f'{k} {v}' for k, v in source.settings.items()))}. "
        f"Versions: {plain(', '.join(f'{k} {v}' for k, v in source.versions.items()))}.",
        "",
        f"Written by tiltmeter {version('tiltmeter')}.",
    ]


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
        {"name": name, "results": [_result(r, holm, audit.suite) for r, holm in rows if r.model == name]}
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
