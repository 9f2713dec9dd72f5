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
    from tiltmeter import measures, statistics, stimuli
    from tiltmeter.auditing import audit
    from tiltmeter.audits import Audit
    from tiltmeter.errors import TiltmeterError
    from tiltmeter.models import load
    from tiltmeter.probing import probe
    from tiltmeter.readings import Reading

_NAMES = {
    "Audit": "tiltmeter.audits",
    "audit": "tiltmeter.auditing",
    "TiltmeterError": "tiltmeter.errors",
    "load": "tiltmeter.models",
    "probe": "tiltmeter.probing",
    "Reading": "tiltmeter.readings",
}
_MODULES = ("measures", "statistics", "stimuli", "models", "probes", "suites", "views", "errors", "readings", "audits")

__all__ = ["Audit", "Reading", "TiltmeterError", "audit", "load", "measures", "probe", "statistics", "stimuli"]


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
