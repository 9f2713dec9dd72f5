"""What a kind of probe tells beyond its effect and its items: a class of typed fields for each kind that has any."""

from tiltmeter.readings.details import cabm, calibration, ceat, cloze, generation, sentences

__all__ = ["cabm", "calibration", "ceat", "cloze", "generation", "sentences"]
