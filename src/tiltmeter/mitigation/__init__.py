"""Mitigation: pure functions that make vectors lean less, one method per file. No model, no file, no network."""

from tiltmeter.mitigation.augmentation import swap_groups
from tiltmeter.mitigation.double_hard import double_hard
from tiltmeter.mitigation.eraser import Eraser, subspace
from tiltmeter.mitigation.half_sibling import half_sibling
from tiltmeter.mitigation.hard import hard
from tiltmeter.mitigation.inlp import inlp
from tiltmeter.mitigation.leace import leace
from tiltmeter.mitigation.ran import ran
from tiltmeter.mitigation.self_debias import self_debias
from tiltmeter.mitigation.sentence_debias import sentence_debias

__all__ = [
    "Eraser",
    "double_hard",
    "half_sibling",
    "hard",
    "inlp",
    "leace",
    "ran",
    "self_debias",
    "sentence_debias",
    "subspace",
    "swap_groups",
]
