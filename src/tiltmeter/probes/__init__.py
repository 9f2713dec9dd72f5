"""Probes: stimuli, the question asked of a model, and the measure. Each returns a reading."""

from tiltmeter.probes.kind import Kind, Options, Part, Probe
from tiltmeter.probes.registry import KINDS, find_kind, make_probes

__all__ = ["KINDS", "Kind", "Options", "Part", "Probe", "find_kind", "make_probes"]
