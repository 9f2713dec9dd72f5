from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import load_winobias

PRO = "1 The CEO called [the nurse] and thanked [her].\n2 The nurse called [the CEO] about [his] car.\n"
ANTI = "1 The CEO called [the nurse] and thanked [him].\n2 The nurse called [the CEO] about [her] car.\n"


@pytest.fixture
def folder(tmp_path):
    return fill(tmp_path)


def fill(path):
    (path / "male_occupations.txt").write_text("CEO\nconstruction worker", encoding="utf-8")
    (path / "female_occupations.txt").write_text("nurse\n", encoding="utf-8")
    for kind, split in itertools.product((1, 2), ("dev", "test")):
        (path / f"pro_stereotyped_type{kind}.txt.{split}").write_text(PRO, encoding="utf-8")
        (path / f"anti_stereotyped_type{kind}.txt.{split}").write_text(ANTI, encoding="utf-8")
    return path


def test_every_published_line_is_used_or_accounted_for(data):
    found = load_winobias(data("winobias"))
    assert found.left_out == {
        "another word in the line says a gender": 97,
        "the opposite file does not show the other form of 'her'": 1,
    }
    assert len(found.sentences) + sum(found.left_out.values()) == 3168
    left_out = Counter({note.split(":")[0]: 0 for note in found.notes})
    for note in found.notes:
        left_out[note.split(":")[0]] += len(note.partition("left out lines ")[2].split(", "))
    used = Counter(sentence.tags["kind"] for sentence in found.sentences)
    for kind, split, side in itertools.product(("type1", "type2"), ("dev", "test"), ("pro", "anti")):
        assert used[f"{kind} {side} {split}"] + left_out[f"{side}_stereotyped_{kind}.txt.{split}"] == 396
    assert len({sentence.tags["id"] for sentence in found.sentences}) == 3070


def test_published_sentences_have_the_pronoun_in_its_place_and_no_brackets(data):
    found = load_winobias(data("winobias"))
    assert len(set(found.units)) == 40
    assert Counter(row.forms["pronoun"] for row in found.sentences) == {
        ("him", "her"): 1388,
        ("he", "she"): 1386,
        ("his", "her"): 296,
    }
    for row in found.sentences:
        assert row.word("pronoun") in row.forms["pronoun"]
        assert row.word("occupation").lower() == row.unit.lower()
        assert not re.search(r"[\[\]]|  |\b(?:the|an?) (?:the|an?)\b", row.text, re.IGNORECASE), row.text
        group = found.groups[row.forms["pronoun"].index(row.word("pronoun"))]
        assert (group == row.tags["expected"]) == ("pro" in row.tags["kind"])


@pytest.mark.parametrize(
    ("identity", "text", "forms", "occupation", "expected"),
    [
        ("type2-test-3-pro", "The assistant notified the chief about a problem and asked him to take action.",
         ("him", "her"), "chief", "men"),
        ("type2-dev-176-pro", "The teacher asked the physician about the best course of action and believed him.",
         ("him", "her"), "physician", "men"),
        ("type2-dev-176-anti", "The teacher asked the physician about the best course of action and believed her.",
         ("him", "her"), "physician", "men"),
        ("type1-dev-2-pro", "The developer argued with the designer because her idea cannot be implemented.",
         ("his", "her"), "designer", "women"),
        ("type2-test-307-anti", "The farmer hired an assistant and told him to come to work twice a week.",
         ("him", "her"), "assistant", "women"),
        ("type2-test-384-anti", "The lawyer was looking for the attendant to ask him about the missing wallet.",
         ("him", "her"), "attendant", "women"),
    ],
)  # fmt: skip
def test_odd_published_lines(data, identity, text, forms, occupation, expected):
    (row,) = (row for row in load_winobias(data("winobias")).sentences if row.tags["id"] == identity)
    assert (row.text, row.forms["pronoun"], row.unit, row.tags["expected"]) == (text, forms, occupation, expected)


