"""Probes: stimuli, the question asked of a model, and the measure. Each returns a reading."""

from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Kind
from tiltmeter.probes.old_language import LanguageKind, LanguageProbe
from tiltmeter.probes.registry import KINDS, AnyProbe, find_kind, make_probes
from tiltmeter.probes.words.imported import association_probes, seat_probe
from tiltmeter.probes.words.making import Probe, make_probe

__all__ = [
    "KINDS",
    "AnyProbe",
    "Kind",
    "LanguageKind",
    "LanguageProbe",
    "Options",
    "Probe",
    "association_probes",
    "find_kind",
    "make_probe",
    "make_probes",
    "seat_probe",
]
