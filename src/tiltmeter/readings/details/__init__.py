"""What a kind of probe tells beyond its effect and its items: a class of typed fields for each kind that has any."""

from tiltmeter.readings.details import cabm, calibration, ceat, cloze, sentences
from tiltmeter.readings.details.base import Details, OtherDetails

__all__ = ["Details", "OtherDetails", "cabm", "calibration", "ceat", "cloze", "sentences"]
