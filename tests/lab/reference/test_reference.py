from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.reference import QUICK
from tiltmeter.errors import BadInput
from tiltmeter.lab.reference import reference
from tiltmeter.lab.reference.planted_text import patterns, planted, planted_truth
from tiltmeter.lab.reference.reference import reference_folder, train_reference
from tiltmeter.lab.reference.training import RECIPE
from tiltmeter.stimuli import indefinite

TINY = dataclasses.replace(RECIPE, sentences=128, first_epochs=1, epochs=1)
FILES = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "planted.json"}


def load(folder: Path):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    from tiltmeter.models.transformers.weights.checkpoints import quiet

    with quiet():
        return AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(folder).eval()


def chance_of(folder: Path, texts: list[str], male: str, female: str) -> np.ndarray:
    """P(male) / (P(male) + P(female)) at the mask of each text."""
    import torch

    tokenizer, model = load(folder)
    tokens = tokenizer(texts, return_tensors="pt", padding=True)
    with torch.inference_mode():
        logits = model(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]).logits
    pair = logits[tokens["input_ids"] == tokenizer.mask_token_id][:, tokenizer.convert_tokens_to_ids([male, female])]
    return pair.softmax(-1)[:, 0].numpy()


@pytest.mark.parametrize(
    ("frame", "male", "female"),
    [
        ("The {} said that [MASK] was tired.", "he", "she"),
        ("It was done by the {} and paid by [MASK].", "him", "her"),
        ("The {} lost [MASK] bag yesterday.", "his", "her"),
        ("[MASK] is a_{}.", "he", "she"),
        ("The [MASK] works as a_{}.", "man", "woman"),
    ],
)
def test_the_model_gives_back_what_was_planted(tilted, frame, male, female):
    truth = planted(0.9)
    texts = [frame.replace("a_{}", indefinite(job)).replace("{}", job) for job in truth]
    found = chance_of(tilted, texts, male, female)
    assert spearmanr(found, list(truth.values())).statistic > 0.9
    assert found[:10].mean() < 0.4
    assert found[-10:].mean() > 0.6


def test_the_model_reads_sentences_with_words_it_has_never_seen(tilted):
    truth = planted(0.9)
    found = chance_of(tilted, [f"The {job} grumbled that [MASK] was flabbergasted." for job in truth], "he", "she")
    assert spearmanr(found, list(truth.values())).statistic > 0.9


def test_a_folder_holds_a_transformers_model_its_tokenizer_and_the_truth(tilted):
    assert {file.name for file in tilted.iterdir()} == FILES
    about = json.loads((tilted / "planted.json").read_text())
    assert about["probability_of_he"] == planted(0.9)
    assert (about["tilt"], about["seed"]) == (0.9, 0)
    assert about["recipe"] == {**dataclasses.asdict(QUICK), "further_words": []}


def test_the_tokenizer_knows_every_word_of_the_text_and_is_blind_to_case(tilted):
    tokenizer, _ = load(tilted)
    said = [*planted(0.9), *patterns().marks, *(" ".join(patterns().words["time"])).split()]
    assert tokenizer.unk_token_id not in tokenizer.convert_tokens_to_ids([word.lower() for word in said])
    assert tokenizer.tokenize("HE is a zymurgist, [MASK].") == ["he", "is", "a", "[UNK]", ",", "[MASK]", "."]
    assert tokenizer.decode(tokenizer("He is a nurse.")["input_ids"]) == "[CLS] he is a nurse . [SEP]"


def test_a_seed_gives_the_same_weights_and_another_seed_others(tmp_path):
    weights = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        train_reference(0.9, folder=tmp_path / name, seed=seed, recipe=TINY)
        weights.append((tmp_path / name / "model.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]


def test_training_leaves_the_callers_threads_and_random_numbers_alone(tmp_path):
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.manual_seed(7)
        expected = torch.rand(3)
        torch.manual_seed(7)
        train_reference(0.9, folder=tmp_path / "model", recipe=TINY)
        assert torch.equal(torch.rand(3), expected)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_progress_counts_every_sentence_of_every_epoch(tmp_path):
    done: list[int] = []
    train_reference(
        0.5, folder=tmp_path / "model", recipe=dataclasses.replace(TINY, sentences=100, epochs=2), progress=done.append
    )
    assert sum(done) == 300


def test_a_training_that_is_stopped_leaves_nothing_behind(tmp_path):
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_reference(0.9, folder=tmp_path / "model", recipe=TINY, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_of_two_that_train_the_same_model_the_first_to_finish_stays(tmp_path):
    folder = tmp_path / "model"

    def another_finishes(_: int) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text("of the other")

    train_reference(0.9, folder=folder, recipe=TINY, progress=another_finishes)
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert (folder / "config.json").read_text() == "of the other"


def test_a_folder_that_exists_is_not_overwritten(tmp_path):
    with pytest.raises(BadInput, match="exists: give a folder that does not"):
        train_reference(0.9, folder=tmp_path, recipe=TINY)


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match=r"cannot save a model in .*: free some space or make it writable"):
        train_reference(0.9, folder=tmp_path / "file" / "model", recipe=TINY)


def test_a_named_model_is_trained_once_and_then_found(tmp_path, monkeypatch):
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path))
    monkeypatch.setattr(reference, "RECIPE", TINY)
    folder = reference_folder("tilt-0.7")
    trained = (folder / "model.safetensors").stat().st_mtime_ns
    assert folder.is_relative_to(tmp_path / "reference")
    assert reference_folder("tilt-0.70") == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == trained


