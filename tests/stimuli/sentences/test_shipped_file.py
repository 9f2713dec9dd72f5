"""Sets of the user's own: read by their path, and what is wrong in one is said in a single line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.sentences.cloze_sets import cloze_sets, japanese_cloze
from tiltmeter.stimuli.sentences.shipped import occupation_set, pair_set, trait_set

CLOZE = """
name: mine
language: en
groups: [men, women]
pronouns: [him, her]
variants: {all: "the {occupation}", someone: someone}
rows:
  - {occupation: smith, noun: sword, verb: forged, sentence: "today {person} said the sword was forged by {pronoun}"}
  - {occupation: nurse, noun: cup, verb: given, label: null, sentence: "{person} said the cup was given to {pronoun}"}
  - {occupation: smith, noun: axe, verb: sold, female_share: 4, sentence: "{person} said the axe was sold to {pronoun}"}
"""
PAIRS = """
name: mine
language: ja
groups: [men, women]
pronouns: [彼, 彼女]
topics:
  - {topic: sport, group: 1, context: スポーツ, sentences: ["{pronoun}は走る。"]}
"""
TRAITS = """
name: mine
language: en
terms: [[men, women], [boys, girls]]
traits: {good: [kind], bad: [rude]}
structures:
  S1: ["The {target} are {trait}."]
"""
OCCUPATIONS = """
name: mine
language: en
occupations: occupations.male_dominated
frames:
  - {text: "[MASK] is {a occupation}.", fillers: [He, She]}
"""
LOADERS = {CLOZE: cloze_sets, PAIRS: pair_set, TRAITS: trait_set, OCCUPATIONS: occupation_set}


@pytest.fixture
def write(tmp_path):
    def to_file(text: str) -> Path:
        path = tmp_path / "mine.yaml"
        path.write_text(text, "utf-8")
        return path

    return to_file


def test_a_file_of_ones_own_is_read_by_its_path(write):
    sets = cloze_sets(str(write(CLOZE)))
    assert [each.name for each in sets[::3]] == ["mine-all-noun", "mine-someone-noun"]
    assert sets[0].sentences[0].text == "Today the smith said the sword was forged by him"
    # No share of a smith is known, the nurse's label is given, and the second smith has a share.
    assert sets[0].labels == (None, None, 1)
    assert pair_set(write(PAIRS)).sentences[0].forms["sentence"] == ("彼は走る。", "彼女は走る。")
    assert trait_set(write(TRAITS)).texts[1] == "The men are rude."
    assert occupation_set(write(OCCUPATIONS)).sentences[0].masked("pronoun").text == "[MASK] is an engineer."


@pytest.mark.parametrize(
    ("form", "old", "new", "complaint"),
    [
        (CLOZE, "by {pronoun}", "by {pronoun}.", "rows: 'smith': 'today {person} said"),
        (CLOZE, "forged by {pronoun}", "forged by him", "needs {pronoun} once, not 0 times"),
        (CLOZE, "{person} said the cup", "{persn} said the cup", "unknown place '{persn}': did you mean '{person}'?"),
        (CLOZE, "noun: cup", "noun: bowl", "rows: 'nurse': '{person} said the cup was given to {pronoun}' does not"),
        (CLOZE, "label: null", "label: 3", "rows: 'nurse': label: Input should be 1 or 2"),
        (CLOZE, "female_share: 4", "female_share: 400", "rows: 'smith': female_share: Input should be less than"),
        (CLOZE, "label: null", "lable: null", "rows: 'nurse': unknown key 'lable': did you mean 'label'?"),
        (CLOZE, "noun: cup, ", "", "rows: 'nurse': noun: is missing"),
        (CLOZE, "occupation: nurse, ", "", "rows: entry 2: occupation: is missing"),
        (CLOZE, "noun: cup", "noun: yes", "rows: 'nurse': noun: True is not text to YAML: put it in quotes"),
        (CLOZE, "variants:", "variant:", "unknown key 'variant': did you mean 'variants'?"),
        (CLOZE, "the {occupation}", "the {job}", "unknown place '{job}'"),
        (CLOZE, "axe was sold", "cup was given", "does not hold the word 'axe'"),
        (CLOZE, "[him, her]", "[him, him]", "pronouns: 'him' appears twice"),
        (PAIRS, "group: 1", "group: men", "topics: 'sport': group: Input should be 1 or 2"),
        (PAIRS, '["{pronoun}は走る。"]', "[]", "topics: 'sport': sentences: List should have at least 1 item"),
        (PAIRS, '["{pronoun}は走る。"]', '["{pronoun}は走る。", "{pronoun}は走る。"]', "appears twice: remove one"),
        (PAIRS, "{pronoun}は走る", "{pronoun}は{pronoun}", "topics: 'sport': '{pronoun}は{pronoun}。' needs"),
        (TRAITS, "[kind]", '[""]', "traits: good: '': is empty"),
        (TRAITS, "[rude]", "[kind]", "'kind' appears twice: remove one"),
        (TRAITS, ", bad: [rude]", "", "traits: Dictionary should have at least 2 items"),
        (TRAITS, "{trait}.", "{trait}, {trait}.", "needs {trait} once, not 2 times"),
        (TRAITS, "[boys, girls]", "[boys]", "terms: entry 2: needs two words"),
        (OCCUPATIONS, "[MASK] is", "He is", "frames: 'He is {a occupation}.': 'He is {a occupation}.' needs"),
        (OCCUPATIONS, "male_dominated", "mal_dominated", "did you mean 'male_dominated'?"),
        (OCCUPATIONS, "[He, She]", "[He, She", "broken YAML"),
        (OCCUPATIONS, OCCUPATIONS, "- a list", "should be a mapping"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_said_in_one_line(form, old, new, complaint, write):
    assert old in form
    with pytest.raises(BadInput) as caught:
        LOADERS[form](write(form.replace(old, new, 1)))
    message = str(caught.value)
    assert complaint in message
    assert "\n" not in message
    assert message.startswith(("mine.yaml: ", "mine: "))


@pytest.mark.parametrize(
    ("load", "name", "complaint"),
    [
        (cloze_sets, "cloze_eng", "unknown cloze set 'cloze_eng': did you mean 'cloze_en'?"),
        (pair_set, "pairs_jp", "unknown pairs set 'pairs_jp': did you mean 'pairs_ja'?"),
        (japanese_cloze, "cloze_en", "unknown pairs set 'cloze_en': known: pairs_ja"),
        (trait_set, "traits_b", "unknown traits set 'traits_b': did you mean 'traits_bn'?"),
        (occupation_set, "../lexicons/occupations", "unknown occupations set '../lexicons/occupations'"),
        (occupation_set, "none.yaml", "no file none.yaml: check the path"),
    ],
)
def test_a_name_that_is_not_shipped_is_refused(load, name, complaint):
    with pytest.raises(BadInput, match="^" + re.escape(complaint)):
        load(name)
