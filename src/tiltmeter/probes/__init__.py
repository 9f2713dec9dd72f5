"""Probes: stimuli, the question asked of a model, and the measure. Each returns a reading."""

from tiltmeter.probes.imported import association_probes, seat_probe
from tiltmeter.probes.kinds import Kind, Options
from tiltmeter.probes.probe import KINDS, Probe, find_kind, make_probe

__all__ = ["KINDS", "Kind", "Options", "Probe", "association_probes", "find_kind", "make_probe", "seat_probe"]
