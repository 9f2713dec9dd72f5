"""The YAML file of a lexicon: what it may hold, and one line for each fault of it."""

from __future__ import annotations

import pytest

from tests.stimuli.lexicon.written import HEADER, complaint
from tiltmeter.errors import BadInput
from tiltmeter.stimuli import load_lexicon
from tiltmeter.stimuli.lexicon.yaml_form import read_pairs


def test_a_word_carries_its_kind_phrase_and_properties(write):
    path = write(
        HEADER
        + """
groups:
  jobs:
    label: jobs
    kind: noun
    properties: [female_share, source]
    words:
      - engineer
      - {word: nurse, phrase: a trained nurse, female_share: 89, source: labour statistics}
      - {word: brave, kind: adjective}
"""
    )
    engineer, nurse, brave = load_lexicon(path).groups["jobs"].words
    assert (engineer.text, engineer.kind, engineer.phrase, engineer.properties) == (
        "engineer",
        "noun",
        None,
        {},
    )
    assert (nurse.phrase, nurse.properties) == (
        "a trained nurse",
        {"female_share": 89.0, "source": "labour statistics"},
    )
    assert brave.kind == "adjective"


def test_a_word_that_names_no_family_is_its_own(write):
    groups = (
        "groups: {a: {words: [he, {word: him, family: ' he '}, {word: son, family: child}, king]}, b: {words: [x]}}"
    )
    lexicon = load_lexicon(write(HEADER + groups))
    assert lexicon.groups["a"].families == ("he", "he", "child", "king")
    assert lexicon.groups["b"].families is None


def test_a_group_has_the_licence_and_citation_of_its_lexicon_unless_it_says_its_own(write):
    lexicon = load_lexicon(
        write(HEADER + "licence: MIT\ncitation: us\ngroups:\n  a: {words: [x]}\n  b: {words: [y], citation: them}\n")
    )
    a, b = lexicon.groups["a"], lexicon.groups["b"]
    assert (a.name, a.label, a.language, a.licence, a.citation) == ("mine.a", "a", "en", "MIT", "us")
    assert (b.licence, b.citation) == ("MIT", "them")


def test_words_of_any_script_are_normalised_on_load(write):
    text = "name: mine\nlanguage: bn\ngroups:\n  a: {words: ['ছেলে\u09df', ' cafe\u0301  noir ', 'אישה']}\n"
    assert load_lexicon(write(text)).groups["a"].texts == (
        "ছেলে\u09af\u09bc",
        "caf\u00e9 noir",
        "אישה",
    )


def test_a_byte_order_mark_does_no_harm(write):
    assert load_lexicon(write(b"\xef\xbb\xbf" + (HEADER + "groups: {a: {words: [x]}}").encode())).name == "mine"


