"""Who agrees with whom, as the terminal shows it."""

from __future__ import annotations

import io

from rich.console import Console

from tiltmeter.compare.agreement import MAJORITY, Agreement, Match, RaterRow, StageAgreement
from tiltmeter.statistics import ChanceCorrected, Interval
from tiltmeter.views.terminal.agreement import agreement_view


def kappa(value: float | None, *, items: int = 8) -> ChanceCorrected:
    ci = None if value is None else Interval(value - 0.2, value + 0.1, 0.95, "made")
    return ChanceCorrected(value, ci, 0.75, 0.5, items, 2 * items, 2)


def stage(number: int, share: float) -> StageAgreement:
    match = Match("ann", MAJORITY, 0.75, kappa(-0.001))
    rows = (
        RaterRow("ann", "person", 8, share, 1 - share, None, 1, {MAJORITY: match}),
        RaterRow("own:m", "model", 8, None, None, None, 0, {}),
    )
    pairs = (Match("ann", "ben", 0.5, kappa(None)),)
    return StageAgreement(number, ("ann", "ben"), 8, kappa(0.5), kappa(0.4, items=6), pairs, rows, ("Ben is new.",))


def test_every_stage_names_people_their_agreement_and_what_changed() -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(agreement_view(Agreement(("men", "women"), "ann", (stage(1, 0.25), stage(2, 0.5)))))
    lines = console.export_text().splitlines()
    words = [" ".join(line.split()) for line in lines]
    assert "2 people, 8 items, stage 1, as people think" in words
    assert "Krippendorff's alpha: 0.50 [0.30, 0.60]" in words
    assert "Fleiss' kappa: 0.40 [0.20, 0.50] on 6 items" in words
    # Rounded to nothing it has no minus; who has no number has a dash.
    assert "ann (expert) 0.25 0.75 1 0.00 [-0.20, 0.10] 75%" in words
    assert "own:m - - 0 -" in words
    assert "ann, ben - (one label only) 50%" in words
    assert "Mean share to men: 25% in stage 1, 50% in stage 2." in words
    assert words.count("Ben is new.") == 2
