"""Results of mitigation made by hand, for views."""

from __future__ import annotations

import dataclasses

from tiltmeter.readings.mitigation import AnotherSplit, MethodOutcome, Mitigation, Moved, Remainder, TraceTest, Utility
from tiltmeter.statistics import Interval

LESS = Moved(
    "career-held-out", "Career <b> (held-out words)", "gender", "d", 0.0, 1.0, 0.4, -0.6,
    Interval(-0.8, -0.4, 0.95, "t"), 0.001, -0.6, True, True, 0, True,
)  # fmt: skip
FITTED = dataclasses.replace(LESS, id="career", title="Career", held_out=False, fit_words=7, decides=False)
FINDS = TraceTest("linear", "a linear classifier", 0.5, 0.99, 0.8, Interval(0.75, 0.85, 0.95, "Wilson"), 200)
KEPT = Utility("SimLex-999", "ranks", 0.4, 0.39, 0.975, Interval(0.95, 1.0, 0.95, "bootstrap"), 999)


def outcome(method: str, *, left: float = 0.4, kept: float = 0.975) -> MethodOutcome:
    shares = (
        Remainder(left, Interval(left - 0.1, left + 0.1, 0.95, "t")),
        Remainder(kept, Interval(kept - 0.02, kept + 0.02, 0.95, "t")),
    )
    return MethodOutcome(
        method, "take it away", "A 2020", f"debiased:{method}", (LESS, FITTED), (FINDS,), (KEPT,), *shares
    )


def result() -> Mitigation:
    failed = MethodOutcome("ran", "push", "B 2021", "debiased:ran", problem="no words are left")
    methods = (outcome("hard", left=0.5), outcome("leace", left=0.3), failed)
    pairs = (("she", "he"),), (("woman", "man"),)
    return Mitigation("bundled:glove", "1", "default", "gender", *pairs, 0, methods, 1.0, "tiltmeter mitigate x")


def over_splits() -> Mitigation:
    """The same with two other splits of the words, in one of which leace costs too much."""
    made = result()
    others = (
        AnotherSplit("hard", 1, 1, 1, 0, 0.52, 0.98, "yes"),
        AnotherSplit("leace", 1, 1, 1, 0, 0.33, 0.91, "no"),
        AnotherSplit("hard", 2, 1, 1, 0, 0.48, 0.96, "perhaps"),
        AnotherSplit("leace", 2, 0, 0, 0, None, None, "no", "no pair is left"),
    )
    return dataclasses.replace(made, others=others)
