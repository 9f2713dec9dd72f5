from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli import normalise
from tiltmeter.stimuli.datasets import load_cloze_files, load_genderlex, load_pronoun_contexts, load_race_sets
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.sentences.cloze_sets import stem

HEADER = "sent_m,sent_w,context,HB\n"


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_published_folder_gives_nine_sets_of_837_rows(data):
    sets = load_genderlex(data("genderlex"))
    assert {(each.variant, each.context): len(each.sentences) for each in sets} == {
        (variant, context): 837
        for variant in ("all", "someone", "person")
        for context in ("noun", "verb", "occupation")
    }
    assert {row.forms["pronoun"] for each in sets for row in each.sentences} == {("him", "her")}
    assert all(stem(row) and "  " not in row.text for each in sets for row in each.sentences)
    nouns = next(each for each in sets if each.name == "GenderLex_noun")
    assert Counter(nouns.labels) == {1: 460, 2: 377}
    first = nouns.sentences[0]
    assert stem(first) == "The chef mentioned that the recipe was crafted by"
    assert (first.unit, first.tags["expected"], first.tags["number"]) == ("recipe", "men", "2")


def test_repeated_rows_doubled_spaces_and_labels_that_disagree_are_reported_and_kept(data):
    warnings = {each.name: each.notes for each in load_genderlex(data("genderlex/Genderlex"))}
    assert warnings["GenderLex_noun"] == ("GenderLex_noun.csv: 837 rows, 820 unique: repeated rows kept, as published",)
    assert warnings["GenderLex_noun_GN_PN"] == (
        "GenderLex_noun_GN_PN.csv: doubled or loose white space in rows 10, 42, 46, 50, 294, 299, 306, 415, 451: "
        "made single",
        "GenderLex_noun_GN_PN.csv: 837 rows, 819 unique: repeated rows kept, as published",
    )
    assert warnings["GenderLex_noun_someone"][1].startswith(
        "HB differs between GenderLex_noun_someone and GenderLex_verb_someone in 94 rows (8, 11, 12,"
    )


def test_a_doubled_space_before_the_last_word_does_not_change_the_stem(tmp_path):
    path = write(tmp_path, "GenderLex_occ_GN_PN.csv", HEADER + "It was  made by  him,It was made by her,chef,W\n")
    (found,) = load_genderlex(path)
    assert (found.variant, found.context) == ("person", "occupation")
    (row,) = found.sentences
    assert (stem(row), row.forms["pronoun"], row.tags["expected"]) == ("It was made by", ("him", "her"), "women")
    assert found.notes == ("GenderLex_occ_GN_PN.csv: doubled or loose white space in row 2: made single",)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("by him,by her,chef,X\n", "GenderLex_noun.csv: row 2: HB is 'X', not M or W"),
        ("by him,by her,chef,M\nby him,to her,chef,M\n", "row 3: sent_m and sent_w should differ in their last word"),
        ("by him,by him,chef,M\n", "row 2: sent_m and sent_w should differ in their last word"),
        ("by him,by her, ,M\n", "column 'context' is blank in row 2"),
    ],
)
def test_a_fault_in_a_row_is_named_with_its_number(tmp_path, rows, expected):
    with pytest.raises(BadInput) as caught:
        load_genderlex(write(tmp_path, "GenderLex_noun.csv", HEADER + rows))
    assert expected in str(caught.value)


def test_a_folder_without_the_files_says_how_they_are_named(tmp_path):
    with pytest.raises(BadInput, match="no folder"):
        load_genderlex(tmp_path / "nowhere")
    with pytest.raises(BadInput, match=r"no file called GenderLex_noun\.csv"):
        load_genderlex(tmp_path)
    with pytest.raises(BadInput, match=r"no file called GenderLex_W_B\.csv"):
        load_race_sets(tmp_path)


def test_the_published_race_files_give_four_pairs_of_races(data):
    sets = load_race_sets(data("genderlex"))
    assert {each.races for each in sets} == {
        (("white",), ("black",)),
        (("white",), ("asian",)),
        (("white",), ("hispanic",)),
        (("black",), ("hispanic",)),
    }
    assert {len(each.sentences) for each in sets} == {837}
    assert {row.word("pronoun") for each in sets for row in each.sentences} == {"them"}
    assert stem(sets[0].sentences[0]) == "The chef mentioned that the recipe was crafted by"
    assert {(each.variant, each.dimension) for each in sets} == {("race", "race")}
    assert sets[0].notes == ("GenderLex_B_H.csv: 837 rows, 820 unique: repeated rows kept, as published",)


def test_a_race_that_changes_inside_a_file_is_refused(tmp_path):
    text = "sent,context,race_A1,race_B1\nby them,chef,white,black\nto them,clerk,white,asian\n"
    with pytest.raises(BadInput, match=r"GenderLex_W_B\.csv: row 3: race_A1 and race_B1 should be white and black"):
        load_race_sets(write(tmp_path, "GenderLex_W_B.csv", text))


@pytest.mark.parametrize("name", ["winobias_occ", "winobias_verb"])
def test_winobias_with_contexts_has_785_rows_whose_pronouns_are_where_the_sentences_differ(data, name):
    found = load_pronoun_contexts(data(f"genderlex/WinoBias/{name}.csv"))
    # The columns say 713 him, 44 his and 28 he; two of the "his" belong to somebody else.
    assert Counter(row.forms["pronoun"] for row in found.sentences) == {
        ("him", "her"): 715,
        ("his", "her"): 42,
        ("he", "she"): 28,
    }
    assert found.context == ("occupation" if name.endswith("occ") else "verb")
    assert found.sentences[187].text == "The person tricked the laborer out of his money and secretly hated him."
    assert found.notes[0] == f"{name}.csv: doubled or loose white space in row 175: made single"
    assert found.notes[1] == f"{name}.csv: 785 rows, 784 unique: repeated rows kept, as published"
    assert "rows 189, 235 differ in other words than the pronouns of the columns" in found.notes[2]


