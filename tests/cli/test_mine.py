from __future__ import annotations

import gzip
import json

import pytest

from tests.command import environment, tiltmeter

LINES = [
    "She said that he had left the old house early.",
    "The nurse and her brother went home.",
    "Nothing else happened there.",
]


@pytest.fixture
def run(tmp_path):
    """``tiltmeter mine`` in a folder with a small corpus."""
    (tmp_path / "news.txt").write_text("\n".join(LINES * 2) + "\n")
    env = environment(tmp_path / "cache")

    def call(*arguments, corpus="news.txt", lexicon="gender.male_terms,gender.female_terms", fresh=False):
        given = ("mine", corpus, "--lexicon", lexicon, "--out", "out", *arguments)
        return tiltmeter(*given, env=env, folder=tmp_path, fresh=fresh)

    return call


def test_mining_says_what_was_found_kept_and_missing(run, tmp_path):
    done = run("--lengths", "5,>9", "--least", "1", fresh=True)
    assert done.code == 0, done.stderr
    assert "8 occurrences in 6 records; 6 texts in out" in done.stdout
    table = [" ".join(line.replace("│", " ").split()) for line in done.stdout.splitlines()]
    assert any(line.startswith("gender.male_terms 5 ") for line in table)
    assert "brother (>9: 0)" in done.stdout.replace("\n", " ")
    assert "Never found: him, his," in done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".lock", "mined.json", "occurrences.parquet"]


@pytest.mark.parametrize(("across", "kept"), [("none", 0), ("lines", 2), ("records", 2)])
def test_windows_reach_across_lines_where_that_is_asked_for(run, across, kept):
    # It stands in two lines of nine words, of which one has a line before it; fifteen words take in what is beside.
    done = run("--lengths", "15", "--across", across, "--json")
    assert done.code == 0, done.stderr
    (he,) = [each for each in json.loads(done.stdout)["counts"] if each["word"] == "he"]
    assert he["kept"] == kept


def test_json_holds_the_count_of_every_word_and_length(run):
    found = json.loads(run("--lengths", "5,sentence", "--json").stdout)
    counts = {(each["word"], each["length"]): each for each in found["counts"]}
    assert counts["he", "5"] == {
        "word": "he", "groups": ["gender.male_terms"], "length": "5", "found": 2, "kept": 1, "missing": 29,
    }  # fmt: skip
    assert counts["her", "sentence"]["kept"] == 1
    assert "him" in found["never_found"]
    assert (found["occurrences"], found["records"], found["broken"]) == (8, 6, 0)


def test_a_column_of_a_packed_table_is_mined_by_two_processes(run, tmp_path):
    for name in ("a", "b"):
        content = "id,body\n" + "".join(f"{n},{line}\n" for n, line in enumerate(LINES))
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(content.encode()))
    given = ("b.csv.gz", "--column", "body", "--workers", "2", "--lengths", "3", "--json")
    done = run(*given, corpus="a.csv.gz", fresh=True)
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["occurrences"] == 8


def test_what_is_no_utf_8_is_counted_and_the_run_goes_on(run, tmp_path):
    (tmp_path / "news.txt").write_bytes(b"she said \xff he left\nshe \xe0\xa6 left")
    assert run().complaint.startswith("news.txt: not UTF-8 at byte 9 (line 1): ")
    done = run("--errors", "replace", "--lengths", "2")
    assert done.code == 0, done.stderr
    assert "2 characters were not UTF-8 and were replaced." in done.stdout
    assert "3 occurrences in 2 records" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "options", "complaint"),
    [
        ([], {"corpus": "old.txt"}, "no file old.txt: check the path"),
        ([], {"lexicon": "gender.male_term"}, "unknown group of gender 'male_term': did you mean 'male_terms'?"),
        ([], {"lexicon": "gendr"}, "unknown lexicon 'gendr': did you mean 'gender'?"),
        ([], {"lexicon": "bangla.male_terms"}, "the words are BENGALI, the corpus is LATIN"),
        (["--lengths", "9,ten"], {}, "unknown length 'ten'"),
        (["--within", "page"], {}, "--within is text or sentence, not 'page'"),
        (["--errors", "ignore"], {}, "--errors is strict or replace, not 'ignore'"),
        (["--engine", "spark"], {}, "--engine is local or ray, not 'spark'"),
        (["--column", "text"], {}, "--column text: a text file has no columns"),
        (["--keep", "3"], {}, "--least 30 and --keep 3"),
        (["--language", "klingon!"], {}, "'klingon!' is not a language code"),
        (["--out", "."], {}, "--out . holds something else (news.txt)"),
        (["--lenghts", "9"], {}, "unknown option '--lenghts': did you mean '--lengths'?"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line(run, arguments, options, complaint):
    assert run(*arguments, **options).complaint.startswith(complaint)


def test_an_empty_corpus_is_one_clear_line(run, tmp_path):
    (tmp_path / "news.txt").write_text("")
    assert run().complaint == "the corpus is empty: give a file with text in it"


def test_help_has_an_example(run):
    done = run("--help")
    assert "tiltmeter mine news.txt.gz --lexicon gender.male_terms,gender.female_terms --out mined" in " ".join(
        done.stdout.replace("│", " ").split()
    )


def test_mining_the_published_sample_prints_one_line_per_group_and_length_and_names_few_words(tmp_path, data_folder):
    sample = data_folder("bangla") / "CeatDataCollection/sample_data/porjotonlipi.bn"
    env = environment(tmp_path / "cache", TILTMETER_DATA=str(data_folder("bangla").parent))
    done = tiltmeter("mine", sample, "--lexicon", "bangla_categories", "--out", "out", env=env, folder=tmp_path)
    assert done.code == 0, done.stderr
    lines = done.stdout.splitlines()
    groups = 17  # sixteen lists, and the words of none
    assert len(lines) <= groups * 4 + 20
    named = [line for line in lines if line.startswith(("Words with fewer", "Never found"))]
    assert len(named) == 2
    assert all("more (--json)" in line and line.count(",") <= 100 for line in named)
