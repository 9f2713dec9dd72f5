"""Corpus mining: natural texts around the words of a lexicon, with the place of the word in each."""

from .mine import LENGTHS, mine
from .mined import Mined, Occurrence, load_mined
from .result import Count, MiningReport

__all__ = ["LENGTHS", "Count", "Mined", "MiningReport", "Occurrence", "load_mined", "mine"]
