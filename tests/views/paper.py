"""A small replication: a table with a printed row, one that was not measured, and one that the paper draws."""

from __future__ import annotations

from tiltmeter.readings.paper_tables import Drawn, PaperCell, PaperColumn, PaperRow, PaperTable, Replication


def row(label: str, *values: float | str | None, **more: object) -> PaperRow:
    return PaperRow(label, tuple(PaperCell(value) for value in values), **more)  # type: ignore[arg-type]


def drawn(kind: Drawn) -> PaperTable:
    columns = (PaperColumn("male"), PaperColumn("female"), PaperColumn("category"))
    rows = (row("nurse", -0.5, 1.5, "care", part="m"), row("pilot", 2.0, -1.0, "travel", part="n"))
    return PaperTable("Figure 4", "PMI", columns, (*rows, row("nurse", 9.0, 9.0, "", printed=True)), drawn=kind)


COMPARED = PaperTable(
    "Table 2",
    "Shares & effects",
    (PaperColumn("to-M", "noun"), PaperColumn("d", "noun")),
    (
        PaperRow("mine", (PaperCell(0.4, "*"), PaperCell(-0.85, shade=3)), part="small_1", like="GPT-2"),
        row("GPT-2", 0.51, -0.8, printed=True),
    ),
    notes=("Stars: p < .05.",),
)
MISSING = PaperTable("Table 3", "Race", (PaperColumn("to-M"),), missing="needs 100% of GPT-3")
PAPER = Replication("paper", "Tables of a paper", "A & B 2020", ("own:mine",), (COMPARED, MISSING, drawn("bars")))
