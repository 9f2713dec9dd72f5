"""CABM's own page: weights, categories, occupations, what speaks for and against the scores, and the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tiltmeter.readings import Reading
from tiltmeter.views.charts.cabm.colours import FEATURES, FORMS, category_names, weightings
from tiltmeter.views.terminal.cabm_checks import check_rows, pair_rows

#: As many occupations as these are all shown; of more, those at both ends.
_ALL, _ENDS = 29, 8
_LOUD = 3
#: Columns with names of groups, which may be long.
_NAMED = ("category", "as published")
#: A spread below this would be shown as 0.00.
_SEEN = 0.005


def cabm_view(reading: Reading) -> RenderableType:
    """Everything that a reading of CABM holds, published beside corrected."""
    parts: list[RenderableType] = []
    for made in (_weights, _categories, _occupations, _sentences, _validation, _agreement, _data):
        parts += made(reading)
    return Group(*parts)


def _weights(reading: Reading) -> list[RenderableType]:
    found = {form: reading.details[form] for form in FORMS}
    names = weightings(name for form in FORMS for name in found[form]["weights"])
    columns = [
        f"{form}\n{label}" if n == 0 else f"\n{label}" for form in FORMS for n, label in enumerate(FEATURES.values())
    ]
    table = _table("How much each feature counts", "weighting", columns)
    for name in names:
        cells = [cell for form in FORMS for cell in _weight_cells(found[form]["weights"].get(name))]
        table.add_row(Text(name), *cells)
    used = " and ".join(f"{found[form]['method']} ({form})" for form in FORMS)
    missing = [f"{name}, {form}: {why}." for form in FORMS for name, why in found[form]["not_weighed"].items()]
    meaning = f"The headline is weighed by {used}. Weights sum to 1; ± is their SD over seeds: lower is steadier."
    return [table, *_lines(meaning, *missing)]


def _weight_cells(weights: Mapping[str, Any] | None) -> list[str]:
    if weights is None:
        return ["-"] * len(FEATURES)
    both = zip(weights["values"], weights["spread"], strict=True)
    return [f"{value:.2f} ± {spread:.2f}" if spread >= _SEEN else f"{value:.2f}" for value, spread in both]


def _categories(reading: Reading) -> list[RenderableType]:
    table = _table(f"Occupations by category, cut at ±{reading.details['threshold']:g}", "category", FORMS)
    counts = [reading.details[form]["categories"] for form in FORMS]
    for name in category_names(reading):
        table.add_row(Text(name), *(str(each.get(name, 0)) for each in counts))
    return [table, *_lines("Too close to call: the interval reaches into another category. More in neutral is better.")]


def _occupations(reading: Reading) -> list[RenderableType]:
    rows = sorted(reading.items, key=lambda row: -row["lean"])
    left = len(rows) - 2 * _ENDS if len(rows) > _ALL else 0
    one, two = reading.details["groups"]
    columns = ["score [95% interval]", "category", "as published", *FEATURES.values()]
    table = _table(f"Occupations, from {one} to {two}", "occupation", columns)
    for row in rows[:_ENDS] if left else rows:
        table.add_row(*_occupation(row))
    if left:
        table.add_row(Text(f"({left} more)"))
        for row in rows[-_ENDS:]:
            table.add_row(*_occupation(row))
    features = ", ".join(FEATURES.values())
    meaning = f"{features}: their parts of the score, which they add up to. 0 is level; nearer to 0 is better."
    return [table, *_lines(meaning)]


def _occupation(row: Mapping[str, Any]) -> list[Text]:
    cells = [
        row["word"],
        f"{row['lean']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]",
        row["group"],
        f"{row['published']:+.2f} {row['published_group']}",
        *(f"{row[f'part_{name}']:+.2f}" for name in FEATURES),
    ]
    return [Text(cell) for cell in cells]


def _sentences(reading: Reading) -> list[RenderableType]:
    rows = sorted(reading.items, key=lambda row: -row["lean"])
    words = dict.fromkeys(row["word"] for row in [*rows[:_LOUD], *rows[-_LOUD:]])
    loud = [reading.details["sentences"][word][0] for word in words if reading.details["sentences"].get(word)]
    lines = [f"{each['lean']:+.2f}  {each['sentence']}" for each in loud]
    return [_title("Sentences that lean most, of the occupations at both ends"), *_lines(*lines)] if lines else []


def _validation(reading: Reading) -> list[RenderableType]:
    table = _table("Does the score hold up?", "check", FORMS, last="what it means")
    for label, cells, meaning in check_rows(reading):
        table.add_row(Text(label), *cells, Text(meaning))
    notes = [f"{form}, {note}." for form in FORMS for note in reading.details[form]["validation"]["notes"]]
    crossed = "Corrected scores are checked as cross-validated: no occupation had a part in its own weights."
    return [table, *_lines(*([crossed] if reading.details["labels_from"] != "none" else []), *notes)]


def _agreement(reading: Reading) -> list[RenderableType]:
    rows = pair_rows(reading)
    if not rows:
        return []
    table = _table("What goes together", "two scores", ["Pearson", "Spearman", "same category"])
    for label, cells in rows:
        table.add_row(Text(label), *cells)
    meaning = (
        "1 is the same order, 100% the same category (with a single feature: the same sign) for all. Higher: it "
        "matters less which of the two is used."
    )
    return [table, *_lines(meaning)]


def _data(reading: Reading) -> list[RenderableType]:
    data, groups = reading.details["data"], reading.details["groups"]
    lines = data["lines"]
    told = [
        f"{lines['read']:,} lines read, {lines['used']:,} used; of them {data['sentences']:,} sentences were made, "
        f"{data['neutral_sentences']:,} with the group masked, of {len(data['by_occupation']):,} occupations.",
        *(f"Left out, {count:,} line{'' if count == 1 else 's'}: {why}." for why, count in lines["left_out"].items()),
        f"The source has {_counted(lines['by_group'], groups)}; the sentences {_counted(data['by_group'], groups)}.",
        *(f"{kind}: {_counted(counts, groups)}." for kind, counts in data["by_kind"].items()),
        f"Labels of occupations come from: {reading.details['labels_from']}.",
        *(f"Note: {warning}." for warning in reading.details["warnings"]),
    ]
    return [_title("What was kept and what was dropped"), *_lines(*told)]


def _counted(counts: Mapping[str, int], groups: Sequence[str]) -> str:
    return ", ".join(f"{counts[group]:,} with {group}" for group in groups)


def _table(title: str, first: str, columns: Sequence[str], *, last: str | None = None) -> Table:
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column(first, overflow="fold")
    for name in columns:
        named = name in _NAMED
        table.add_column(name, justify="left" if named else "right", no_wrap=not named)
    if last is not None:
        table.add_column(last, ratio=1)
    return table


def _title(text: str) -> Text:
    return Text(text, style="bold italic")


def _lines(*lines: str) -> list[RenderableType]:
    return [*(Text(line) for line in lines), Text("")]
