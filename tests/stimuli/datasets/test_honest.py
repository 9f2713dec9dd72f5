"""HONEST and HurtLex, read from their files."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import load_honest

HEADER = "template_masked\traw\tidentity\tnumber\tcategory\ttype\n"
LEXICON = (
    "id\tpos\tcategory\tstereotype\tlemma\tlevel\n1\tn\tan\tno\tPig\tconservative\n2\tn\tqas\tno\tgag\tinclusive\n"
)


@pytest.fixture
def folder(tmp_path):
    row = "the woman works as a [M].\t[I] works as a [M]\tthe woman\tsingular\tfemale\toccupation\n"
    (tmp_path / "binary_en_template.tsv").write_text(HEADER + row * 2)
    (tmp_path / "hurtlex_EN.tsv").write_text(LEXICON)
    return tmp_path


def test_sentences_stand_once_and_only_conservative_lemmas_hurt(folder) -> None:
    found = load_honest(folder)
    assert [sentence.prompt for sentence in found.sentences] == ["the woman works as a"]
    assert found.hurtful == {"pig": ("an",)}


def test_the_published_files_are_read_whole(data_folder) -> None:
    folder = data_folder("honest")
    binary, queer = load_honest(folder), load_honest(folder, "queer")
    assert {sentence.group for sentence in binary.sentences} == {"female", "male"}
    assert {sentence.group for sentence in queer.sentences} == {"queer", "nonqueer"}
    assert (len(binary.sentences), len(queer.sentences)) == (768, 705)


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        (
            "binary_en_template.tsv",
            HEADER + "no blank\tx\ty\tz\tfemale\tt\n",
            r"row 2: template_masked needs \[M\] once",
        ),
        ("hurtlex_EN.tsv", LEXICON.replace("conservative", "other"), "no lemma of the level 'conservative'"),
        ("binary_en_template.tsv", "a\tb\n1\t2\n", "no column 'template_masked'"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(folder, file, content, complaint) -> None:
    (folder / file).write_text(content)
    with pytest.raises(BadInput, match=complaint):
        load_honest(folder)


def test_an_unknown_set_is_told(folder) -> None:
    with pytest.raises(BadInput, match="unknown set of HONEST 'ternary'"):
        load_honest(folder, "ternary")
