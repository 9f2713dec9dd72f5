"""Probes by the name of their kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias

from tiltmeter.errors import BadInput, unknown
from tiltmeter.probes import kind as new_kind
from tiltmeter.probes.cabm import cabm
from tiltmeter.probes.ceat import ceat
from tiltmeter.probes.cloze import cloze
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Kind
from tiltmeter.probes.old_language import LanguageKind, LanguageProbe
from tiltmeter.probes.sentences import lpbs, pairs, pronouns, stereoset, unmask
from tiltmeter.probes.words import making as of_vectors
from tiltmeter.probes.words.making import Probe, make_probe

AnyProbe: TypeAlias = Probe | LanguageProbe | new_kind.Probe[Any]

_NEW: Mapping[str, new_kind.Kind[Any]] = {
    module.KIND.name: module.KIND for module in (cabm, ceat, lpbs, pairs, pronouns, stereoset, unmask)
}

#: Modules of probes of language models: each has a KIND and ``make(*, data, vectors, method, options)``.
_LANGUAGE: Mapping[str, Any] = {module.KIND.name: module for module in (cloze,)}
KINDS: Mapping[str, Kind | LanguageKind | new_kind.Kind[Any]] = {
    **of_vectors.KINDS,
    **_NEW,
    **{name: module.KIND for name, module in _LANGUAGE.items()},
}
_OF_VECTORS = ("targets", "attributes", "pairs", "templates")
_OF_LANGUAGE = ("data", "vectors", "method")
#: Everything that some probe can be told, besides its id and title.
ALL_OPTIONS = (
    *_OF_VECTORS,
    *_OF_LANGUAGE,
    *dict.fromkeys(option for module in _LANGUAGE.values() for option in getattr(module, "OPTIONS", ())),
)


def find_kind(name: str) -> Kind | LanguageKind | new_kind.Kind[Any]:
    """A kind of probe by name; hyphens and underscores are the same."""
    kind = KINDS.get(name.replace("-", "_"))
    if kind is None:
        raise unknown("probe", name, KINDS)
    return kind


def make_probes(
    name: str, *, id: str | None = None, title: str | None = None, options: Options | None = None, **stimuli: Any
) -> list[AnyProbe]:
    """The probes of a kind with the stimuli given, or its default ones: one, or one a part with the whole first.

    >>> [probe.id for probe in make_probes("weat")]
    ['weat']
    """
    kind = find_kind(name)
    language = isinstance(kind, LanguageKind)
    if isinstance(kind, new_kind.Kind):
        known = kind.accepts
    else:
        known = (*_OF_LANGUAGE, *getattr(_LANGUAGE[kind.name], "OPTIONS", ())) if language else _OF_VECTORS
    given = {key: value for key, value in stimuli.items() if value is not None}
    for key in given:
        if key in ALL_OPTIONS and key not in known:
            raise BadInput(f"{name} takes no {key}: leave it out; it takes {', '.join(known)}")
        if key not in known:
            raise unknown(f"option of {name}", key, known)
    if isinstance(kind, new_kind.Kind):
        return [
            new_kind.Probe(
                "-".join(filter(None, (id or kind.name, part.name))),
                (title or part.title) if not part.name else _joined(title, part.title),
                kind,
                part.stimuli,
                options or Options(),
                part.vectors,
                part.dimension,
            )
            for part in kind.make(**given)
        ]
    if not language:
        return [make_probe(name, id=id, title=title, options=options, **given)]
    made: list[LanguageProbe] = _LANGUAGE[kind.name].make(options=options or Options(), **given)
    return [_named(each, id=id, title=title) for each in made]


def _named(probe: LanguageProbe, *, id: str | None, title: str | None) -> LanguageProbe:
    if id is None and title is None:
        return probe
    part = probe.id.removeprefix(probe.kind.name).lstrip("-")
    return dataclasses.replace(
        probe,
        id=probe.id if id is None else f"{id}-{part}" if part else id,
        title=title if title and not part else _joined(title, probe.title),
    )


def _joined(whole: str | None, part: str) -> str:
    """A part's title with that of the whole before it, where it does not say so itself."""
    return part if whole is None or part.startswith(whole) else f"{whole}: {part}"
