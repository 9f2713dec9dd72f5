"""The beginning of a lexicon of the user's own, and what is said of a broken one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli import load_lexicon

HEADER = "name: mine\nlanguage: en\n"


def complaint(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        load_lexicon(path)
    message = str(caught.value)
    assert "\n" not in message
    return message
