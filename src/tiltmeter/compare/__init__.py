"""Models compared: what differs between them, how far, and whether it is more than noise; and the gate on it.

A reading keeps the score of every item, so the same words measured on two models can be paired. Where an effect does
not follow from its items, the two intervals are combined as those of independent measurements, and it is said.
"""

from tiltmeter.compare.comparison import Comparison, Comparisons, NotCompared, compare
from tiltmeter.compare.difference import Difference, differ
from tiltmeter.compare.gate import Check, Verdict, check
from tiltmeter.compare.policy import Policy, Rule, load_policy
from tiltmeter.compare.sides import Side, load_side

__all__ = [
    "Check",
    "Comparison",
    "Comparisons",
    "Difference",
    "NotCompared",
    "Policy",
    "Rule",
    "Side",
    "Verdict",
    "check",
    "compare",
    "differ",
    "load_policy",
    "load_side",
]