def test_winogender_with_contexts_has_178_rows_and_nothing_to_report(data):
    found = load_pronoun_contexts(data("genderlex/WinoGender/winogender_occ.csv"))
    assert Counter(row.forms["pronoun"] for row in found.sentences) == {("he", "she"): 178}
    assert (found.context, found.language, found.notes) == ("occupation", "en", ())


def test_japanese_rows_with_names_get_the_names_that_are_in_the_text(data):
    found = load_pronoun_contexts(data("genderlex/JP_dataset/GenderLex_dataset_JP.csv"))
    assert (found.language, found.context) == ("ja", "topic")
    assert Counter(row.forms["pronoun"] for row in found.sentences) == {("彼", "彼女"): 162, ("田中", "美咲"): 138}
    assert all(row.forms["pronoun"][i] in row.of_group(i + 1).text for row in found.sentences for i in (0, 1))
    assert Counter(found.labels) == {1: 150, 2: 150}
    contexts = {(row.unit, row.tags["context_2"]) for row in found.sentences}
    assert {pair for pair in contexts if len(set(pair)) == 2} == {("主夫", "主婦")}
    assert "the sentences of 138 rows (2, 4, 6," in found.notes[0]
    # Row 94 speaks of both people: the one marked as the topic counts.
    assert found.sentences[92].text.startswith("美咲さんが出張で家を空けるとき、田中さんは")


def test_the_right_spelling_of_the_pronoun_columns_is_read_too(tmp_path):
    text = "sent_m,sent_w,context,pronoun_m,pronoun_w,HB\nHe ran.,She ran.,ran,He,She,M\n"
    found = load_pronoun_contexts(write(tmp_path, "mine_verb.csv", text))
    assert (found.sentences[0].forms["pronoun"], found.context, found.name) == (("He", "She"), "verb", "mine_verb")


@pytest.mark.parametrize(
    "sentences", ["He ran far.,She ran.", "A man ran to him.,One woman ran to her.", "彼が走った。,猫が走った。"]
)
def test_sentences_that_do_not_hold_the_pronouns_are_refused(tmp_path, sentences):
    text = f"sent_m,sent_w,context,prounoun_m,prounoun_w,HB\n{sentences},ran,his,hers,M\n"
    with pytest.raises(BadInput, match=r"x_verb\.csv: row 2: sent_m and sent_w should differ in 'his' and 'hers'"):
        load_pronoun_contexts(write(tmp_path, "x_verb.csv", text))


def test_a_file_without_a_context_names_the_column(tmp_path):
    text = "sent_m,sent_w,prounoun_m,prounoun_w,HB\nHe ran.,She ran.,He,She,M\n"
    with pytest.raises(BadInput, match="no column 'context_m'; found: sent_m, sent_w, pronoun_m, pronoun_w, HB"):
        load_pronoun_contexts(write(tmp_path, "x.csv", text))


@pytest.mark.parametrize(
    "name", ["JP_dataset/GenderLex_dataset_JP", "WinoBias/winobias_occ", "WinoGender/winogender_verb"]
)
def test_both_versions_of_every_row_are_those_of_the_file(data, name):
    path = data(f"genderlex/{name}.csv")
    found, table = load_pronoun_contexts(path), read_table(path)
    assert found.versions == tuple(tuple(normalise(row[key]) for row in table.rows) for key in ("sent_m", "sent_w"))
    for row in found.sentences:
        assert row.word("pronoun") == row.forms["pronoun"][0]
        assert row.of_group(2).word("pronoun") == row.forms["pronoun"][1]


def test_a_folder_with_both_kinds_of_files_gives_the_races_last(tmp_path):
    write(tmp_path, "GenderLex_noun.csv", HEADER + "by him,by her,chef,M\n")
    write(tmp_path, "GenderLex_A_B.csv", "sent,context,race_A1,race_B1\nby them.,chef,white,black african\n")
    gender, race = load_cloze_files(tmp_path)
    assert (gender.races, race.races) == ((), (("white",), ("black", "african")))
    assert (race.groups, race.context, race.sentences[0].text) == (
        ("white", "black+african"),
        "white/black+african",
        "by them",
    )


def test_a_folder_of_plain_files_and_files_with_pronoun_columns_gives_them_all(tmp_path):
    write(tmp_path, "GenderLex_noun.csv", HEADER + "by him,by her,chef,M\n")
    write(tmp_path, "GenderLex_verb.csv", HEADER + "by him,by her,cook,W\n")
    write(tmp_path, "mine.csv", HEADER + "to him,to her,chef,M\n")
    write(tmp_path, "pairs_occ.csv", "sent_m,sent_w,pronoun_m,pronoun_w,context,HB\nHe ran,She ran,He,She,run,M\n")
    found = load_cloze_files(tmp_path)
    assert [each.name for each in found] == ["GenderLex_noun", "GenderLex_verb", "mine", "pairs_occ"]
    assert found[0].notes == found[1].notes
    assert "HB differs between GenderLex_noun and GenderLex_verb in row 2" in found[0].notes[-1]
