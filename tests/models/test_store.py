"""The store of answers: bit for bit, never mixed up, safe with several processes, and it outlives damage."""

from __future__ import annotations

import itertools
import multiprocessing
import random
import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tests.command import without_root_powers
from tiltmeter.errors import BadInput
from tiltmeter.files import cache_folder
from tiltmeter.models import Identity, Question, Span, VectorStore

MINE = Identity("mine", "1")
WORDS = [f"word{i}" for i in range(60)]
PROCESSES, BATCHES = 4, 10
#: Of so many tries to make a store with several processes at once, some would meet SQLite turning one away.
ATTEMPTS = 8


def planted(seed: int, n: int = len(WORDS), width: int = 8) -> list[np.ndarray | None]:
    """Random vectors; every tenth word is out of vocabulary."""
    rng = np.random.default_rng(seed)
    return [None if i % 10 == 9 else rng.standard_normal(width).astype(np.float32) for i in range(n)]


def bits(vectors: Any) -> list[bytes | None]:
    return [None if vector is None else vector.tobytes() for vector in vectors]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    with VectorStore(tmp_path) as opened:
        yield opened


# Recall


@settings(max_examples=50)
@given(
    vectors=arrays(
        np.float32, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(width=32, allow_nan=True)
    )
)
def test_any_float32_vector_comes_back_bit_for_bit(tmp_path_factory: Any, vectors: np.ndarray) -> None:
    words = WORDS[: len(vectors)]
    with VectorStore(tmp_path_factory.mktemp("store")) as store:
        store.put(MINE, Question.WORDS, words, list(vectors))
        store.close()
        found = store.get(MINE, Question.WORDS, words)
        assert bits(found[i] for i in range(len(words))) == bits(vectors)
        assert all(vector is not None and vector.dtype == np.float32 for vector in found.values())


def test_a_recalled_vector_may_be_written_to(store: VectorStore) -> None:
    store.put(MINE, Question.WORDS, ["nurse"], [np.ones(3, np.float32)])
    vector = store.get(MINE, Question.WORDS, ["nurse"])[0]
    assert vector is not None
    vector *= 2
    assert bits(store.get(MINE, Question.WORDS, ["nurse"]).values()) == bits([np.ones(3, np.float32)])


def test_that_a_word_is_out_of_vocabulary_is_remembered_and_is_not_the_same_as_never_asked(store: VectorStore) -> None:
    store.put(MINE, Question.WORDS, ["nurse", "xyzzy"], [np.ones(3, np.float32), None])
    found = store.get(MINE, Question.WORDS, ["xyzzy", "never", "nurse"])
    assert set(found) == {0, 2}
    assert found[0] is None
    assert found[2] is not None


def test_answers_are_found_by_position_also_when_an_input_stands_twice(store: VectorStore) -> None:
    store.put(MINE, Question.WORDS, ["nurse"], [np.ones(3, np.float32)])
    assert set(store.get(MINE, Question.WORDS, ["nurse", "doctor", "nurse"])) == {0, 2}


def test_more_inputs_than_one_statement_takes_are_all_found(store: VectorStore) -> None:
    many, vectors = [f"w{i}" for i in range(1234)], planted(0, 1234, 2)
    store.put(MINE, Question.TEXTS, many, vectors)
    found = store.get(MINE, Question.TEXTS, many)
    assert bits(found[i] for i in range(1234)) == bits(vectors)


# What must not mix


@pytest.mark.parametrize(
    "other",
    [
        Identity("yours", "1"),
        Identity("mine", "2"),
        Identity("mine", "1", {"layer": "3"}),
        Identity("mine1", ""),
    ],
)
def test_another_name_revision_or_setting_is_another_model(store: VectorStore, other: Identity) -> None:
    store.put(MINE, Question.WORDS, ["nurse"], [np.ones(3, np.float32)])
    assert store.get(other, Question.WORDS, ["nurse"]) == {}
    store.put(other, Question.WORDS, ["nurse"], [np.full(3, 2, np.float32)])
    assert bits(store.get(MINE, Question.WORDS, ["nurse"]).values()) == bits([np.ones(3, np.float32)])
    assert bits(store.get(other, Question.WORDS, ["nurse"]).values()) == bits([np.full(3, 2, np.float32)])


