"""StereoSet (Nadeem et al. 2021): one context and three sentences, within a sentence and between two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.files import read_json
from tiltmeter.stimuli.sentences.sets import StereoExample
from tiltmeter.stimuli.text import normalise

_KINDS = ("intrasentence", "intersentence")
_LABELS = ("stereotype", "anti-stereotype", "unrelated")
_BLANK = "BLANK"


def load_stereoset(path: str | Path) -> tuple[StereoExample, ...]:
    """Read the examples, first those within a sentence, then those between two sentences."""
    file = Path(path)
    content = read_json(file)
    data = content.get("data") if isinstance(content, dict) else None
    lists = {kind: data.get(kind, []) for kind in _KINDS} if isinstance(data, dict) else {}
    if not any(lists.values()) or not all(isinstance(entries, list) for entries in lists.values()):
        raise BadInput(f"{file.name}: not StereoSet: 'data' should hold lists '{_KINDS[0]}' and '{_KINDS[1]}'")
    examples = []
    for kind, entries in lists.items():
        for number, entry in enumerate(entries, 1):
            where = f"{file.name}: {kind} {number}"
            examples.append(_example(entry, kind, where))
    return tuple(examples)


def _example(entry: Any, kind: str, where: str) -> StereoExample:
    identity = _text(entry, "id", where)
    where = f"{where} ({identity})"
    context = _text(entry, "context", where)
    if kind == "intrasentence" and _BLANK not in context:
        raise BadInput(f"{where}: the context holds no {_BLANK}")
    sentences = {}
    listed = entry.get("sentences")
    for each in listed if isinstance(listed, list) else []:
        label = _text(each, "gold_label", where)
        if label not in _LABELS or label in sentences:
            problem = "is there twice" if label in sentences else f"is none of {', '.join(_LABELS)}"
            raise BadInput(f"{where}: label '{label}' {problem}")
        sentences[label] = (_text(each, "id", where), _text(each, "sentence", where))
    missing = [label for label in _LABELS if label not in sentences]
    if missing:
        raise BadInput(f"{where}: no sentence labelled {missing[0]}")
    in_order = {label: sentences[label] for label in _LABELS}
    return StereoExample(
        identity, kind, _text(entry, "target", where), _text(entry, "bias_type", where), context, in_order
    )


def _text(entry: Any, key: str, where: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    text = normalise(value) if isinstance(value, str) else ""
    if not text:
        raise BadInput(f"{where}: '{key}' is missing or blank")
    return text
