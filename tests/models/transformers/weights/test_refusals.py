"""A model that cannot be loaded or asked says why, and what to do: nothing here is called damaged that is not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from tests.command import environment, tiltmeter
from tiltmeter import load, probe
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Continuation

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
hub = pytest.importorskip("huggingface_hub")

TEXTS = ["The nurse slept.", "A carpenter left early."]
SETS = {"targets": [["he", "him"], ["she", "her"]], "attributes": [["office", "salary"], ["home", "family"]]}


class LoopbackHub:
    """A hub that answers every request with one refusal."""

    def __init__(self) -> None:
        self.status, self.headers, self.tokens = 404, dict[str, str](), list[str | None]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.tokens.append(self.headers.get("Authorization"))
                body = json.dumps({"error": "refused"}).encode()
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def loopback_hub(monkeypatch, tmp_path) -> Iterator[LoopbackHub]:
    one = LoopbackHub()
    monkeypatch.setattr(hub.constants, "ENDPOINT", f"http://127.0.0.1:{one.server.server_port}")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    yield one
    one.server.shutdown()
    one.server.server_close()


@pytest.mark.parametrize(
    ("status", "headers", "line"),
    [
        (
            401,
            {"X-Error-Code": "GatedRepo"},
            "is gated; accept its conditions on its page at the hub, and set HF_TOKEN",
        ),
        (
            403,
            {"X-Error-Code": "GatedRepo"},
            "is gated; accept its conditions on its page at the hub, and set HF_TOKEN",
        ),
        (404, {"X-Error-Code": "RepoNotFound"}, "the hub has no such model, or it is private: check the name, or set"),
        (401, {"X-Error-Message": "Invalid credentials in Authorization header"}, "refuses your token; set HF_TOKEN"),
        (400, {}, "the hub could not be reached or has no such model"),
    ],
)
def test_what_the_hub_refuses_is_said_with_what_to_do(loopback_hub, status, headers, line):
    loopback_hub.status, loopback_hub.headers = status, headers
    with pytest.raises(ModelFailed, match=line) as caught:
        load("hf:somebody/secret-model").embed_texts(TEXTS)
    assert "\n" not in str(caught.value)
    assert loopback_hub.tokens, "the hub was asked"


def test_the_token_of_the_environment_reaches_the_hub_and_no_message(loopback_hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefgh")
    loopback_hub.status, loopback_hub.headers = 403, {"X-Error-Code": "GatedRepo"}
    with pytest.raises(ModelFailed) as caught:
        load("hf:somebody/gated").embed_texts(TEXTS)
    assert loopback_hub.tokens[0] == "Bearer hf_abcdefgh"
    assert "abcdefgh" not in str(caught.value)


def change(folder: Path, **changes: object) -> Path:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))
    return folder


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}},
            r"quantised by bitsandbytes, which is not read; .*gguf:FILE",
        ),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "quantised by gptq"),
        (
            {"model_type": "somebodys_own", "auto_map": {"AutoModel": "modeling_own.OwnModel"}},
            r"Python code of its own \(somebodys_own\), .* add .trust_remote_code=yes, or load it yourself",
        ),
    ],
)
def test_weights_and_code_that_are_not_read_are_not_called_damaged(bert_copy, changes, line):
    with pytest.raises(ModelFailed, match=line) as caught:
        load(f"hf:{change(bert_copy, **changes)}").embed_texts(TEXTS)
    assert "fetch it again" not in str(caught.value)


def test_code_beside_a_model_that_transformers_knows_is_not_needed(bert_copy):
    change(bert_copy, auto_map={"AutoModel": "modeling_own.OwnModel"})
    assert load(f"hf:{bert_copy}").embed_texts(TEXTS).shape == (2, 16)


@pytest.fixture
def classifier(tiny, tmp_path) -> Path:
    transformers.AutoTokenizer.from_pretrained(tiny["bert"]).save_pretrained(tmp_path)
    transformers.BertForSequenceClassification.from_pretrained(tiny["bert"], num_labels=1).save_pretrained(tmp_path)
    return tmp_path


def test_a_cross_encoder_is_not_taken_for_an_encoder_unless_one_says_so(classifier, tiny):
    line = r"is a cross-encoder or a classifier \(BertForSequenceClassification\).*\?pooling=mean"
    with pytest.raises(BadInput, match=line):
        probe("weat", f"hf:{classifier}", cache=False, **SETS)
    done = tiltmeter("probe", "weat", f"hf:{classifier}", env=environment(classifier / "cache"))
    assert "is a cross-encoder" in done.complaint
    states = load(f"hf:{classifier}?pooling=mean").embed_texts(TEXTS)
    np.testing.assert_allclose(states, load(f"hf:{tiny['bert']}").embed_texts(TEXTS), atol=1e-5)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(classifier)
    with pytest.raises(BadInput, match=r"pass \(model.base_model, tokenizer\)"):
        probe("weat", load(model), cache=False, **SETS)


def test_an_encoder_decoder_says_what_it_can_be_asked(tiny, tmp_path):
    transformers.AutoTokenizer.from_pretrained(tiny["bert"]).save_pretrained(tmp_path)
    settings = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
    config = transformers.T5Config(vocab_size=130, **settings)
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    model = load(f"hf:{tmp_path}")
    assert model.embed_texts(TEXTS).shape == (2, 16)
    with pytest.raises(BadInput, match="is an encoder-decoder, of which the encoder is asked for vectors"):
        model.continue_with([Continuation("The nurse said that", (" he", " she"))])
