"""OpenAI's completions protocol around a Transformers model: what a server answers, key by key.

Log-probabilities come from one plain pass per text, with nothing of tiltmeter's batches in between. Tokens are written
as vLLM writes them: decoded one by one, so that a part of a character shows as a replacement sign.
"""

from __future__ import annotations

import threading
from typing import Any

import torch


class CompletionsWire:
    """Answers bodies of requests. ``bos`` is a start mark that the server puts before every prompt, if any."""

    def __init__(self, model: Any, tokenizer: Any, *, bos: bool = False) -> None:
        self.model, self.tokenizer, self.bos = model, tokenizer, bos
        #: How many texts were answered.
        self.answered: list[str] = []
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        with self._lock:
            choices = [self._choice(index, prompt, body) for index, prompt in enumerate(prompts)]
            self.answered += prompts
        read = sum(len(self._ids(prompt)) for prompt in prompts)
        written = body["max_tokens"] * len(prompts)
        usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        head = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": body["model"]}
        return {**head, "choices": choices, "usage": usage}

    def _ids(self, prompt: str) -> list[int]:
        ids = self.tokenizer(prompt, add_special_tokens=False)["input_ids"]
        return [self.tokenizer.bos_token_id, *ids] if self.bos else ids

    @torch.no_grad()
    def _choice(self, index: int, prompt: str, body: dict[str, Any]) -> dict[str, Any]:
        ids = self._ids(prompt)
        read, drawn = len(ids), torch.Generator().manual_seed(body.get("seed", 0))
        for _ in range(body["max_tokens"]):
            logits = self.model(input_ids=torch.tensor([ids])).logits[0, -1].float()
            heat = body.get("temperature", 1.0)
            ids = [
                *ids,
                int(torch.multinomial((logits / heat).softmax(-1), 1, generator=drawn))
                if heat
                else int(logits.argmax()),
            ]
        written = self.tokenizer.decode(ids[read:])
        choice = {"index": index, "text": written, "logprobs": None, "finish_reason": "length", "stop_reason": None}
        logprobs = self.model(input_ids=torch.tensor([ids])).logits[0].float().log_softmax(-1)
        each = [None, *(float(logprobs[at - 1, token]) for at, token in enumerate(ids) if at)]
        if body.get("echo"):
            choice["text"] = prompt + written
        if body.get("logprobs") is not None:
            start = 0 if body.get("echo") else read
            choice["logprobs"] = self._listed(ids[start:], each[start:])
        if "prompt_logprobs" in body:
            entry = [{"logprob": one, "rank": 1, "decoded_token": self.tokenizer.decode([token])}
                     for token, one in zip(ids[:read], each, strict=False)]  # fmt: skip
            choice["prompt_logprobs"] = [
                None,
                *({str(token): one} for token, one in zip(ids[1:read], entry[1:], strict=True)),
            ]
        return choice

    def _listed(self, ids: list[int], logprobs: list[float | None]) -> dict[str, Any]:
        tokens = [self.tokenizer.decode([token]) for token in ids]
        offsets = [sum(map(len, tokens[:at])) for at in range(len(tokens))]
        top = [None if one is None else {token: one} for token, one in zip(tokens, logprobs, strict=True)]
        return {"text_offset": offsets, "token_logprobs": logprobs, "tokens": tokens, "top_logprobs": top}
