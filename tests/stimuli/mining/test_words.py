from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining.alphabet import Alphabet
from tiltmeter.stimuli.mining.run_index import RunIndex
from tiltmeter.stimuli.mining.tidy import Tidier

CHARACTERS = st.sampled_from(
    "aB9éßİ'’-_. \t\u00a0\u200d\u200c\u0301\u00ad\ufeffযয়\u09df\u09bcড\u09be\u09c7া।|彼女ｶﾞ\u1112\u1161\U0001f600²½"
)
LINES = st.lists(
    st.text(CHARACTERS | st.characters(exclude_categories=["Cs"], exclude_characters="\n\ufffd"), max_size=20),
    min_size=1,
    max_size=8,
)


def words_of(text: str, alphabet: Alphabet) -> list[str]:
    block = alphabet.block(f"\n{text}\n".encode())
    words, _ = RunIndex([]).look_through(block)
    return [block.text(start, end) for start, end in zip(words.starts, words.ends, strict=True)]


@given(LINES)
def test_the_words_of_many_records_are_those_the_language_finds_in_each(lines):
    for code in ("en", "bn", "tr"):
        speech = language(code)
        alphabet = Alphabet(["nurse", "যোগ"], speech)
        tidy = list(map(speech.normalise, lines))
        expected = [line[start:end] for line in tidy for start, end in speech.words(line)]
        assert words_of("\n".join(tidy), alphabet) == expected


@given(LINES)
def test_every_record_is_normalised_as_the_language_does_it(lines):
    for code in ("en", "bn", "ja", "sw"):
        speech = language(code)
        tidy = Tidier(speech)("\n".join(lines)).decode()
        assert tidy == "".join(f"\n{speech.normalise(line)}" for line in lines) + "\n"


def test_an_apostrophe_joins_two_letters_and_marks_alone_are_no_word():
    alphabet = Alphabet(["x"], language("en"))
    assert words_of("She's 'well-read' rock 'n' roll \u0301 o'", alphabet) == [
        "She's", "well", "read", "rock", "n", "roll", "o",
    ]  # fmt: skip


def test_more_letters_than_bytes_are_told_apart_all_the_same():
    letters = "".join(chr(0x4E00 + number) for number in range(600))
    alphabet = Alphabet([letters], language("en"))
    assert alphabet.shared
    assert words_of("一 乙\u0301 \u0301", alphabet) == ["一", "乙\u0301"]
