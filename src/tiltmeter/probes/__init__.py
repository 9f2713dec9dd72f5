"""Probes: stimuli, the question asked of a model, and the measure. Each returns a reading."""

from tiltmeter.probes.kind import Kind, Options, Part, Probe
from tiltmeter.probes.old_language import LanguageKind, LanguageProbe
from tiltmeter.probes.registry import KINDS, AnyProbe, find_kind, make_probes

__all__ = [
    "KINDS",
    "AnyProbe",
    "Kind",
    "LanguageKind",
    "LanguageProbe",
    "Options",
    "Part",
    "Probe",
    "find_kind",
    "make_probes",
]
