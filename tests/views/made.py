"""Readings with planted numbers, for tests of what views make of them."""

from __future__ import annotations

from typing import Any

from tiltmeter import Audit
from tiltmeter.readings import Estimate, LeftOut, Reading
from tiltmeter.statistics import Interval

EVIL = "<script>alert('a')</script> & \"b\" \\1"


def d(value: float, *, half: float = 0.3, p: float | None = 0.001) -> Estimate:
    """An effect size with its interval."""
    ci = Interval(value - half, value + half, 0.95, "planted")
    return Estimate("effect size d", value, 0.0, "nearer to 0 is better", ci, p, "two-sided", True)


def share(value: float, *, half: float = 0.05, p: float | None = 0.001) -> Estimate:
    """A share around one half with its interval."""
    ci = Interval(value - half, value + half, 0.95, "planted")
    return Estimate("share to men", value, 0.5, "nearer to 0.5 is better", ci, p, "two-sided", False)


def reading(model: str = "own:one", id: str = "career", effect: Estimate | None = None, **fields: Any) -> Reading:
    """A reading of two groups of four words."""
    items = tuple(
        {"word": word, "group": group, "lean": lean}
        for group, words in (("men", ("he", "him", "son", "boy")), ("women", ("she", "her", "girl", "aunt")))
        for word, lean in zip(words, (0.4, 0.2, 0.1, -0.1) if group == "men" else (-0.4, -0.3, -0.2, 0.05), strict=True)
    )
    usual: dict[str, Any] = {
        "id": id,
        "probe": "weat",
        "title": f"Title of {id}",
        "model": model,
        "effect": effect or d(0.9),
        "published": None,
        "correction": "",
        "leans": "men → career, women → family",
        "strength": "large",
        "plain_words": f"Plain words of {id}.",
        "n_items": len(items),
        "n_units": len(items),
        "items": items,
        "left_out": (LeftOut("'xyz' (men)", f"out of vocabulary of {model}"),),
        "caveats": ("What counts as bias here: words should be level.", "Mind this."),
        "provenance": {
            "citation": "Somebody 2017",
            "model": {"name": model, "revision": "abc123", "settings": {"layer": "-1"}},
            "settings": {"alternative": "two-sided", "permutations": 10_000, "seed": 0},
            "stimuli": "0123456789abcdef",
            "versions": {"python": "3.11", "tiltmeter": "0.1.0"},
        },
    }
    return Reading(**{**usual, **fields})


def cloze(context: str, corrected: float, published: float, *, model: str = "own:one") -> Reading:
    """A reading of ClozeGender in one context."""

    def numbers(to_1: float) -> dict[str, float]:
        return {"to_1": to_1, "to_2": 1 - to_1, "low": to_1 - 0.05, "high": to_1 + 0.05}

    details = {
        "context": context,
        "variant": "all",
        "groups": ["men", "women"],
        "corrected": numbers(corrected),
        "published": numbers(published),
    }
    return reading(
        model,
        f"cloze-{context}",
        share(corrected),
        probe="cloze",
        published=share(published),
        correction="The sentence is ended.",
        strength="",
        details=details,
    )


def lpbs(structures: dict[str, list[tuple[float, float]]]) -> Reading:
    """A reading of log-probability bias: prior and corrected bias of items by structure."""
    items = tuple(
        {
            "word": f"word {n}",
            "group": "traits" if n % 2 else "others",
            "structure": structure,
            "fill_bias": prior + added,
            "prior_bias": prior,
            "association": added,
        }
        for structure, points in structures.items()
        for n, (prior, added) in enumerate(points)
    )
    return reading(id="lpbs", probe="lpbs", items=items, details={"poles": ["men", "women"]})


def audit(*readings: Reading, **fields: Any) -> Audit:
    """An audit of these readings that was not stored."""
    models = tuple(dict.fromkeys(each.model for each in readings))
    usual: dict[str, Any] = {
        "suite": "default",
        "models": models,
        "readings": readings,
        "skipped": (),
        "asked": 0,
        "recalled": 0,
    }
    return Audit(**{**usual, **fields})