def test_the_order_of_settings_makes_no_difference(store: VectorStore) -> None:
    store.put(Identity("m", "1", {"a": "1", "b": "2"}), Question.WORDS, ["nurse"], [None])
    assert store.get(Identity("m", "1", {"b": "2", "a": "1"}), Question.WORDS, ["nurse"]) == {0: None}


def test_a_word_a_text_and_a_word_in_context_are_three_questions(store: VectorStore) -> None:
    store.put(MINE, Question.WORDS, ["nurse"], [None])
    assert store.get(MINE, Question.TEXTS, ["nurse"]) == {}
    spans = [Span("a nurse", 2, 7), Span("a nurse", 0, 7), Span("a nurse.", 2, 7)]
    store.put(MINE, Question.SPANS, spans[:1], [None])
    assert store.get(MINE, Question.SPANS, spans) == {0: None}


@pytest.mark.parametrize("text", ["café", "ন\u09df", "Å"])
def test_composed_and_decomposed_letters_are_two_inputs(store: VectorStore, text: str) -> None:
    forms = sorted({text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD"))})
    assert len(forms) > 1
    store.put(MINE, Question.TEXTS, forms[:1], [np.ones(2, np.float32)])
    assert set(store.get(MINE, Question.TEXTS, forms)) == {0}


@pytest.mark.parametrize("odd", ["\ud800", "\0", "a\nb", "", "💡" * 5000])
def test_any_text_can_be_an_input(store: VectorStore, odd: str) -> None:
    store.put(MINE, Question.TEXTS, [odd], [np.ones(2, np.float32)])
    assert set(store.get(MINE, Question.TEXTS, [odd, odd + " "])) == {0}


def test_a_model_that_was_cleared_elsewhere_does_not_lend_its_number_to_the_next(tmp_path: Path) -> None:
    """SQLite gives the number of a deleted row to the next one: an open store must not go on using it."""
    with VectorStore(tmp_path) as one, VectorStore(tmp_path) as two:
        one.put(MINE, Question.WORDS, ["nurse"], [np.ones(2, np.float32)])
        assert two.clear() == 1
        two.put(Identity("yours", "1"), Question.WORDS, ["doctor"], [np.full(2, 2, np.float32)])
        one.put(MINE, Question.WORDS, ["nurse"], [np.full(2, 3, np.float32)])
        assert two.get(Identity("yours", "1"), Question.WORDS, ["nurse", "doctor"]).keys() == {1}
        assert bits(two.get(MINE, Question.WORDS, ["nurse"]).values()) == bits([np.full(2, 3, np.float32)])
        assert one.notes == two.notes == []


# The contents, and forgetting them


def test_contents_count_entries_and_bytes_of_each_model_and_question(store: VectorStore) -> None:
    store.put(MINE, Question.WORDS, ["a", "b", "xyzzy"], [np.ones(2, np.float32)] * 2 + [None])
    store.put(MINE, Question.TEXTS, ["a"], [np.ones(4, np.float32)])
    found = [(row["name"], row["question"], row["entries"], row["bytes"]) for row in store.contents()]
    assert found == [("mine", "texts", 1, 16), ("mine", "words", 3, 16)]


def test_clearing_one_model_keeps_the_others(store: VectorStore) -> None:
    yours = Identity("yours", "1")
    for identity in (MINE, Identity("mine", "2"), yours):
        store.put(identity, Question.WORDS, ["nurse"], [np.ones(2, np.float32)])
    assert store.clear("mine") == 2
    assert [row["name"] for row in store.contents()] == ["yours"]
    assert set(store.get(yours, Question.WORDS, ["nurse"])) == {0}


def test_vectors_are_kept_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "there"))
    assert cache_folder() == tmp_path / "there"
    with VectorStore() as store:
        store.put(MINE, Question.WORDS, ["nurse"], [None])
    assert (tmp_path / "there" / "vectors.sqlite").is_file()