def test_a_word_in_two_groups_is_reported_with_the_file_and_both_groups(write):
    lexicon = load_lexicon(write(HEADER + "groups: {a: {words: [Home, work]}, b: {words: [home, desk]}}"))
    assert lexicon.warnings == ("mine.yaml: groups 'a' and 'b' share 'Home'",)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("groups: {a: {words: [nurse, Nurse]}}", "mine.yaml: group 'a': 'Nurse' appears twice: remove one"),
        (
            "groups: {a: {words: [café, cafe\u0301]}}",
            "mine.yaml: group 'a': 'café' appears twice: remove one",
        ),
        ("groups: {a: {words: []}}", "mine.yaml: group 'a': no words in it: add some or remove the group"),
        ("groups: {a: {words: [x, '  ']}}", "mine.yaml: group 'a': an empty word: remove it"),
        ("groups: {A-b: {words: [x]}}", "mine.yaml: group 'A-b': a name is made of a-z, 0-9 and _ only"),
        (
            "groups: {a: {words: [x], knd: noun}}",
            "mine.yaml: groups: a: unknown key 'knd': did you mean 'kind'?",
        ),
        ("grups: {}", "mine.yaml: unknown key 'grups': did you mean 'groups'?"),
        (
            "groups: {a: {words: [{word: nurse, phrse: a nurse}]}}",
            "mine.yaml: group 'a': 'nurse': unknown key 'phrse': did you mean 'phrase'?, "
            "or list it in the group's properties",
        ),
        (
            "groups: {a: {words: [{word: nurse, kind: nuon}]}}",
            "mine.yaml: group 'a': 'nurse': unknown kind 'nuon': did you mean 'noun'?",
        ),
        (
            "groups: {a: {words: [yes]}}",
            "mine.yaml: groups: a: words: entry 1: word: True is not text to YAML",
        ),
        (
            "groups: {a: {words: [{word: nurse, phrase: 3}]}}",
            "mine.yaml: groups: a: words: 'nurse': phrase: 3 is not text to YAML: put it in quotes",
        ),
        (
            "groups: {a: {properties: [p], words: [{word: nurse, p: .nan}]}}",
            "mine.yaml: group 'a': 'nurse': p: nan is neither a number nor text",
        ),
        (
            "groups: {a: {words: [{word: nurse, famly: job}]}}",
            "mine.yaml: group 'a': 'nurse': unknown key 'famly': did you mean 'family'?",
        ),
        (
            "groups: {a: {words: [{word: nurse, family: ' '}]}}",
            "mine.yaml: group 'a': 'nurse': an empty family: remove it or fill it in",
        ),
        (
            "groups: {men: {words: [he], partners: womn}, women: {words: [she]}}",
            "mine.yaml: group 'men': partners: unknown group 'womn': did you mean 'women'?",
        ),
        (
            "groups: {men: {words: [he], partners: men}}",
            "mine.yaml: group 'men': partners: a group cannot be its own: name another group of this file",
        ),
        (
            "groups: {men: {words: [he], partners: women}, women: {words: [she, her]}}",
            "mine.yaml: group 'men': partners: 'women' has 2 words and 'men' has 1: they match one to one",
        ),
        (
            "groups: {men: {words: [he], partners: 3}}",
            "mine.yaml: groups: men: partners: 3 is not text to YAML: put it in quotes",
        ),
        ("groups: {a: {label: b}}", "mine.yaml: groups: a: words: is missing"),
        ("groups: {a: [x]}", "mine.yaml: groups: a: should be a mapping"),
        (
            "pairs: {p: {label_1: f, label_2: m, pairs: [[she, she]]}}",
            "mine.yaml: pairs 'p': ['she', 'she'] needs two different words",
        ),
        (
            "templates: {t: {templates: [{subject: '{} and {}.'}]}}",
            "mine.yaml: templates 't': template 1: subject: '{} and {}.' needs one {} where the word goes",
        ),
        (
            "templates: {t: {templates: [{sbject: '{} slept.'}]}}",
            "mine.yaml: templates 't': template 1: unknown role 'sbject': did you mean 'subject'?",
        ),
        (
            "templates: {t: {templates: [{subject: '{} slept.'}, {subject: '{}  slept.'}]}}",
            "mine.yaml: templates 't': subject: '{} slept.' appears twice: remove one",
        ),
        ("groups: {a: {words: [x]}, a: {words: [y]}}", "mine.yaml: line 3: broken YAML: 'a' appears twice"),
        ("groups:\n  a: {words: [x}", "mine.yaml: line 4: broken YAML"),
        ("groups: &g {a: *g}", "mine.yaml: line 3: broken YAML: too large, with its aliases written out"),
    ],
)
def test_each_fault_of_a_file_is_one_line_that_says_where(write, body, expected):
    assert complaint(write(HEADER + body)).startswith(expected)


def test_a_language_must_be_a_language_tag(write):
    message = complaint(write("name: mine\nlanguage: English please\n"))
    assert message == ("mine.yaml: language: 'English please' is not a BCP 47 tag: write e.g. en, pt-BR, zh-Hant")


def test_a_missing_name_is_named(write):
    assert complaint(write("language: en\n")) == "mine.yaml: name: is missing"


def test_an_empty_file_is_refused(write):
    assert complaint(write("")).startswith("mine.yaml: the file: should be a mapping")


def test_another_encoding_is_refused_with_the_place(write):
    assert complaint(write("name: café".encode("latin-1"))) == (
        "mine.yaml: not UTF-8 at byte 9: save the file as UTF-8"
    )


def test_properties_that_are_no_names_are_one_line(write):
    with pytest.raises(BadInput, match="properties"):
        load_lexicon(write(HEADER + "groups:\n  a: {words: [x], properties: [{b: c}]}\n"))


@pytest.mark.parametrize("rows", [[7], [["he", "she"], 7], [["he"]], [[["he"], "she"]], [{"he": "she"}]])
def test_pairs_given_inline_that_are_none_are_refused(rows):
    with pytest.raises(BadInput, match="words given inline: pairs"):
        read_pairs(rows)
