"""Forms that are whole runs of word characters, found among the runs of a text.

An automaton looks for a form at every character; in a text that is cut into runs already, one look at each is enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tiltmeter.stimuli.mining.alphabet import APOSTROPHE, MARK, Block
from tiltmeter.stimuli.mining.words import Places, Words


class RunIndex:
    """``forms`` are written in kinds, a byte for each character."""

    def __init__(self, forms: Sequence[bytes]) -> None:
        from tiltmeter.stimuli.mining.kernels import SLOTS, slot

        self._spelled = np.frombuffer(b"".join(forms), np.uint8)
        self._places = np.cumsum([0, *map(len, forms)])
        self._most = max(Counter(forms).values(), default=0)
        self._slots, self._after = np.full(SLOTS, -1), np.full(len(forms), -1)
        for number, form in enumerate(forms):
            place = slot(form[0], form[-1], len(form))
            self._after[number], self._slots[place] = self._slots[place], number

    def look_through(self, block: Block) -> tuple[Words, Places]:
        """The words of a block that other characters set apart; form, start and end of each run that is a form.

        An apostrophe between two letters is part of a word, but ends a run.
        """
        from tiltmeter.stimuli.mining.kernels import words_and_forms

        inside = block.kinds >= MARK
        borders = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        starts, ends, forms = words_and_forms(
            block.kinds, borders, APOSTROPHE, block.letter,
            self._slots, self._after, self._spelled, self._places, self._most,
        )  # fmt: skip
        return Words(starts, ends), forms
