"""A loopback HTTP server that speaks the embedding protocols of OpenAI, Cohere and Voyage, and OpenAI's for chat.

Vectors follow from a hash of the text, a chat answer from the prompt by a function of the test. Every request is
logged, and faults can be scripted: each request takes the next scripted fault, then the server is well again.

    with LoopbackProvider() as server:
        server.script(refuse(429, retry_after="2"), FEWER)
        ApiEmbedder("openai", "small", base_url=server.base_url("openai")).embed_texts(["nurse"])
        assert server.texts == ["nurse"] * 3
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
DIMENSION = 8
CHAT_PATH = "/v1/chat/completions"
COMPLETIONS_PATH = "/v1/completions"


def vector_of(text: str, dimension: int = DIMENSION) -> Vector:
    """The vector that the server gives to a text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: a refusal, a delay, a broken body, or strange vectors."""

    status: int = 200
    message: str = "scripted"
    code: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    body: Callable[[bytes], bytes] = lambda body: body
    #: From (index, vector) pairs in order to those that are answered.
    vectors: Callable[[list[tuple[int, Vector]]], list[tuple[int, Vector]]] = lambda pairs: pairs
    drop: bool = False
    cut: bool = False
    #: Seconds between any two bytes of the answer, headers included.
    drip: float = 0.0
    #: From the tokens that the server counted to what it says of them.
    usage: Callable[[int], Any] = lambda tokens: tokens
    #: From numbers of a vector to what is answered in their place, where it is not base64.
    numbers: Callable[[list[float]], list[Any]] = lambda numbers: numbers


def refuse(status: int, message: str = "scripted refusal", *, code: str | None = None, **headers: str) -> Fault:
    """An HTTP error; headers by keyword, ``retry_after="2"`` for Retry-After."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Fault(status=status, message=message, code=code, headers=named)


def slow(seconds: float) -> Fault:
    """A right answer, but late."""
    return Fault(delay=seconds)