# All or nothing, several at once


def test_a_batch_is_stored_whole_or_not_at_all(store: VectorStore) -> None:
    with pytest.raises(ValueError, match="zip"):
        store.put(MINE, Question.WORDS, ["a", "b"], [np.ones(2, np.float32)])
    assert store.get(MINE, Question.WORDS, ["a", "b"]) == {}


def _write(folder: Path, who: int, start: Any) -> None:
    with VectorStore(folder) as store:
        start.wait()
        for batch in range(BATCHES):
            words = [f"{who}-{batch}-{i}" for i in range(5)]
            store.put(MINE, Question.WORDS, words, [np.full(4, 100 * who + batch, np.float32)] * 5)


def _make_and_fill(folder: Path, who: int, start: Any) -> None:
    for attempt in range(ATTEMPTS):
        _write(folder / str(attempt), who, start)


def _at_once(work: Callable[[Path, int, Any], None], folder: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Barrier(PROCESSES)
    running = [spawn.Process(target=work, args=(folder, who, start)) for who in range(PROCESSES)]
    for process in running:
        process.start()
    for process in running:
        process.join(60)
    assert [process.exitcode for process in running] == [0] * PROCESSES


def _all_there(folder: Path) -> None:
    with VectorStore(folder) as store:
        for who, batch in itertools.product(range(PROCESSES), range(BATCHES)):
            found = store.get(MINE, Question.WORDS, [f"{who}-{batch}-{i}" for i in range(5)])
            assert bits(found.values()) == bits([np.full(4, 100 * who + batch, np.float32)] * 5)


def test_processes_that_make_and_fill_a_store_at_once_lose_nothing(tmp_path: Path) -> None:
    _at_once(_make_and_fill, tmp_path)
    for attempt in range(ATTEMPTS):
        _all_there(tmp_path / str(attempt))


def test_threads_may_share_a_store(store: VectorStore) -> None:
    def fill(who: int) -> None:
        for batch in range(10):
            store.put(MINE, Question.WORDS, [f"{who}-{batch}"], [np.full(2, who, np.float32)])

    threads = [threading.Thread(target=fill, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.get(MINE, Question.WORDS, [f"{who}-{batch}" for who in range(4) for batch in range(10)])
    assert bits(found.values()) == bits(np.full(2, who, np.float32) for who in range(4) for _ in range(10))


# Damage


def test_a_flipped_byte_in_a_vector_is_noticed_noted_and_only_that_entry_is_lost(tmp_path: Path) -> None:
    vectors = planted(0)
    with VectorStore(tmp_path) as store:
        store.put(MINE, Question.WORDS, WORDS, vectors)
    with closing(sqlite3.connect(tmp_path / "vectors.sqlite")) as db, db:
        row, blob = db.execute("SELECT rowid, vector FROM vectors WHERE vector IS NOT NULL LIMIT 1").fetchone()
        flipped = bytes([blob[0] ^ 1]) + blob[1:]
        db.execute("UPDATE vectors SET vector = ? WHERE rowid = ?", (flipped, row))
    with VectorStore(tmp_path) as store:
        found = store.get(MINE, Question.WORDS, WORDS)
        assert set(range(60)) - set(found) == {0}
        assert store.notes == ["the cache of mine was damaged; entries dropped and asked again: 1"]
        store.put(MINE, Question.WORDS, WORDS[:1], vectors[:1])
        assert bits(store.get(MINE, Question.WORDS, WORDS).values()) == bits(vectors)
        assert len(store.notes) == 1


def test_a_vector_under_another_inputs_name_is_noticed(tmp_path: Path) -> None:
    with VectorStore(tmp_path) as store:
        store.put(MINE, Question.WORDS, ["he", "she"], [np.ones(2, np.float32), np.full(2, 2, np.float32)])
    with closing(sqlite3.connect(tmp_path / "vectors.sqlite")) as db, db:
        first = db.execute("SELECT vector, checksum FROM vectors WHERE rowid = 1").fetchone()
        db.execute("UPDATE vectors SET vector = ?, checksum = ? WHERE rowid = 2", first)
    with VectorStore(tmp_path) as store:
        assert set(store.get(MINE, Question.WORDS, ["he", "she"])) == {0}


def _filled(folder: Path) -> dict[tuple[str, Question], list[np.ndarray | None]]:
    truth = {}
    with VectorStore(folder) as store:
        for seed, (name, question) in enumerate((name, q) for name in "ab" for q in (Question.WORDS, Question.TEXTS)):
            truth[name, question] = planted(seed)
            store.put(Identity(name, "1"), question, WORDS, truth[name, question])
    return truth


def _sound(store: VectorStore, truth: dict[tuple[str, Question], list[np.ndarray | None]]) -> int:
    """How many answers are still known; every one of them must be right."""
    known = 0
    for (name, question), vectors in truth.items():
        found = store.get(Identity(name, "1"), question, WORDS)
        assert bits(found.values()) == bits(vectors[i] for i in found)
        known += len(found)
    return known


def test_one_flipped_bit_anywhere_in_the_file_never_gives_a_wrong_vector(tmp_path: Path) -> None:
    truth = _filled(tmp_path)
    file = tmp_path / "vectors.sqlite"
    whole = file.read_bytes()
    draw = random.Random(0)
    kept = []
    for _ in range(100):
        content = bytearray(whole)
        content[draw.randrange(4096, len(whole))] ^= 1 << draw.randrange(8)
        file.write_bytes(content)
        with VectorStore(tmp_path) as store:
            kept.append(_sound(store, truth))
            # And the store goes on working.
            store.put(MINE, Question.WORDS, ["new"], [np.ones(2, np.float32)])
            assert set(store.get(MINE, Question.WORDS, ["new"])) == {0}
    assert np.mean(kept) > 230  # of 240: one bit costs hardly more than one answer
    assert min(kept) < 240  # some of the bits did hit something


@pytest.mark.parametrize("where", ["a tenth", "the end", "all but the first page"])
def test_of_a_file_with_overwritten_pages_what_can_be_read_is_saved(tmp_path: Path, where: str) -> None:
    truth = _filled(tmp_path)
    file = tmp_path / "vectors.sqlite"
    content = bytearray(file.read_bytes())
    pages = len(content) // 4096
    first, last = {"a tenth": (5, 7), "the end": (pages - 2, pages), "all but the first page": (1, pages)}[where]
    content[first * 4096 : last * 4096] = random.Random(1).randbytes((last - first) * 4096)
    file.write_bytes(content)
    with VectorStore(tmp_path) as store:
        known = _sound(store, truth)
        (note,) = store.notes
        for (name, question), vectors in truth.items():
            store.put(Identity(name, "1"), question, WORDS, vectors)
        assert _sound(store, truth) == 240
    (aside,) = [path for path in tmp_path.iterdir() if ".damaged-" in path.name]
    assert aside.read_bytes() == content
    assert note == f"a damaged cache was set aside as {aside.name}; {known} entries were saved from it"
    assert known == 0 if where.startswith("all") else 60 < known < 240
    with VectorStore(tmp_path) as store:
        assert _sound(store, truth) == 240
        assert store.notes == []


@pytest.mark.parametrize("garbage", [b"not a database at all", bytes(10_000), b"SQLite format 3\0" + bytes(200)])
def test_a_file_of_garbage_is_set_aside_and_the_store_starts_anew(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / "vectors.sqlite").write_bytes(garbage)
    with VectorStore(tmp_path) as store:
        assert store.get(MINE, Question.WORDS, ["nurse"]) == {}
        store.put(MINE, Question.WORDS, ["nurse"], [np.ones(2, np.float32)])
        assert set(store.get(MINE, Question.WORDS, ["nurse"])) == {0}
        assert len(store.notes) == 1
        assert "0 entries were saved" in store.notes[0]
    assert [path.read_bytes() for path in tmp_path.iterdir() if ".damaged-" in path.name] == [garbage]


def test_a_file_cut_short_gives_back_its_readable_part(tmp_path: Path) -> None:
    truth = _filled(tmp_path)
    file = tmp_path / "vectors.sqlite"
    file.write_bytes(file.read_bytes()[: -3 * 4096])
    with VectorStore(tmp_path) as store:
        assert 60 < _sound(store, truth) < 240
        assert "set aside" in store.notes[0]


def test_processes_that_find_the_same_damage_at_once_lose_nothing(tmp_path: Path) -> None:
    truth = _filled(tmp_path)
    file = tmp_path / "vectors.sqlite"
    content = bytearray(file.read_bytes())
    content[5 * 4096 : 7 * 4096] = bytes(2 * 4096)
    file.write_bytes(content)
    _at_once(_read_then_write, tmp_path)
    _all_there(tmp_path)
    with VectorStore(tmp_path) as store:
        assert _sound(store, truth) > 100
        assert store.notes == []


def _read_then_write(folder: Path, who: int, start: Any) -> None:
    with VectorStore(folder) as store:
        start.wait()
        for name, question in itertools.product("ab", (Question.WORDS, Question.TEXTS)):
            store.get(Identity(name, "1"), question, WORDS)
    _write(folder, who, start)


def test_a_store_whose_file_was_deleted_goes_on_in_a_new_one(tmp_path: Path) -> None:
    with VectorStore(tmp_path) as store:
        store.put(MINE, Question.WORDS, ["he"], [None])
        for file in tmp_path.iterdir():
            file.unlink()
        store.put(MINE, Question.WORDS, ["she"], [None])
    with VectorStore(tmp_path) as store:
        assert store.get(MINE, Question.WORDS, ["he", "she"]) == {1: None}


def test_an_unreadable_name_of_a_model_does_not_stop_the_list(tmp_path: Path) -> None:
    with VectorStore(tmp_path) as store:
        store.put(MINE, Question.WORDS, ["nurse"], [None])
    with closing(sqlite3.connect(tmp_path / "vectors.sqlite")) as db, db:
        db.execute("UPDATE models SET identity = substr(identity, 2)")
    with VectorStore(tmp_path) as store:
        assert [row["name"] for row in store.contents()] == ["unreadable"]
        assert store.clear() == 1


# Folders that cannot be used


def _one_line(error: pytest.ExceptionInfo[BadInput]) -> str:
    message = str(error.value)
    assert "\n" not in message
    assert "TILTMETER_CACHE" in message
    return message


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with VectorStore(tmp_path / "file" / "cache") as store, pytest.raises(BadInput) as error:
        store.get(MINE, Question.WORDS, ["nurse"])
    assert "cannot be made (Not a directory)" in _one_line(error)


def test_a_folder_in_the_place_of_the_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "vectors.sqlite").mkdir()
    with VectorStore(tmp_path) as store, pytest.raises(BadInput) as error:
        store.get(MINE, Question.WORDS, ["nurse"])
    assert "cannot be used (unable to open database file)" in _one_line(error)


@pytest.mark.parametrize("filled", [True, False])
def test_a_read_only_folder_is_one_clear_line(tmp_path: Path, filled: bool) -> None:
    if filled:
        _filled(tmp_path)
        (tmp_path / "vectors.sqlite").chmod(0o444)
    tmp_path.chmod(0o555)
    code = (
        "from tiltmeter.models import *\n"
        "from tiltmeter.errors import BadInput\n"
        "from pathlib import Path\n"
        "import sys\n"
        "try: VectorStore(Path(sys.argv[1])).put(Identity('a', '1'), Question.WORDS, ['new'], [None])\n"
        "except BadInput as error: print(error)\n"
    )
    try:
        outcome = without_root_powers(code, str(tmp_path))
    finally:
        tmp_path.chmod(0o755)
    assert outcome.stderr == ""
    assert outcome.stdout.count("\n") == 1
    assert "cannot be used" in outcome.stdout
    assert "make it writable, or set TILTMETER_CACHE to another folder" in outcome.stdout


def test_a_closed_store_is_one_file(tmp_path: Path) -> None:
    _filled(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["vectors.sqlite"]
