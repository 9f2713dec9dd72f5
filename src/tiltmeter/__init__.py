"""tiltmeter measures how far embeddings and language models lean towards a social group.

>>> import tiltmeter
>>> audit = tiltmeter.audit(["bundled:glove"], suite="weat", cache=False)  # doctest: +SKIP
>>> audit.report("audit.html")  # doctest: +SKIP

Everything heavy is imported when it is first used, so that ``import tiltmeter`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tiltmeter import measures, mitigation, statistics, stimuli
    from tiltmeter.compare.agreement import agreement
    from tiltmeter.compare.comparison import compare
    from tiltmeter.compare.gate import check
    from tiltmeter.compare.ranking import rank
    from tiltmeter.errors import TiltmeterError
    from tiltmeter.lab.glove.glove import train_glove
    from tiltmeter.lab.mitigate.debias import debias
    from tiltmeter.lab.mitigate.mitigate import mitigate
    from tiltmeter.lab.replicate.replicate import replicate
    from tiltmeter.models import load
    from tiltmeter.readings import Audit, Reading
    from tiltmeter.run.audit import audit
    from tiltmeter.run.draft import draft
    from tiltmeter.run.one_sentence import cloze, unmask
    from tiltmeter.run.probe import probe

_NAMES = {
    "Audit": "tiltmeter.readings.audit",
    "agreement": "tiltmeter.compare.agreement",
    "audit": "tiltmeter.run.audit",
    "check": "tiltmeter.compare.gate",
    "cloze": "tiltmeter.run.one_sentence",
    "debias": "tiltmeter.lab.mitigate.debias",
    "draft": "tiltmeter.run.draft",
    "mitigate": "tiltmeter.lab.mitigate.mitigate",
    "TiltmeterError": "tiltmeter.errors",
    "load": "tiltmeter.models",
    "probe": "tiltmeter.run.probe",
    "rank": "tiltmeter.compare.ranking",
    "Reading": "tiltmeter.readings.reading",
    "replicate": "tiltmeter.lab.replicate.replicate",
    "train_glove": "tiltmeter.lab.glove.glove",
    "unmask": "tiltmeter.run.one_sentence",
}
# The room compare is the function of that name as well: see there.
_MODULES = (
    *("measures", "mitigation", "statistics", "stimuli", "models", "probes", "run", "compare", "views", "errors"),
    "readings",
)

__all__ = [
    "Audit",
    "Reading",
    "TiltmeterError",
    "agreement",
    "audit",
    "check",
    "cloze",
    "compare",
    "debias",
    "draft",
    "load",
    "measures",
    "mitigate",
    "mitigation",
    "probe",
    "rank",
    "replicate",
    "statistics",
    "stimuli",
    "train_glove",
    "unmask",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tiltmeter.{name}")
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tiltmeter' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES, *_MODULES})