WELL = Fault()
DROPPED = Fault(drop=True)
CUT_SHORT = Fault(cut=True)
HALF_JSON = Fault(body=lambda body: body[: len(body) // 2])
NOT_THE_SHAPE = Fault(body=lambda _: b'{"surprise": []}')
FEWER = Fault(vectors=lambda pairs: pairs[:-1])
SHUFFLED = Fault(vectors=lambda pairs: pairs[::-1])
WRONG_INDEX = Fault(vectors=lambda pairs: [(0, vector) for _, vector in pairs])
NOT_FINITE = Fault(vectors=lambda pairs: [(i, vector * np.float32("nan")) for i, vector in pairs])
ZERO = Fault(vectors=lambda pairs: [(i, vector * 0) for i, vector in pairs])
WRONG_DIMENSION = Fault(vectors=lambda pairs: [(i, vector[:-1]) for i, vector in pairs])
UNEVEN = Fault(vectors=lambda pairs: [(i, vector[: len(vector) - i]) for i, vector in pairs])


def refused_url() -> str:
    """An address at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


@dataclass(frozen=True)
class Said:
    """What a chat model answers."""

    content: str | None
    finish: str = "stop"
    refusal: str | None = None
    #: The likeliest first tokens with their log-probabilities; None for a server that says nothing of them.
    top: dict[str, float] | None = None


@dataclass
class Request:
    """One request as the server saw it."""

    path: str
    authorization: str
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body.get("texts") or self.body.get("input") or [])

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass
class LoopbackProvider:
    """The server; a context manager."""

    #: Where set, any other key is refused with 401, and the refusal quotes the key that was sent.
    key: str | None = None
    #: False: answers plain numbers even where base64 was asked for, as small servers do.
    base64: bool = True
    reports_usage: bool = True
    #: The chat model: from a prompt to what it says.
    says: Callable[[str], Said] = lambda _: Said("Hello.")
    #: The language model: from the body of a request to completions to the body of the answer.
    completes: Callable[[dict[str, Any]], dict[str, Any]] = lambda _: {}
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def base_url(self, provider: str) -> str:
        root = f"http://127.0.0.1:{self._server.server_port}"
        return {"openai": f"{root}/v1", "voyage": f"{root}/voyage/v1", "cohere": root}[provider]

    def script(self, *faults: Fault) -> None:
        self.faults.extend(faults)

    def next_fault(self) -> Fault:
        with self._lock:
            return self.faults.pop(0) if self.faults else WELL

    @property
    def texts(self) -> list[str]:
        """Every text asked, in order, also of requests that failed."""
        return [text for request in self.requests for text in request.texts]

    def wait(self, seconds: float) -> None:
        self._closing.wait(seconds)

    def answer(self, request: Request, fault: Fault) -> dict[str, Any]:
        body = request.body
        if request.path == CHAT_PATH:
            return self._chat(request)
        if request.path == COMPLETIONS_PATH:
            return self.completes(body)
        dimension = body.get("dimensions") or body.get("output_dimension") or DIMENSION
        pairs = fault.vectors([(i, vector_of(text, dimension)) for i, text in enumerate(request.texts)])
        tokens = fault.usage(sum(len(text.split()) for text in request.texts))
        if request.path.endswith("/v2/embed"):
            meta = {"meta": {"billed_units": {"input_tokens": tokens}}} if self.reports_usage else {}
            floats = [fault.numbers(vector.tolist()) for _, vector in pairs]
            return {"id": "1", "embeddings": {"float": floats}, "texts": request.texts, **meta}
        usage = {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}} if self.reports_usage else {}
        encode = _base64 if self.base64 and body.get("encoding_format") == "base64" else np.ndarray.tolist
        data = [{"object": "embedding", "index": i, "embedding": encode(vector)} for i, vector in pairs]
        return {"object": "list", "data": data, "model": body.get("model"), **usage}

    def _chat(self, request: Request) -> dict[str, Any]:
        said = self.says(request.prompt)
        read, written = len(request.prompt.split()), len((said.content or "").split())
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        message = {"role": "assistant", "content": said.content, "refusal": said.refusal}
        logprobs = None
        if request.body.get("logprobs") and said.top:
            top = [{"token": token, "logprob": one, "bytes": None} for token, one in said.top.items()]
            logprobs = {"content": [{**top[0], "top_logprobs": top[: request.body["top_logprobs"]]}], "refusal": None}
        return {
            **{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request.body.get("model")},
            "choices": [{"index": 0, "message": message, "logprobs": logprobs, "finish_reason": said.finish}],
            **({"usage": usage} if self.reports_usage else {}),
        }


def _base64(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _refusal(path: str, fault: Fault) -> dict[str, Any]:
    if path.endswith("/v2/embed"):
        return {"id": "1", "message": fault.message}
    if path.startswith("/voyage"):
        return {"detail": fault.message}
    return {"error": {"message": fault.message, "type": "scripted", "param": None, "code": fault.code}}


def _handler(provider: LoopbackProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name http.server calls
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            request = Request(self.path, self.headers.get("Authorization", ""), body)
            provider.requests.append(request)
            fault = provider.next_fault()
            if provider.key is not None and request.authorization != f"Bearer {provider.key}":
                fault = refuse(401, f"Incorrect API key provided: {request.authorization.split()[-1]}.")
            elif self.path not in ("/v1/embeddings", "/voyage/v1/embeddings", "/v2/embed", CHAT_PATH, COMPLETIONS_PATH):
                fault = refuse(404, f"no such path: {self.path}")
            provider.wait(fault.delay)
            if not fault.drop:
                self._reply(request, fault)

        def _drip(self, raw: bytes, seconds: float) -> None:
            with suppress(ConnectionError):
                for byte in b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(raw) + raw:
                    self.wfile.write(bytes([byte]))
                    provider.wait(seconds)

        def _reply(self, request: Request, fault: Fault) -> None:
            refused = fault.status >= 400
            content = _refusal(self.path, fault) if refused else provider.answer(request, fault)
            raw = fault.body(json.dumps(content).encode())
            if fault.drip:
                self._drip(raw, fault.drip)
                return
            with suppress(ConnectionError):  # the client may have given up
                self.send_response(fault.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                for name, value in fault.headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw[: len(raw) // 2] if fault.cut else raw)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the tests read ``requests``."""

    return Handler


__all__: Sequence[str] = [
    "CUT_SHORT", "DIMENSION", "DROPPED", "FEWER", "HALF_JSON", "NOT_FINITE", "NOT_THE_SHAPE", "SHUFFLED",
    "UNEVEN", "WELL", "WRONG_DIMENSION", "WRONG_INDEX", "ZERO",
    "Fault", "LoopbackProvider", "Request", "Said", "refuse", "refused_url", "slow", "vector_of",
]  # fmt: skip
