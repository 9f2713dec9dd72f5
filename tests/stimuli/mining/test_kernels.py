"""The compiled loops against what others have published, and against Python's own strings."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.stimuli.mining.blocks import UNSEEN, CharacterTable
from tiltmeter.stimuli.mining.kernels import characters, mix, read

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
#: The first numbers of SplitMix64 from a seed of 0, in the reference implementation of Vigna (2015).
SPLITMIX_FROM_0 = (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F)
STEP = 0x9E3779B97F4A7C15


def test_numbers_are_mixed_as_splitmix64_does_it():
    states = [number * STEP % (1 << 64) for number in range(len(SPLITMIX_FROM_0))]
    assert tuple(int(mix(np.uint64(state))) for state in states) == SPLITMIX_FROM_0


@given(TEXTS)
def test_utf_8_is_read_as_python_reads_it(text):
    data = text.encode()
    starts = np.array([len(text[:at].encode()) for at in range(len(text))], np.int64)
    assert "".join(map(chr, characters(np.frombuffer(data, np.uint8), starts))) == text


@given(TEXTS)
def test_kinds_breaks_and_bytes_go_by_character(text):
    table = CharacterTable(lambda character: int(character.isalpha()))
    table.learn(map(ord, text))
    kinds, breaks, wide, more, new = read(np.frombuffer(text.encode(), np.uint8), table.kinds, UNSEEN)
    assert kinds.tolist() == [int(character.isalpha()) for character in text]
    assert breaks.tolist() == [at for at, character in enumerate(text) if character == "\n"]
    assert wide.tolist() == [at for at, character in enumerate(text) if not character.isascii()]
    assert more.tolist() == [0, *(len(text[: at + 1].encode()) - at - 1 for at in wide)]
    assert not len(new)
