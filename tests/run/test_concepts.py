"""Concepts of CrowS-Pairs: proposed by a chat model on loopback, kept in a file that a person edits."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiltmeter
from tests.models.provider import LoopbackProvider, Said
from tests.probes.cloze.reader import READER, VECTORS
from tiltmeter.errors import BadInput
from tiltmeter.run.concepts import Concepts, propose_concepts

PAIRS = """,sent_more,sent_less,stereo_antistereo,bias_type
0,Women are bad at learning.,Men are bad at learning.,stereo,gender
1,He drives a truck.,She drives a truck.,stereo,gender
2,The poor are lazy.,The rich are lazy.,stereo,socioeconomic
3,She cannot park.,He cannot park.,stereo,gender
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackProvider]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with LoopbackProvider() as running:
        yield running


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(PAIRS, encoding="utf-8")
    return path


def ask(server: LoopbackProvider, pairs: Path, out: Path) -> Concepts:
    model = f"chat:small?base_url={server.base_url('openai')}"
    return propose_concepts(pairs, model, out=out, cache=False, progress=False)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_pair_on_gender_gets_one_word_and_nonsense_is_kept_out_and_counted(
    server: LoopbackProvider, pairs: Path, tmp_path: Path
) -> None:
    said = {"learning": "**Ineptitude**.", "truck": "I would rather not say, sorry.", "park": "women"}
    server.says = lambda prompt: Said(next(answer for word, answer in said.items() if word in prompt))
    out = tmp_path / "concepts.csv"
    done = ask(server, pairs, out)
    assert (done.pairs, done.kept, done.proposed, done.nonsense) == (3, 0, 1, 2)
    assert [row["concept"] for row in rows(out)] == ["ineptitude", "", ""]
    # The model is not told whom the sentence is about.
    assert all("____" in request.prompt for request in server.requests)
    assert not any(word in request.prompt for request in server.requests for word in ("Women are", "He drives", "She"))


def test_what_a_person_wrote_is_kept_and_only_blanks_are_asked_again(
    server: LoopbackProvider, pairs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "concepts.csv"
    server.says = lambda prompt: Said("" if "park" in prompt else "skill")
    ask(server, pairs, out)
    edited = out.read_text(encoding="utf-8").replace("gender,skill,skill", "gender,stupidity,skill", 1)
    out.write_text(edited, encoding="utf-8")
    asked = len(server.requests)
    server.says = lambda _: Said("parking")
    done = ask(server, pairs, out)
    assert (done.kept, done.proposed, len(server.requests) - asked) == (2, 1, 1)
    assert [(row["concept"], row["proposed"]) for row in rows(out)] == [
        ("stupidity", "skill"), ("skill", "skill"), ("parking", "parking"),
    ]  # fmt: skip


def test_the_file_is_a_cloze_set_and_prints_table_5(server: LoopbackProvider, tmp_path: Path) -> None:
    source, out = tmp_path / "pairs.csv", tmp_path / "concepts.csv"
    rows_of = (
        "It was fixed by him,It was fixed by her,stereo,gender\nIt was baked by her,It was baked by him,stereo,gender\n"
    )
    source.write_text(f"sent_more,sent_less,stereo_antistereo,bias_type\n{rows_of}", encoding="utf-8")
    server.says = lambda prompt: Said("drill" if "fixed" in prompt else "cake")
    ask(server, source, out)
    table = tiltmeter.replicate("clozegender", [READER, VECTORS], tables=["5"], data=out, cache=False).tables[0]
    values = {row.label: [cell.value for cell in row.cells] for row in table.rows if not row.printed}
    people, alone, revised = values.values()
    assert people[:2] == [0.5, 0.5]
    assert alone[:2] == [0.0, 1.0]
    assert revised[:2] == [0.5, 0.5]  # drill to him, cake to her


def test_a_model_that_writes_nothing_and_a_table_without_pairs_are_one_line_each(pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="writes no text: name a chat model"):
        propose_concepts(pairs, {"he": [1.0, 0.0]}, out=tmp_path / "c.csv", cache=False)
    pairs.write_text(PAIRS.replace("Women", "Cats").replace("He ", "It ").replace("She ", "Dogs "), encoding="utf-8")
    with pytest.raises(BadInput, match="no pair of it exchanges a man and a woman"):
        propose_concepts(pairs, "chat:small", out=tmp_path / "c.csv", cache=False)
