"""Checkpoints: found, identified, and refused in one line where they are damaged."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Span
from tiltmeter.models.transformers.encoder import TransformerEncoder
from tiltmeter.models.transformers.weights import checkpoints

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_models import SENTENCES  # noqa: E402
from tests.models.transformers.hidden_states import CLOSE  # noqa: E402


def _remove(*names: str):
    def damage(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return damage


def _cut_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def _config(**changes):
    def damage(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))

    return damage


def _of_the_future(folder: Path) -> None:
    _config(transformers_version="99.0.1")(folder)
    (folder / "tokenizer.json").write_text("{}")


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (_remove("config.json"), "no config.json in"),
        (_remove("model.safetensors"), "no weights"),
        (_remove("tokenizer.json"), "no tokenizer"),
        (_cut_weights, "bad weights or config.json"),
        (_config(num_hidden_layers=5), "do not fit its config.json"),
        (_config(hidden_size=32), "bad weights or config.json"),
        (_config(model_type="nonesuch"), "cannot load"),
        (lambda folder: (folder / "tokenizer.json").write_text("{"), "bad tokenizer .*; fetch it again$"),
        (_of_the_future, r"\); Transformers 99\.0\.1 saved it, and [\d.]+ is installed: pip install -U transformers$"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot load"),
    ],
)
def test_a_damaged_folder_gives_one_clear_line_and_no_chatter(bert_copy, damage, line, capfd):
    damage(bert_copy)
    with pytest.raises(ModelFailed, match=line) as caught:
        TransformerEncoder(str(bert_copy)).embed_texts(["The nurse slept."])
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_loading_and_asking_print_nothing_and_change_no_setting(tiny, capfd):
    logging = transformers.utils.logging
    logging.enable_progress_bar()
    before = (logging.get_verbosity(), torch.get_num_threads(), os.environ.get("TOKENIZERS_PARALLELISM"))
    TransformerEncoder(str(tiny["gpt2"])).embed_texts(SENTENCES)
    after = (logging.get_verbosity(), torch.get_num_threads(), os.environ.get("TOKENIZERS_PARALLELISM"))
    assert after == before
    assert logging.is_progress_bar_enabled()
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("hub_cache")
@pytest.mark.parametrize("name", ["nobody/nothing", "nothing", "/no/such/folder", "./no/such/folder"])
def test_a_model_that_is_nowhere_gives_one_line_at_once(name, capfd):
    start = time.monotonic()
    with pytest.raises(ModelFailed, match=f"cannot load 'hf:{name}': no such folder.*path of a local copy") as caught:
        TransformerEncoder(name).embed_texts(["The nurse slept."])
    assert time.monotonic() - start < 5
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_hub_model_on_this_machine_is_known_by_its_commit(hub_cache, tiny):
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = hub_cache / "models--somebody--bert"
    shutil.copytree(tiny["bert"], repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(commit)
    encoder = TransformerEncoder("somebody/bert")
    assert (encoder.identity.name, encoder.identity.revision) == ("hf:somebody/bert", commit)
    local = TransformerEncoder(str(tiny["bert"]))
    np.testing.assert_array_equal(encoder.embed_words(["nurse"]), local.embed_words(["nurse"]))


def test_a_revision_makes_no_sense_for_a_folder(tiny):
    with pytest.raises(BadInput, match="leave it out"):
        _ = TransformerEncoder(str(tiny["bert"]), revision="main").identity


def test_a_folder_is_known_by_its_weights_settings_and_vocabulary(bert_copy):
    def revision() -> str:
        return TransformerEncoder(str(bert_copy)).identity.revision

    first = revision()
    (bert_copy / "README.md").write_text("notes")
    (bert_copy / "training_args.bin").write_text("not weights")
    assert revision() == first
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        seen = revision()
        (bert_copy / name).write_bytes((bert_copy / name).read_bytes() + b" ")
        assert revision() != seen


def test_the_masked_lm_of_half_precision_is_computed_in_single_precision(data_folder):
    folder = data_folder(".").resolve().parent / "models/minilm-mlm"
    if not folder.is_dir():
        pytest.skip("there is no models/minilm-mlm beside the data sets")
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    ids = transformers.AutoTokenizer.from_pretrained(folder)(SENTENCES[0])["input_ids"]
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()
    found = TransformerEncoder(str(folder)).embed_spans([Span(SENTENCES[0], 4, 9)])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], expected[2], **CLOSE)


def test_pickled_weights_are_not_read_by_a_torch_that_would_run_what_they_hold(bert_copy, monkeypatch):
    state = transformers.AutoModel.from_pretrained(bert_copy).state_dict()
    monkeypatch.setattr(torch, "__version__", type(torch.__version__)("2.5.1"))
    vectors = TransformerEncoder(str(bert_copy)).embed_texts(SENTENCES)
    torch.save(state, bert_copy / "pytorch_model.bin")
    assert np.array_equal(TransformerEncoder(str(bert_copy)).embed_texts(SENTENCES), vectors)
    (bert_copy / "model.safetensors").unlink()
    with pytest.raises(ModelFailed, match=r"torch 2.5.1 may run code from pytorch_model.bin .CVE-2025-32434.; install"):
        TransformerEncoder(str(bert_copy)).embed_texts(SENTENCES)
    monkeypatch.undo()
    assert np.array_equal(TransformerEncoder(str(bert_copy)).embed_texts(SENTENCES), vectors)


def test_versions_of_torch_are_compared_by_number():
    for safe in ("2.10.0", "2.6.0+cpu", "10.0"):
        checkpoints._check_pickled(safe, "hf:x")
    for unsafe in ("2.5.1", "1.13", "2.0.0a1"):
        with pytest.raises(ModelFailed, match=f"torch {unsafe} may run code"):
            checkpoints._check_pickled(unsafe, "hf:x")


def test_pickled_weights_can_be_refused_altogether(bert_copy, monkeypatch):
    monkeypatch.setenv("TILTMETER_SAFETENSORS_ONLY", "1")
    state = transformers.AutoModel.from_pretrained(bert_copy).state_dict()
    assert len(TransformerEncoder(str(bert_copy)).embed_texts(SENTENCES)) == len(SENTENCES)
    torch.save(state, bert_copy / "pytorch_model.bin")
    (bert_copy / "model.safetensors").unlink()
    with pytest.raises(ModelFailed, match="it has no safetensors, and TILTMETER_SAFETENSORS_ONLY is set"):
        TransformerEncoder(str(bert_copy)).embed_texts(SENTENCES)
