"""Labels of people beside an expert's and models', in the layout of the published human evaluation."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Column
from rich.text import Text

from tiltmeter.compare.agreement import EXPERT, MAJORITY, Agreement, Match, RaterRow, StageAgreement
from tiltmeter.statistics import ChanceCorrected
from tiltmeter.views.terminal.table import number_table

_STAGES = {1: "stage 1, as people think", 2: "stage 2, after looking things up"}
#: So many models stand beside the people; the others are in the JSON.
_MODELS = 3


def agreement_view(agreement: Agreement) -> RenderableType:
    """Per stage: agreement of all, the table of people and models, and every two people; then the change."""
    parts: list[RenderableType] = []
    for stage in agreement.stages:
        parts += [*_overall(stage), _people(stage, agreement), *_pairs(stage), *map(Text, stage.notes), Text("")]
    if agreement.change is not None:
        one, two = (stage.to_1 or 0 for stage in agreement.stages)
        parts.append(Text(f"Mean share to {agreement.groups[0]}: {one:.0%} in stage 1, {two:.0%} in stage 2."))
    parts.append(
        Text(
            "1 is perfect agreement, 0 what chance would bring; brackets are 95% intervals by context word. "
            f"κ is Cohen's kappa; {MAJORITY} is that of the others, ties left out."
        )
    )
    return Group(*parts)


def _overall(stage: StageAgreement) -> list[Text]:
    title = f"{len(stage.people)} people, {stage.items} items, {_STAGES[stage.stage]}"
    measures = (("Krippendorff's alpha", stage.alpha), ("Fleiss' kappa", stage.fleiss))
    lines = [f"{name}: {_value(value)}{_on(value, stage)}" for name, value in measures if value]
    return [Text(title, style="bold"), *map(Text, lines)]


def _on(value: ChanceCorrected, stage: StageAgreement) -> str:
    return "" if value.items == stage.items else f" on {value.items} items"


def _people(stage: StageAgreement, agreement: Agreement) -> RenderableType:
    first, second = agreement.groups
    others = dict.fromkeys(name for row in stage.rows for name in row.matches)
    models = [name for name in others if name not in (EXPERT, MAJORITY)]
    shown = [name for name in (EXPERT, MAJORITY) if name in others] + models[:_MODELS]
    columns = [Column(f"κ with {name}", overflow="fold") for name in shown]
    either = any(row.either for row in stage.rows)
    extra = [Column("either", justify="right")] if either else []
    shares = [Column(f"to {name}", justify="right") for name in (first, second)]
    table = number_table("", Column("who", overflow="fold"), *shares, *extra, *columns)
    for row in stage.rows:
        cells = [_who(row, agreement), _share(row.to_1), _share(row.to_2), *([str(row.either)] if either else [])]
        cells += [_match(row.matches.get(name)) for name in shown]
        table.add_row(*map(Text, cells), style="" if row.kind == "person" else "dim")
    if len(models) > _MODELS:
        table.caption = Text(f"{len(models) - _MODELS} more columns with --json")
    return table


def _who(row: RaterRow, agreement: Agreement) -> str:
    return f"{row.name} (expert)" if row.kind == "person" and row.name == agreement.expert else row.name


def _pairs(stage: StageAgreement) -> list[RenderableType]:
    table = number_table("", "two people", "κ", "same")
    for pair in stage.pairs:
        table.add_row(Text(f"{pair.first}, {pair.second}"), Text(_value(pair.kappa)), Text(f"{pair.same:.0%}"))
    return [table] if stage.pairs else []


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _match(match: Match | None) -> str:
    return "-" if match is None else f"{_value(match.kappa)} {match.same:.0%}"


def _value(kappa: ChanceCorrected) -> str:
    if kappa.value is None:
        return "- (one label only)"
    interval = f" [{kappa.ci.low:.2f}, {kappa.ci.high:.2f}]" if kappa.ci else ""
    # Rounding must not leave a minus before a zero.
    return f"{kappa.value + 0.0 if abs(kappa.value) >= 0.005 else 0.0:.2f}{interval}"
