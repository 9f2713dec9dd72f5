from __future__ import annotations

import re
from pathlib import Path

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli import Word, load_lexicon
from tiltmeter.stimuli.languages import language

CONTRIBUTING = Path(__file__).parents[3] / "CONTRIBUTING.md"
PLAIN = "code: xx\nname: Mine\nscript: LATIN\n"


def pack(folder, text):
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def turkish(tmp_path):
    """A third language, added as CONTRIBUTING says."""
    section = CONTRIBUTING.read_text(encoding="utf-8").split("## Add a language")[1].split("\n## ")[0]
    (text,) = re.findall(r"```yaml\n(.*?)```", section, flags=re.DOTALL)
    assert len(text.splitlines()) <= 20
    return language(pack(tmp_path, text))


@pytest.mark.parametrize(
    ("word", "suffixes", "expected"),
    [
        ("kız", "plural genitive", "kız kızlar kızların kızın"),
        ("öğretmen", "plural genitive", "öğretmen öğretmenler öğretmenlerin öğretmenin"),
        ("okul", "plural genitive", "okul okullar okulların okulun"),
        ("hemşire", "plural genitive", "hemşire hemşireler hemşirelerin hemşirenin"),
        ("gün", "genitive", "gün günün"),
        ("anne", "", "anne"),
    ],
)
def test_a_third_language_has_its_vowel_harmony(turkish, word, suffixes, expected):
    assert turkish.forms(Word(word, properties={"suffixes": suffixes})) == tuple(expected.split())


def test_a_third_language_has_its_own_small_letters_words_and_sentences(turkish):
    assert turkish.fold("ISPARTA ve İZMİR") == "ısparta ve izmir"
    text = turkish.normalise("Dr. Işık  Ankara’nın  kızı. Gelmedi!")
    assert [text[start:end] for start, end in turkish.words(text)] == ["Dr", "Işık", "Ankara'nın", "kızı", "Gelmedi"]
    assert [text[start:end] for start, end in turkish.sentences(text)] == ["Dr. Işık Ankara'nın kızı.", "Gelmedi!"]
    assert (turkish.code, turkish.name, turkish.script, turkish.spaced) == ("tr", "Turkish", "LATIN", True)


def test_a_group_gives_its_words_their_endings_and_a_word_may_say_others(tmp_path, turkish):
    path = tmp_path / "words.yaml"
    path.write_text(
        "name: words\nlanguage: tr\ngroups:\n  people:\n    properties: {suffixes: plural, share: null}\n"
        "    words: [kız, {word: okul, suffixes: genitive}, {word: gün, share: 5}]\n",
        encoding="utf-8",
    )
    words = load_lexicon(path).groups["people"].words
    assert [dict(word.properties) for word in words] == [
        {"suffixes": "plural"}, {"suffixes": "genitive"}, {"suffixes": "plural", "share": 5.0}
    ]  # fmt: skip
    assert [turkish.forms(word) for word in words] == [
        ("kız", "kızlar", "kızların"), ("okul", "okulun"), ("gün", "günler", "günlerin")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name: Mine\nscript: LATIN\n", "code: is missing"),
        ("- a\n", "the file: should be a mapping"),
        (PLAIN + "sufixes: {}\n", "unknown key 'sufixes': did you mean 'suffixes'?"),
        (PLAIN.replace("xx", "x!"), "code: 'x!' is not a BCP 47 tag: write e.g. tr or pt-BR"),
        (PLAIN.replace("xx", "no"), "code: False is not text to YAML: put it in quotes"),
        (PLAIN.replace("LATIN", "ROMAN"), "script: 'ROMAN' is not the name of a Unicode script"),
        (PLAIN + "segmenter: jieba\n", "segmenter: Input should be 'spaces' or 'mecab'"),
        (PLAIN + "lower: {SS: s}\n", "lower: 'SS: s' should be one character for one"),
        (PLAIN + "normalise: [{replace: '(', with: a}]\n", "normalise: '(' is not a regular expression"),
        (PLAIN + "normalise: [{replace: a, with: '\\2'}]\n", r"normalise: '\2' cannot be put in"),
        (PLAIN + "normalise: [{replace: a, wiht: b}]\n", "unknown key 'wiht': did you mean 'with'?"),
        (PLAIN + "suffixes: {p: [{ad: [s]}]}\n", "unknown key 'ad': did you mean 'add'?"),
        (PLAIN + "suffixes: {p: [{after: '[', add: [s]}]}\n", "suffixes: p: '[' is not a regular expression"),
        (PLAIN + "suffixes: {p: [{add: [s], then: q}]}\n", "suffixes: p: then: unknown suffix group 'q': known: p"),
        (PLAIN + "suffixes: {p: [{add: [s], then: p}]}\n", "suffixes: p -> p goes round in a circle"),
        (PLAIN + "suffixes: {p: [5]}\n", "suffixes: p: entry 1"),
        (PLAIN + "suffixes: {p: [s]\n", "broken YAML"),
        (PLAIN + "name: Yours\n", "'name' appears twice"),
    ],
)
def test_what_is_wrong_with_a_pack_is_said_in_one_line(tmp_path, text, complaint):
    with pytest.raises(BadInput, match=re.escape(complaint)) as error:
        language(str(pack(tmp_path, text)))
    assert str(error.value).startswith("mine.yaml: ")
    assert "\n" not in str(error.value)


def test_rules_that_never_come_to_rest_are_an_error_and_no_endless_loop(tmp_path):
    own = language(pack(tmp_path, PLAIN + "normalise: [{replace: a, with: aa}]\n"))
    with pytest.raises(BadInput, match="language 'xx': its rules never settle on 'aaaa"):
        own.normalise("a")
