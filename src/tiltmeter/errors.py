"""Errors a user can mend. Each is one line that says what is wrong and what to do about it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from importlib.util import find_spec


def without_passwords(text: str) -> str:
    """A text without the users and passwords of addresses in it.

    >>> without_passwords("openai:m?base_url=http://ann:hunter2@host/v1")
    'openai:m?base_url=http://host/v1'
    """
    return re.sub(r"(?<=://)[^\s/@]+@", "", text)


class TiltmeterError(Exception):
    """Base of everything tiltmeter raises on purpose; the command line prints it and exits with 2."""

    def __str__(self) -> str:
        return without_passwords(super().__str__())


class BadInput(TiltmeterError):
    """A file, word list, option or vector that cannot be used as it is."""


class DataMissing(BadInput):
    """A public data set that is not on this machine: what needs it is left out, and the rest is measured."""


class MissingExtra(TiltmeterError):
    """A part of tiltmeter that needs an optional dependency which is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'tiltmeter[{extra}]'")


def require(what: str, extra: str, *modules: str) -> None:
    """Raise ``MissingExtra`` unless all the modules that a part of tiltmeter needs are installed; imports none of them.

    >>> require("counting", "none", "math")
    >>> require("a reference model", "hf", "no_such_module")
    Traceback (most recent call last):
    tiltmeter.errors.MissingExtra: a reference model needs the extra 'hf': pip install 'tiltmeter[hf]'
    """
    if any(find_spec(module) is None for module in modules):
        raise MissingExtra(what, extra)


class ModelFailed(TiltmeterError):
    """A model or its provider did not answer: refused, unreachable, or answered nonsense."""


class BudgetSpent(TiltmeterError):
    """The next request would go over the budget the user gave; what was bought so far is kept."""


class CacheUnusable(TiltmeterError):
    """The store of answers cannot be read or written: whatever is asked would be lost, so nothing more is."""


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Suggest the nearest known names, or list them all where nothing is near.

    >>> did_you_mean("waet", ["weat", "seat", "mac"])
    "did you mean 'weat'?"
    >>> did_you_mean("xyz", ["weat", "mac"])
    'known: mac, weat'
    """
    names = sorted(set(choices))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known: {', '.join(names)}" if names else "none are known"


def unknown(kind: str, name: str, choices: Iterable[str]) -> BadInput:
    """The error for a name that does not exist.

    >>> str(unknown("probe", "waet", ["weat"]))
    "unknown probe 'waet': did you mean 'weat'?"
    """
    return BadInput(f"unknown {kind} '{name}': {did_you_mean(name, choices)}")
