"""Models compared: what differs between them, how far, and whether it is more than noise.

A reading keeps the score of every item, so the same words measured on two models can be paired. Where an effect does
not follow from its items, the two intervals are combined as those of independent measurements, and it is said.
"""

from tiltmeter.views.comparing.comparison import Comparison, Comparisons, NotCompared, compare
from tiltmeter.views.comparing.difference import Difference, differ
from tiltmeter.views.comparing.sides import Side, load_side

__all__ = ["Comparison", "Comparisons", "Difference", "NotCompared", "Side", "compare", "differ", "load_side"]
