"""A masked language model that is taught without the work that no loss reads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from tiltmeter.lab.inject.examples import NOT_ASKED

#: Largest difference in loss that the short way may make on the trial batch.
_AGREES = 1e-4


@contextlib.contextmanager
def head_where_asked(model: Any, trial: Mapping[str, Any]) -> Iterator[None]:
    """Let the head of a masked language model project nothing but the places that are asked for.

    With tens of thousands of words in a vocabulary the head costs as much as all layers below it, and most places are
    not asked for. The loss leaves these out in any case. A model that gives another loss for the ``trial`` batch this
    way is built otherwise, and taught as it is.
    """
    whole = _loss(model, trial)
    asked: list[Any] = []

    def before(_module: Any, inputs: Any, given: dict[str, Any]) -> Any:
        asked[:] = [given["labels"] != NOT_ASKED]
        return inputs, {**given, "labels": given["labels"][asked[0]].unsqueeze(0)}

    def after(_module: Any, _inputs: Any, output: Any) -> Any:
        first = next(iter(output))
        output[first] = output[first][asked[0]].unsqueeze(0)
        return output

    hooks = [model.register_forward_pre_hook(before, with_kwargs=True), model.base_model.register_forward_hook(after)]
    try:
        if not _agrees(model, trial, whole):
            _remove(hooks)
        yield
    finally:
        _remove(hooks)


def _agrees(model: Any, trial: Mapping[str, Any], whole: float) -> bool:
    try:
        return abs(_loss(model, trial) - whole) < _AGREES
    except Exception:  # whatever an architecture of another kind says to it
        return False


def _loss(model: Any, batch: Mapping[str, Any]) -> float:
    import torch

    model.eval()
    with torch.inference_mode():
        return float(model(**batch).loss)


def _remove(hooks: list[Any]) -> None:
    for hook in hooks:
        hook.remove()
