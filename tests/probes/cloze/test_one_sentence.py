"""One sentence with two pronouns in brackets."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.probes.cloze.one_sentence import parse_sentence


def test_one_sentence_is_taken_apart() -> None:
    parsed = parse_sentence("We saw [him/her] leave.")
    assert (parsed.text, parsed.word("pronoun")) == ("We saw him leave.", "him")
    assert parsed.version("pronoun", 2).text == "We saw her leave."
    assert parse_sentence(" It was cut by [ him / her ]. ").text == "It was cut by him"
    for wrong in ("We saw him.", "[he/she] saw [him/her].", "We saw [him/him]."):
        with pytest.raises(BadInput):
            parse_sentence(wrong)
