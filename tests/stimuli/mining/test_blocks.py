from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining.blocks import Tidier

CHARACTERS = st.sampled_from(
    "aB9éßİ'’-_. \t\u00a0\u200d\u200c\u0301\u00ad\ufeffযয়\u09df\u09bcড\u09be\u09c7া।|彼女ｶﾞ\u1112\u1161\U0001f600²½"
)
LINES = st.lists(
    st.text(CHARACTERS | st.characters(exclude_categories=["Cs"], exclude_characters="\n\ufffd"), max_size=20),
    min_size=1,
    max_size=8,
)


@given(LINES)
def test_every_record_is_normalised_as_the_language_does_it(lines):
    for code in ("en", "bn", "ja", "sw"):
        speech = language(code)
        tidy = Tidier(speech)("\n".join(lines)).decode()
        assert tidy == "".join(f"\n{speech.normalise(line)}" for line in lines) + "\n"
