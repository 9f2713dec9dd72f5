"""How weights are read: never wider than they are stored, and with the numbers that follow from that."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from tiltmeter.errors import BadInput, MissingExtra, ModelFailed
from tiltmeter.models import load
from tiltmeter.models.protocol import Continuation, Fill, Span
from tiltmeter.models.registry import runs_code
from tiltmeter.models.transformers import encoder
from tiltmeter.models.transformers.weights import loading
from tiltmeter.models.transformers.weights.loading import Loading
from tiltmeter.probes.kind import model_name

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import save_tiny  # noqa: E402

TEXTS = ["The nurse slept in the chair.", "He is a nurse and she is a plumber, he left early."]


def _half(folder: Path, dtype: str = "float16") -> Path:
    """A model's folder with its weights stored in half precision."""
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    weights = {name: weight.to(getattr(torch, dtype)) for name, weight in load_file(file).items()}
    save_file(weights, file, metadata={"format": "pt"})
    return folder


def _answers(model) -> list[np.ndarray]:
    spans = model.embed_spans([Span(text, 4, 9) for text in TEXTS])
    if model.head == "masked":
        filled = model.fill([Fill(TEXTS[1], 0, 2, ("He", "She"))])[0].logprobs
        return [spans, np.array(filled), model.pseudo_score([Span(TEXTS[0], 0, len(TEXTS[0]))])[0].logprobs]
    continued = model.continue_with([Continuation("The chef said that", (" he", " she left"))])[0].logprobs
    return [spans, *(scores.logprobs for scores in model.score(TEXTS)), np.array(continued)]


@pytest.mark.parametrize("stored", ["float16", "bfloat16"])
@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "deberta-v2", "gpt2", "llama"])
def test_half_precision_weights_stay_so_and_give_the_numbers_of_float32(tmp_path, family, stored):
    from tests.models.tiny_language_models import FAMILIES

    if family not in FAMILIES:
        pytest.skip(f"no tiny {family}")
    folder = _half(save_tiny(family, tmp_path / family), stored)
    kept, wide = load(f"hf:{folder}?device=cpu"), load(f"hf:{folder}?device=cpu&dtype=float32")
    for one, other in zip(_answers(kept), _answers(wide), strict=True):
        # Widened weights are the same numbers; sums may run in another order, which is the last bit.
        np.testing.assert_allclose(one, other, rtol=5e-7, atol=1e-7)
    assert kept.identity.settings["dtype"] == f"{stored} computed in float32"
    assert wide.identity.settings["dtype"] == "float32"
    assert model_name(kept.identity) == f"hf:{folder}"
    if family in ("bert", "gpt2", "llama"):
        _, model = kept._with_head
        held = {name: str(weight.dtype) for name, weight in model.named_parameters() if weight.ndim > 1}
        assert set(held.values()) == {f"torch.{stored}"}


@pytest.mark.parametrize("family", ["bert", "gpt2"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_type_that_is_asked_for_holds_and_computes(tmp_path, family, dtype):
    folder = save_tiny(family, tmp_path / family)
    asked, plain = load(f"hf:{folder}?device=cpu&dtype={dtype}"), load(f"hf:{folder}?device=cpu")
    assert asked.identity.settings["dtype"] == dtype
    assert model_name(asked.identity) == f"hf:{folder}?dtype={dtype}"
    for one, other in zip(_answers(asked), _answers(plain), strict=True):
        assert not np.array_equal(one, other)
        np.testing.assert_allclose(one, other, atol=0.1 if dtype == "bfloat16" else 0.02)


def test_a_length_an_attention_and_foreign_code_are_in_the_provenance(tmp_path):
    folder = save_tiny("gpt2", tmp_path / "gpt2")
    model = load(f"hf:{folder}?device=cpu&max_length=8&attention=eager&trust_remote_code=yes")
    settings = {"max_length": "8", "attention": "eager", "trust_remote_code": "yes"}
    assert settings.items() <= dict(model.identity.settings).items()
    with pytest.raises(BadInput, match="reads 8: shorten it"):
        model.score([" ".join(TEXTS)])
    _, weights = model._with_head
    assert weights.config._attn_implementation == "eager"


def test_code_of_a_model_runs_only_where_a_person_asks_for_it(tmp_path):
    folder = save_tiny("gpt2", tmp_path / "gpt2")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine", "AutoModelForCausalLM": "mine.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    witness = tmp_path / "ran"
    (folder / "mine.py").write_text(
        f"import pathlib\npathlib.Path({str(witness)!r}).touch()\nraise ImportError('no')\n"
    )
    with pytest.raises(ModelFailed):
        load(f"hf:{folder}?device=cpu").score(TEXTS)
    assert not witness.exists()
    assert runs_code(f"hf:{folder}?trust_remote_code=yes")
    assert not runs_code(f"hf:{folder}?trust_remote_code=no")


def test_weights_that_do_not_fit_in_memory_are_read_from_the_disk(tmp_path, monkeypatch):
    pytest.importorskip("accelerate")
    folder = save_tiny("llama", tmp_path / "llama")
    whole = load(f"hf:{folder}?device=cpu").score(TEXTS)
    size = loading.stored_weights([folder / "model.safetensors"]).bytes_in("float32")
    # Enough for the first layer: Transformers 4 cannot leave a whole model on the disk.
    monkeypatch.setattr(loading, "free_memory", lambda: size * 9 // 10)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = load(f"hf:{folder}?device_map=auto")
    found = model.score(TEXTS)
    _, weights = model._with_head
    assert "disk" in weights.hf_device_map.values()
    for here, there in zip(whole, found, strict=True):
        np.testing.assert_allclose(there.logprobs, here.logprobs, atol=1e-5)


@pytest.mark.parametrize("bits", ["8bit", "4bit"])
def test_quantised_weights_come_from_bitsandbytes_or_one_line_says_what_is_missing(tmp_path, bits):
    folder = save_tiny("llama", tmp_path / "llama", hidden_size=64, intermediate_size=128)
    model = load(f"hf:{folder}?device=cpu&quantize={bits}")
    if not loading.find_spec("bitsandbytes"):
        with pytest.raises(
            MissingExtra, match=r"quantize=.bit needs the extra 'quantize': pip install 'tiltmeter\[quantize\]'"
        ):
            model.score(TEXTS)
        return
    plain = load(f"hf:{folder}?device=cpu")
    for here, there in zip(plain.score(TEXTS), model.score(TEXTS), strict=True):
        assert not np.array_equal(here.logprobs, there.logprobs)
        np.testing.assert_allclose(there.logprobs, here.logprobs, atol=1.0)
    assert model.identity.settings["quantize"] == bits


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"dtype": "float8"}, "unknown dtype 'float8': did you mean 'float32'?"),
        ({"quantize": "3bit"}, "unknown quantize '3bit'"),
        ({"attention": "flash"}, "unknown attention 'flash'"),
        ({"device_map": "balanced"}, "unknown device_map 'balanced'"),
        ({"device_map": "auto", "device": "cuda"}, "leave device out"),
        ({"max_length": 1}, "max_length=1: give at least 2 tokens"),
        ({"trust_remote_code": "true"}, "unknown trust_remote_code 'true'"),
    ],
)
def test_an_option_that_cannot_be_is_one_line(options, line):
    with pytest.raises(BadInput) as caught:
        Loading(**options)
    assert line in str(caught.value)


