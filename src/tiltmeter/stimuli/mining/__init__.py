"""Corpus mining: natural texts around the words of a lexicon, with the place of the word in each."""

from tiltmeter.stimuli.mining.mine import LENGTHS, mine
from tiltmeter.stimuli.mining.mined import Count, Mined, MiningReport, Occurrence, load_mined

__all__ = ["LENGTHS", "Count", "Mined", "MiningReport", "Occurrence", "load_mined", "mine"]
