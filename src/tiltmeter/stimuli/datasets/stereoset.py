"""StereoSet (Nadeem et al. 2021): one context and three sentences, within a sentence and between two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.files import read_json
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, joint_dimension
from tiltmeter.stimuli.text import normalise

_KINDS = ("intrasentence", "intersentence")
_LABELS = ("stereotype", "anti-stereotype", "unrelated")
#: Stands in the context of an example within a sentence where the word that differs goes.
BLANK = "BLANK"


def load_stereoset(path: str | Path) -> SentenceSet:
    """Read the examples, first those within a sentence, then those between two sentences.

    The forms of the slot ``sentence`` are the stereotype, the anti-stereotype and the unrelated sentence; of the part
    between two sentences, the tag ``context`` stands before it. The unit is the target term, the tag ``kind`` the
    type of bias.
    """
    file = Path(path)
    content = read_json(file)
    data = content.get("data") if isinstance(content, dict) else None
    lists = {kind: data.get(kind, []) for kind in _KINDS} if isinstance(data, dict) else {}
    if not any(lists.values()) or not all(isinstance(entries, list) for entries in lists.values()):
        raise BadInput(f"{file.name}: not StereoSet: 'data' should hold lists '{_KINDS[0]}' and '{_KINDS[1]}'")
    examples = [
        _example(entry, part, f"{file.name}: {part} {number}")
        for part, entries in lists.items()
        for number, entry in enumerate(entries, 1)
    ]
    dimension = joint_dimension(example.tags["kind"] for example in examples)
    return SentenceSet("stereoset", tuple(examples), groups=_LABELS, dimension=dimension)


def _example(entry: Any, part: str, where: str) -> Sentence:
    identity = _text(entry, "id", where)
    where = f"{where} ({identity})"
    context = _text(entry, "context", where)
    if part == "intrasentence" and BLANK not in context:
        raise BadInput(f"{where}: the context holds no {BLANK}")
    sentences: dict[str, str] = {}
    listed = entry.get("sentences")
    for item in listed if isinstance(listed, list) else []:
        label = _text(item, "gold_label", where)
        if label not in _LABELS or label in sentences:
            problem = "appears twice" if label in sentences else f"is none of {', '.join(_LABELS)}"
            raise BadInput(f"{where}: label '{label}' {problem}")
        sentences[label] = _text(item, "sentence", where)
    if missing := [label for label in _LABELS if label not in sentences]:
        raise BadInput(f"{where}: no sentence labelled {missing[0]}")
    forms = tuple(sentences[label] for label in _LABELS)
    before = "" if part == "intrasentence" else f"{context} "
    slots = {"sentence": (len(before), len(before) + len(forms[0]))}
    unit, kind = _text(entry, "target", where), _text(entry, "bias_type", where)
    tags = {"id": identity, "part": part, "kind": kind, "context": context}
    return Sentence(before + forms[0], slots, unit, {"sentence": forms}, tags)


def _text(entry: Any, key: str, where: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    text = normalise(value) if isinstance(value, str) else ""
    if not text:
        raise BadInput(f"{where}: '{key}' is missing or blank")
    return text