def test_the_memory_of_large_weights_is_said_before_they_are_read(tmp_path, monkeypatch):
    model = load(f"hf:{save_tiny('gpt2', tmp_path / 'gpt2')}?device=cpu")
    assert model.memory == ""
    monkeypatch.setattr(encoder, "WORTH_SAYING", 1)
    assert "parameters in float32 take" in model.memory
    assert "are free" in model.memory


#: What a process with a limit prints: a model that fits in one type and not in another.
LIMITED = textwrap.dedent(
    """
    import resource, sys
    from pathlib import Path
    from tiltmeter.errors import TiltmeterError
    from tiltmeter.run.probe import probe
    tiny, folder, room = *sys.argv[1:3], int(sys.argv[3])
    probe("pairs", f"hf:{tiny}?device=cpu", cache=False)  # what libraries take is not the model's
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + room, taken + room))
    for dtype in sys.argv[4:]:
        try:
            reading = probe("pairs", f"hf:{folder}?device=cpu&dtype={dtype}", cache=False)
            print(dtype, "read", len(reading.items), reading.provenance.model.settings["dtype"], flush=True)
        except TiltmeterError as error:
            print(dtype, error, flush=True)
    """
)


def test_a_model_that_does_not_fit_in_float32_is_read_in_bfloat16_and_one_that_cannot_fit_says_so(tmp_path):
    tiny = save_tiny("gpt2", tmp_path / "tiny", n_positions=128)
    # Many positions: large, and yet quick.
    folder = _half(save_tiny("gpt2", tmp_path / "gpt2", n_embd=1024, n_head=8, n_positions=150_000), "bfloat16")
    stored = loading.stored_weights([folder / "model.safetensors"])
    assert stored.type == "bfloat16"
    script = tmp_path / "limited.py"
    script.write_text(LIMITED)
    half = stored.bytes_in("bfloat16")
    lines = _limited(script, tiny, folder, int(half * 2.9), "float32", "bfloat16")
    assert "does not fit: " in lines[0]
    assert "in float32 take" in lines[0]
    assert "add dtype=bfloat16" in lines[0]
    assert lines[1] == "bfloat16 read 53 bfloat16"
    (none,) = _limited(script, tiny, folder, int(half * 1.5), "bfloat16")
    assert "in bfloat16 take" in none
    assert "device_map=auto" in none


def _limited(script: Path, *arguments: object) -> list[str]:
    ran = subprocess.run(
        [sys.executable, script, *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout.splitlines()


# The hub


class _Hub(BaseHTTPRequestHandler):
    """Refuses everything, as the hub does: gated models with 403, others with 401."""

    def do_GET(self) -> None:
        gated = "gated" in self.path
        self.send_response(403 if gated else 401)
        self.send_header("X-Error-Code", "GatedRepo" if gated else "RepoNotFound")
        self.send_header("X-Error-Message", f"no entry with {self.headers.get('Authorization')}")
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("some/gated-model", "it is gated; accept its conditions on its page at the hub, and set HF_TOKEN"),
        ("some/private-model", "the hub has no such model, or it is private: check the name, or set HF_TOKEN"),
    ],
)
def test_a_model_that_the_hub_refuses_says_what_to_do_and_shows_no_token(tmp_path, name, line):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_TOKEN": "hf_verySecretToken123",
        "HF_HOME": str(tmp_path),
        "NO_PROXY": "127.0.0.1",
    }
    code = (
        f"from tiltmeter import errors, load\ntry: load('hf:{name}').identity\nexcept errors.ModelFailed as e: print(e)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**_environment(), **environment}, check=False
    )
    server.shutdown()
    server.server_close()
    assert line in ran.stdout, ran.stderr
    assert "verySecret" not in ran.stdout + ran.stderr
    assert len(ran.stdout.splitlines()) == 1


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
