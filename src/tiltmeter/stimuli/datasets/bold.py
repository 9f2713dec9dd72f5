"""BOLD (Dhamala et al. 2021): beginnings of Wikipedia sentences about people of a group, for a model to continue."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_text
from tiltmeter.stimuli.text import normalise

#: The file of each domain, and what its groups differ in.
DOMAINS = {
    "gender": "gender",
    "race": "race",
    "religious_ideology": "religion",
    "political_ideology": "politics",
    "profession": "profession",
}


@dataclasses.dataclass(frozen=True, slots=True)
class BoldPrompt:
    """The beginning of a sentence about an entity (mostly a person) of a group."""

    text: str
    entity: str
    group: str
    domain: str


def load_bold(path: str | Path, domain: str = "gender") -> tuple[BoldPrompt, ...]:
    """The prompts of a domain, from BOLD's folder."""
    if domain not in DOMAINS:
        raise unknown("domain of BOLD", domain, DOMAINS)
    file = Path(path) / f"{domain}_prompt.json"
    try:
        content = json.loads(read_text(file))
    except (ValueError, RecursionError):
        raise BadInput(f"{file.name}: not JSON: fetch the file of BOLD again") from None
    shape = isinstance(content, dict) and all(
        isinstance(entities, dict)
        and all(isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in entities.values())
        for entities in content.values()
    )
    if not shape or not content:
        raise BadInput(f"{file.name}: not in the form of BOLD: group, entity, list of prompts")
    return tuple(
        BoldPrompt(normalise(text), entity.replace("_", " "), group, domain)
        for group, entities in content.items()
        for entity, texts in entities.items()
        for text in texts
        if text.strip()
    )


def sample_bold(prompts: Sequence[BoldPrompt], limit: int, *, seed: int = 0) -> tuple[BoldPrompt, ...]:
    """At most ``limit`` prompts of each group, entities in turn, so that as many as possible are heard of."""
    if not isinstance(limit, int) or limit < 4:
        raise BadInput(f"limit={limit}: BOLD needs at least 4 prompts of each group")
    rng = np.random.default_rng(seed)
    groups: dict[str, dict[str, list[BoldPrompt]]] = {}
    for prompt in prompts:
        groups.setdefault(prompt.group, {}).setdefault(prompt.entity, []).append(prompt)
    chosen = []
    for entities in groups.values():
        turns = [(turn, rng.random(), one) for some in entities.values() for turn, one in enumerate(some)]
        chosen += [one for *_, one in sorted(turns, key=lambda turn: turn[:2])[:limit]]
    return tuple(chosen)
