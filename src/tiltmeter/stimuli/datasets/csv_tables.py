"""Tables in CSV and TSV files, read so that whatever is wrong with one is said in a single line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.files import read_text

_MOST_ROWS_NAMED = 9


@dataclass(frozen=True, slots=True)
class TableRow:
    """The cells of one row by column, as they are in the file; ``number`` counts as a spreadsheet does (header = 1)."""

    number: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose header is known and whose rows all have as many cells as it."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]

    def need(self, *columns: str, filled: bool = True) -> tuple[TableRow, ...]:
        """The rows, after making sure that these columns are there and, if they should be ``filled``, no cell blank."""
        for column in columns:
            if column not in self.columns:
                raise BadInput(f"{self.name}: no column '{column}'; found: {', '.join(self.columns)}")
        for column in columns if filled else ():
            if blank := [row.number for row in self.rows if not row[column].strip()]:
                raise BadInput(f"{self.name}: column '{column}' is blank in {rows_named(blank)}: fill it in")
        return self.rows

    def wrong(self, row: TableRow, what: str) -> BadInput:
        """The error for something wrong in a row."""
        return BadInput(f"{self.name}: row {row.number}: {what}")


def read_table(path: str | Path, *, aliases: Mapping[str, str] | None = None) -> Table:
    """Read a CSV file, or a TSV file where the name ends so; ``aliases`` maps other spellings of a column to one.

    Every cell is text: "NA", "null" and "01" stay what they are.
    """
    file = Path(path)
    tabs = file.suffix.lower() == ".tsv"
    text = io.StringIO(read_text(file), newline="")
    # A quotation mark is a plain character in a TSV file.
    lines = csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs else csv.reader(text, strict=True)
    try:
        numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
    except csv.Error as error:
        raise BadInput(f"{file.name}: line {lines.line_num}: not a proper {file.suffix[1:]} table: {error}") from None
    if not numbered:
        raise BadInput(f"{file.name}: the file is empty")
    (_, header), *body = numbered
    columns = tuple((aliases or {}).get(name.strip(), name.strip()) for name in header)
    for name in columns:
        if columns.count(name) > 1:
            raise BadInput(f"{file.name}: column '{name}' appears more than once")
    if not body:
        raise BadInput(f"{file.name}: no rows below the header")
    for number, line in body:
        if len(line) != len(columns):
            raise BadInput(f"{file.name}: row {number}: {len(line)} cells, but the header has {len(columns)}")
    rows = tuple(TableRow(number, dict(zip(columns, line, strict=True))) for number, line in body)
    return Table(file.name, columns, rows)


def rows_named(numbers: Iterable[int]) -> str:
    """Row numbers for a message: all of them, or how many and the first few.

    >>> rows_named([4]), rows_named([9, 4])
    ('row 4', 'rows 4, 9')
    >>> rows_named(range(2, 30))
    '28 rows (2, 3, 4, 5, 6, 7, 8, 9, 10, ...)'
    """
    ordered = sorted(numbers)
    named = ", ".join(map(str, ordered[:_MOST_ROWS_NAMED]))
    if len(ordered) > _MOST_ROWS_NAMED:
        return f"{len(ordered)} rows ({named}, ...)"
    return f"row {named}" if len(ordered) == 1 else f"rows {named}"
