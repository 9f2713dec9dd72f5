"""Models compared: what differs between them, how far, and whether it is more than noise; and the gate on it.

A reading keeps the score of every item and says how its effect follows from them, so the same words measured on two
models can be paired. Where it does not follow, the two intervals are combined as those of independent measurements, and
it is said.
"""

from tiltmeter.compare.comparison import Comparison, Comparisons, NotCompared, Side, compare, load_audit, load_side
from tiltmeter.compare.difference import Difference, differ
from tiltmeter.compare.floor import Floor, Noise, load_noise, measure_noise, save_noise
from tiltmeter.compare.gate import Check, ProbeCheck, check
from tiltmeter.compare.policy import Policy, Rule, load_policy

__all__ = [
    "Check",
    "Comparison",
    "Comparisons",
    "Difference",
    "Floor",
    "Noise",
    "NotCompared",
    "Policy",
    "ProbeCheck",
    "Rule",
    "Side",
    "check",
    "compare",
    "differ",
    "load_audit",
    "load_noise",
    "load_policy",
    "load_side",
    "measure_noise",
    "save_noise",
]
