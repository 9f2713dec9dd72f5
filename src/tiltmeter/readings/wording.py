"""Until every importer takes these from ``tiltmeter.readings``: to be deleted."""

from tiltmeter.readings.scale import ALPHA, interval_text, p_number, p_text, percent_text, tilt_in_words

__all__ = ["ALPHA", "interval_text", "p_number", "p_text", "percent_text", "tilt_in_words"]
