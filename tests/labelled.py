"""A draft of eight sentences and the labels of three people on them, whose agreement is known by hand."""

from __future__ import annotations

from pathlib import Path

from tiltmeter.stimuli.datasets.draft_file import DraftRow, write_draft

#: Ann and Ben, and Ben and Cem, agree on 6 of 8; Ann and Cem on 4; all say M four times.
PEOPLE = {"ann": "MMMMWWWW", "ben": "MMMWWWWM", "cem": "MMWWWWMM"}
KAPPA = {("ann", "ben"): 0.5, ("ann", "cem"): 0.0, ("ben", "cem"): 0.5}
#: Four items are unanimous, of the others one pair of three agrees: observed 2/3; 12 of 24 labels are M.
FLEISS = (2 / 3 - 1 / 2) / (1 / 2)
ALPHA = 1 - (1 / 3) / (2 * 12 * 12 / (24 * 23))
WORK = (
    ("engineer", "bridge", "designed"), ("baker", "bread", "sold"), ("pilot", "route", "planned"),
    ("farmer", "field", "ploughed"), ("nurse", "chart", "signed"), ("teacher", "lesson", "prepared"),
    ("florist", "bouquet", "arranged"), ("clerk", "invoice", "mailed"),
)  # fmt: skip
GROUPS = {"M": "men", "W": "women"}


def rows(decision: str = "yes") -> list[DraftRow]:
    return [
        DraftRow(
            f"The {occupation} told everybody that the {noun} was {verb} by {{pronoun}}",
            {"occupation": occupation, "noun": noun, "verb": verb},
            ("him", "her"),
            decision=decision,
        )
        for occupation, noun, verb in WORK
    ]


def draft_file(path: Path, decision: str = "yes") -> Path:
    write_draft(path, rows(decision))
    return path


def labels_table(path: Path, people: dict[str, str] = PEOPLE) -> Path:
    """The labels as one table, as they would come out of a spreadsheet."""
    lines = ["person,item,label"]
    lines += [f"{person},{place},{label}" for person, labels in people.items() for place, label in enumerate(labels)]
    path.write_text("\n".join(lines))
    return path