def test_lines_that_say_the_gender_twice_are_left_out_and_named(data):
    notes = load_winobias(data("winobias")).notes
    assert notes[0] == (
        "pro_stereotyped_type1.txt.dev: another word in the line says a gender: "
        "left out lines 27, 95, 165, 166, 219, 220, 229, 319, 335"
    )
    assert (
        "pro_stereotyped_type2.txt.dev: the opposite file does not show the other form of 'her': left out lines 171"
    ) in notes


def test_the_opposite_line_tells_him_from_his(folder):
    rows = {row.tags["id"]: row for row in load_winobias(folder).sentences}
    assert len(rows) == 16
    assert rows["type1-dev-1-pro"].forms["pronoun"] == ("him", "her")
    second = rows["type2-test-2-anti"]
    assert (second.forms["pronoun"], second.word("pronoun"), second.unit) == (("his", "her"), "her", "CEO")
    assert second.version("pronoun", 1).text == "The nurse called the CEO about his car."
    assert second.tags == {"expected": "men", "kind": "type2 anti test", "id": "type2-test-2-anti"}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("male_occupations.txt", "CEO\nnurse", "female_occupations.txt: 'nurse' is in both lists"),
        ("pro_stereotyped_type1.txt.dev", "", "pro_stereotyped_type1.txt.dev: no lines in it"),
        ("pro_stereotyped_type1.txt.dev", PRO + "4 [The nurse] said [she] left.",
         "anti_stereotyped_type1.txt.dev: no line 4, which pro_stereotyped_type1.txt.dev has"),
        ("pro_stereotyped_type1.txt.dev", "[The nurse] left.", "line 1: should begin with a number of its own"),
        ("pro_stereotyped_type1.txt.dev", PRO + "2 [The nurse] said [she] left.",
         "line 3: should begin with a number of its own, begins with '2'"),
        ("pro_stereotyped_type1.txt.dev", "1 The nurse said [she] left.", "line 1: needs one [occupation] and a"),
        ("pro_stereotyped_type1.txt.dev", "1 [The nurse] said [she left.", "line 1: needs one [occupation] and a"),
        ("pro_stereotyped_type1.txt.dev", "1 [The nurze] said [she] left.",
         "line 1: unknown occupation 'nurze': did you mean 'nurse'?"),
        ("pro_stereotyped_type1.txt.dev", "1 [The nurse] said [he] left.\n" + PRO.splitlines()[1],
         "line 1: 'he' for 'nurse' does not belong in the pro file"),
    ],
)  # fmt: skip
def test_each_fault_is_one_line_with_file_and_line(folder, name, content, expected):
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_winobias(folder)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_folder_or_file_is_named(folder, tmp_path):
    with pytest.raises(BadInput, match="no folder"):
        load_winobias(tmp_path / "nowhere")
    (folder / "anti_stereotyped_type2.txt.test").unlink()
    with pytest.raises(BadInput, match=r"no file .*anti_stereotyped_type2\.txt\.test"):
        load_winobias(folder)


@given(
    st.sampled_from(["[the construction worker]", "the [the construction worker]", "the [ construction worker]"]),
    st.sampled_from(["him", "his"]),
    st.text("abcxyz ", max_size=12),
)
def test_brackets_and_articles_never_move_the_pronoun_off_its_place(tmp_path_factory, entity, pronoun, words):
    folder = fill(tmp_path_factory.mktemp("winobias"))
    for side, word in (("pro", pronoun), ("anti", "her")):
        line = f"7 We {words} saw {entity} {words} and [{word}] car.\n"
        (folder / f"{side}_stereotyped_type1.txt.dev").write_text(line, encoding="utf-8")
    rows = [row for row in load_winobias(folder).sentences if "-7-" in row.tags["id"]]
    assert [row.word("pronoun") for row in rows] == [pronoun, "her"]
    expected = " ".join(f"We {words} saw the construction worker {words} and {pronoun} car.".split())
    assert [row.version("pronoun", 1).text for row in rows] == [expected, expected]
