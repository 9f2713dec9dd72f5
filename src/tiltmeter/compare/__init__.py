"""Models compared: what differs between them, how far, and whether it is more than noise; and the gate on it.

A reading keeps the score of every item and says how its effect follows from them, so the same words measured on two
models can be paired. Where it does not follow, the two intervals are combined as those of independent measurements, and
it is said.
"""

import sys
from types import ModuleType
from typing import Any

from tiltmeter.compare.comparison import (
    Comparison,
    Comparisons,
    NotCompared,
    Side,
    SomeAudit,
    SomeSide,
    compare,
    find_audit,
    load_audit,
    load_side,
)
from tiltmeter.compare.difference import Difference, differ
from tiltmeter.compare.floor import Floor, NoiseFloor, load_noise, measure_noise, save_noise
from tiltmeter.compare.gate import Check, Outcome, ProbeCheck, check
from tiltmeter.compare.policy import Policy, Rule, SomePolicy, load_policy
from tiltmeter.compare.ranking import Ranked, Ranking, rank

__all__ = [
    "Check",
    "Comparison",
    "Comparisons",
    "Difference",
    "Floor",
    "NoiseFloor",
    "NotCompared",
    "Outcome",
    "Policy",
    "ProbeCheck",
    "Ranked",
    "Ranking",
    "Rule",
    "Side",
    "SomeAudit",
    "SomePolicy",
    "SomeSide",
    "check",
    "compare",
    "differ",
    "find_audit",
    "load_audit",
    "load_noise",
    "load_policy",
    "load_side",
    "measure_noise",
    "rank",
    "save_noise",
]


class _CallableModule(ModuleType):
    """The room itself as the function of its name.

    Python sets ``tiltmeter.compare`` to this module whenever anything imports from it, so a function of that name in
    the package would be there or not, depending on what was imported before. Called, the module is the function.
    """

    def __call__(self, *sides: Any) -> Comparisons:
        return compare(*sides)


sys.modules[__name__].__class__ = _CallableModule
