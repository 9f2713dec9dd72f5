"""Readings with planted numbers, for tests of what views make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiltmeter import Audit
from tiltmeter.models import Identity
from tiltmeter.readings import (
    SHARE,
    About,
    D,
    Estimate,
    Item,
    ItemMeaning,
    LeftOut,
    Poles,
    Provenance,
    Reading,
    Statistic,
)
from tiltmeter.readings.details.cloze import ClozeDetails, ClozeShares
from tiltmeter.statistics import Interval

EVIL = "<script>alert('a')</script> & \"b\" \\1"
POLES = Poles("men → career, women → family", "women → career, men → family")


def d(value: float, *, half: float = 0.3, p: float | None = 0.001) -> Estimate:
    """An effect size with its interval."""
    ci = Interval(value - half, value + half, 0.95, "planted")
    return Estimate("effect size d", value, D, ci, p, "two-sided", True)


def share(value: float, *, half: float = 0.05, p: float | None = 0.001) -> Estimate:
    """A share around one half with its interval."""
    ci = Interval(value - half, value + half, 0.95, "planted")
    return Estimate("share to men", value, SHARE, ci, p, "two-sided", False)


def words(leans: Mapping[str, float] | Sequence[tuple[str, float]], group: str = "all") -> tuple[Item, ...]:
    """Items of words with these values; a word may come twice."""
    pairs = leans.items() if isinstance(leans, Mapping) else leans
    return tuple(Item(f"{word} {n}", word, group, value) for n, (word, value) in enumerate(pairs))


def reading(model: str = "own:one", id: str = "career", effect: Estimate | None = None, **fields: Any) -> Reading:
    """A reading of two groups of four words."""
    items = tuple(
        Item(word, word, group, lean)
        for group, words in (("men", ("he", "him", "son", "boy")), ("women", ("she", "her", "girl", "aunt")))
        for word, lean in zip(words, (0.4, 0.2, 0.1, -0.1) if group == "men" else (-0.4, -0.3, -0.2, 0.05), strict=True)
    )
    usual: dict[str, Any] = {
        "id": id,
        "probe": "weat",
        "title": f"Title of {id}",
        "model": model,
        "dimension": "gender",
        "control": False,
        "family": "bias",
        "effect": effect or d(0.9),
        "published": None,
        "repair": "",
        "poles": POLES,
        "finding": f"Plain words of {id}.",
        "n_items": len(items),
        "n_units": len(items),
        "items": items,
        "item_meaning": ItemMeaning("lean", Poles("career", "family")),
        "statistic": Statistic("d of units", between=("men", "women")),
        "left_out": (LeftOut("'xyz' (men)", f"out of vocabulary of {model}"),),
        "notes": (),
        "about": About("Summary of weat", "words should be level.", "Somebody 2017", ("Mind this.",)),
        "provenance": Provenance(
            model=Identity(model, "abc123", {"layer": "-1"}),
            stimuli="0123456789abcdef",
            settings={"alternative": "two-sided", "permutations": 10_000, "seed": 0},
            versions={"python": "3.11", "tiltmeter": "0.1.0"},
        ),
    }
    return Reading(**{**usual, **fields})


def cloze(context: str, repaired: float, published: float, *, model: str = "own:one") -> Reading:
    """A reading of ClozeGender in one context."""

    def shares(to_1: float) -> ClozeShares:
        return ClozeShares(to_1, 1 - to_1, 0.1, None, 0, to_1 - 0.05, to_1 + 0.05, 0.01)

    return reading(
        model,
        f"cloze-{context}",
        share(repaired),
        probe="cloze",
        published=share(published),
        repair="The sentence is ended.",
        poles=Poles("towards men", "towards women"),
        details=ClozeDetails(
            "all", context, "last", ("men", "women"), 100, published=shares(published), repaired=shares(repaired)
        ),
    )


def lpbs(structures: dict[str, list[tuple[float, float]]]) -> Reading:
    """A reading of log-probability bias: prior bias and association of items by structure."""
    items = tuple(
        Item(
            f"word {n}",
            f"word {n}",
            "traits" if n % 2 else "others",
            added,
            {"structure": structure, "fill_bias": prior + added, "prior_bias": prior},
        )
        for structure, points in structures.items()
        for n, (prior, added) in enumerate(points)
    )
    return reading(id="lpbs", probe="lpbs", items=items, item_meaning=ItemMeaning("association", Poles("men", "women")))


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
