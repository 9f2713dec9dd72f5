"""A model proposes rows: what keeps the rules is drafted, the rest is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tiltmeter
from tests.command import environment
from tests.command import tiltmeter as run
from tests.labelled import draft_file
from tests.models.provider import LoopbackProvider, Said
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Generated, Identity, Prompt
from tiltmeter.run.draft import EMPTY, NO_FORM
from tiltmeter.stimuli.annotation.rules import DUPLICATE, NO_PRONOUN
from tiltmeter.stimuli.datasets.draft_file import read_draft

GOOD = " soup | verb: tasted | sentence: The {word} told everybody that the soup was tasted by [pronoun]"


class Writer:
    """A model that writes what it is told to, and remembers what it was asked."""

    def __init__(self, write: Callable[[str, int], str]) -> None:
        self.write, self.prompts = write, list[Prompt]()
        self.identity = Identity("own:writer", "1")

    def generate(self, prompts: list[Prompt]) -> list[Generated]:
        self.prompts += prompts
        words = [prompt.text.rpartition("occupation: ")[2].partition(" |")[0] for prompt in prompts]
        return [Generated(tuple(self.write(word, place) for place in range(prompt.n)))
                for prompt, word in zip(prompts, words, strict=True)]  # fmt: skip


def test_rows_that_keep_the_rules_are_drafted_and_the_others_counted_by_reason(tmp_path: Path) -> None:
    noun = {"chef": "soup", "diver": "reef", "judge": "ruling"}

    def write(word: str, place: int) -> str:
        sentence = f"The {word} told everybody that the {noun[word]} in question was {word}ed by"
        texts = [
            f" {noun[word]} | verb: {word}ed | sentence: {sentence} him.\nand more",
            f"occupation: {word} | noun: {noun[word]} | verb: {word}ed | sentence: {sentence} [pronoun]",
            "I cannot help with that",
            "",
            f" {noun[word]} | verb: {word}ed | sentence: The {word} {word}ed the {noun[word]}",
        ]
        return texts[place]

    writer = Writer(write)
    found = tiltmeter.draft(["chef", "diver", "judge"], writer, out=tmp_path / "draft.csv", n=5, cache=False)
    assert [row.contexts["occupation"] for row in found.rows] == ["chef", "diver", "judge"]
    assert found.rows[0].sentence == "The chef told everybody that the soup in question was chefed by {pronoun}"
    assert found.kept_out == {DUPLICATE: 3, NO_FORM: 3, EMPTY: 3, NO_PRONOUN: 3}
    assert found.proposed == 15
    assert read_draft(tmp_path / "draft.csv") == found.rows
    # Examples show the form, and none is about the word itself.
    assert writer.prompts[0].text.count("| sentence:") == 4
    assert all("[pronoun]" in prompt.text for prompt in writer.prompts)


def test_sentences_of_a_draft_are_examples_and_words_for_the_next(tmp_path: Path) -> None:
    writer = Writer(lambda word, _: GOOD.format(word=word).replace("soup", f"{word} soup"))
    found = tiltmeter.draft(str(draft_file(tmp_path / "first.csv")), writer, n=1, cache=False)
    assert found.proposed == 8
    assert "bridge" in writer.prompts[1].text or "bread" in writer.prompts[0].text


def test_a_draft_with_decisions_is_not_written_over(tmp_path: Path) -> None:
    file = draft_file(tmp_path / "draft.csv")
    before = file.read_bytes()
    with pytest.raises(BadInput, match="holds decisions of a person"):
        tiltmeter.draft(["chef"], Writer(lambda *_: ""), out=file, cache=False)
    assert file.read_bytes() == before


def test_a_model_that_writes_nonsense_or_nothing_is_an_error_that_counts() -> None:
    with pytest.raises(ModelFailed, match=r"wrote 4 sentences and none can be used: not in the form .* \(4\)"):
        tiltmeter.draft(["chef", "cook"], Writer(lambda *_: "blah blah"), cache=False)
    with pytest.raises(BadInput, match="writes no text"):
        tiltmeter.draft(["chef"], {"chef": [1.0, 2.0]}, cache=False)
    with pytest.raises(BadInput, match="unknown context 'noum': did you mean 'noun'"):
        tiltmeter.draft(["chef"], Writer(lambda *_: ""), context="noum", cache=False)


def test_the_command_drafts_with_a_chat_model_asks_nothing_twice_and_complains_in_one_line(tmp_path: Path) -> None:
    def says(prompt: str) -> Said:
        word = prompt.rpartition("occupation: ")[2].partition(" |")[0]
        return Said(f"occupation: {word} | noun: {word} van | verb: {word}ed | sentence: The {word} said that the "
                    f"{word} van was {word}ed by [pronoun]")  # fmt: skip

    with LoopbackProvider(says=says) as server:
        env = environment(tmp_path / "cache", OPENAI_API_KEY="sk-test", OPENAI_BASE_URL=server.base_url("openai"))
        spec = f"chat:small?base_url={server.base_url('openai')}"
        words = tmp_path / "jobs.yaml"
        words.write_text("name: jobs\nlanguage: en\ngroups: {all: {words: [chef, diver]}}\n")
        key = f"127.0.0.1:{server.base_url('openai').split(':')[2].split('/')[0]}=OPENAI_API_KEY"
        arguments = ("draft", f"{words}.all", "--with", spec, "--each", "2", "--key", key)
        first = run(*arguments, "--out", tmp_path / "draft.csv", env=env)
        assert first.code == 0, first.stderr
        assert f"2 of 4 sentences of chat:small are in {tmp_path}/draft.csv" in first.stdout.replace("\n", "")
        asked = len(server.requests)
        assert run(*arguments, "--out", tmp_path / "draft.csv", env=env).code == 0
        assert len(server.requests) == asked
        server.says = lambda _: Said("no idea")
        nonsense = run(*arguments, "--seed", "7", "--out", tmp_path / "other.csv", env=env)
        assert "none can be used: not in the form that was asked for (4)" in nonsense.complaint
        assert not (tmp_path / "other.csv").exists()