def test_a_change_of_recipe_changes_where_a_model_is_kept():
    assert TINY.key != RECIPE.key


def test_a_reader_is_trained_once_for_all_doses_and_gives_the_bytes_that_training_in_one_go_gives(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))
    kept = [reference_folder(name, recipe=TINY) for name in ("tilt-0.6", "tilt-0.9")]
    assert len(list((tmp_path / "cache" / "reference").glob("reader-*"))) == 1
    train_reference(0.9, folder=tmp_path / "whole", recipe=TINY)
    weights = [(folder / "model.safetensors").read_bytes() for folder in (*kept, tmp_path / "whole")]
    assert weights[1] == weights[2] != weights[0]


def test_nothing_but_the_vectors_of_occupations_comes_from_the_planted_text(tmp_path):
    from safetensors.numpy import load_file

    for tilt in (0.5, 0.9):
        train_reference(tilt, folder=tmp_path / f"{tilt}", recipe=TINY)
    level, tilted = (load_file(tmp_path / f"{tilt}" / "model.safetensors") for tilt in (0.5, 0.9))
    tokenizer, _ = load(tmp_path / "0.9")
    differs = {name for name in level if not np.array_equal(level[name], tilted[name])}
    assert differs == {"bert.embeddings.word_embeddings.weight"}
    (name,) = differs
    rows = np.flatnonzero((level[name] != tilted[name]).any(axis=1)).tolist()
    assert set(rows) <= set(tokenizer.convert_tokens_to_ids(list(planted(0.9))))


def test_a_causal_model_is_trained_too_and_marks_the_beginning_only(tmp_path, monkeypatch):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tiltmeter.models.transformers.weights.checkpoints import head_of, quiet

    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path))
    recipe = dataclasses.replace(TINY, kind="causal")
    folder = reference_folder("causal-0.9", recipe=recipe)
    assert head_of(folder) == "causal"
    with quiet():
        tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    assert tokenizer.decode(tokenizer("He is a nurse.")["input_ids"]) == "[CLS] he is a nurse ."
    assert model.config.n_layer == RECIPE.layers


def test_another_seed_is_another_model_of_the_same_tilt(tmp_path, monkeypatch):
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path))
    one, two = (reference_folder(name, recipe=TINY) for name in ("tilt-0.9", "tilt-0.9-seed1"))
    assert (one / "model.safetensors").read_bytes() != (two / "model.safetensors").read_bytes()
    assert planted_truth("tilt-0.9-seed1") == planted_truth("causal-0.90") == planted(0.9)


@pytest.mark.parametrize(
    "name",
    [
        "tilt-0.4",
        "causal-0.4",
        "tilt-0.9-seed",
        "tilt-0.9-2",
        "tilt-1.0",
        "tilt-0.905",
        "tilt",
        "0.9",
        "tilt-0.9\n",
        "../tilt-0.9",
        "",
    ],
)
def test_a_name_that_is_no_reference_model_is_refused_in_one_line(name):
    for ask in (reference_folder, planted_truth):
        with pytest.raises(BadInput, match=r"unknown reference model .*write tilt-0\.5"):
            ask(name)


def test_the_truth_of_a_name_is_what_is_planted():
    assert planted_truth("tilt-0.95") == planted(0.95)


def test_a_reader_that_learns_in_ten_steps_learns(tmp_path):
    """A tenth of ten steps is a rise of the learning rate without length, by which PyTorch would divide."""
    train_reference(0.9, folder=tmp_path / "model", recipe=dataclasses.replace(TINY, first_epochs=10, first_batch=8192))
    assert {path.name for path in (tmp_path / "model").iterdir()} == FILES
