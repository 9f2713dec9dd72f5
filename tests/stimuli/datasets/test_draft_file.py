"""Drafts: what was decided comes back, and only accepted rows are a cloze set."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.labelled import draft_file, rows
from tiltmeter.errors import BadInput
from tiltmeter.stimuli import datasets
from tiltmeter.stimuli.datasets.draft_file import load_draft, read_draft, write_draft


def test_a_draft_comes_back_as_it_was_written_with_columns_of_somebody_else(tmp_path: Path) -> None:
    written = [dataclasses.replace(row, more={"note": f"row {place}"}) for place, row in enumerate(rows(""))]
    write_draft(tmp_path / "draft.csv", written)
    assert list(read_draft(tmp_path / "draft.csv")) == written


def test_only_accepted_rows_are_a_cloze_set(tmp_path: Path) -> None:
    decided = [dataclasses.replace(row, decision=said) for row, said in zip(rows(), ["yes", "no", ""], strict=False)]
    write_draft(tmp_path / "draft.csv", decided)
    sets = datasets.load_cloze(tmp_path / "draft.csv")
    assert [(each.context, each.units) for each in sets] == [
        ("occupation", ("engineer",)), ("noun", ("bridge",)), ("verb", ("designed",)),
    ]  # fmt: skip
    assert sets[0].versions == (
        ("The engineer told everybody that the bridge was designed by him",),
        ("The engineer told everybody that the bridge was designed by her",),
    )
    assert "1 of 3 rows wait for a decision" in sets[0].notes[0]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace("accept,", "verdict,"), "no column 'context'|no column 'sent_m'"),
        (lambda text: text.replace("id,accept,sentence", "id,accept,text"), "no column 'sentence'"),
        (lambda text: text.replace(",yes,", ",perhaps,", 1), "row 2: accept is 'perhaps': write yes or no"),
        (lambda text: text.replace(",yes,", ",,"), "no row is accepted"),
        (lambda text: text.replace(" {pronoun}", "", 1), "row 2: the sentence needs {pronoun} once"),
        (lambda text: text.replace(",him,", ",,", 1), "row 2: pronoun_1 and pronoun_2 must be filled in"),
        (lambda text: text.replace("engineer,bridge,designed", ",,", 1), "row 2: no context word"),
        (lambda text: text + text.splitlines()[1] + "\n", "row 10: the id .* is that of row 2 too"),
    ],
)
def test_a_broken_draft_is_one_clear_line(tmp_path: Path, change: object, complaint: str) -> None:
    file = draft_file(tmp_path / "draft.csv")
    file.write_text(change(file.read_text()))  # type: ignore[operator]
    with pytest.raises(BadInput, match=complaint):
        datasets.load_cloze(file)


def test_a_spreadsheets_way_of_saying_yes_is_understood(tmp_path: Path) -> None:
    file = draft_file(tmp_path / "draft.csv")
    file.write_text(file.read_text().replace(",yes,", ",TRUE,", 4).replace(",yes,", ",0,"))
    assert len(load_draft(file)[0].sentences) == 4
