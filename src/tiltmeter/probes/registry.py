"""Probes by the name of their kind: ours, and those of other packages (entry point group ``tiltmeter.probes``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.plugins import Registry
from tiltmeter.probes.cabm import cabm
from tiltmeter.probes.ceat import ceat
from tiltmeter.probes.cloze import cloze
from tiltmeter.probes.generation import bold, counterfactual, honest
from tiltmeter.probes.kind import Kind, Options, Part, Probe
from tiltmeter.probes.sentences import bbq, lpbs, pairs, pronouns, stereoset, unmask
from tiltmeter.probes.words.direction import DIRECT_BIAS, RIPA, SAME, SEMAXIS
from tiltmeter.probes.words.gonen_goldberg import CLUSTER_BIAS, NEIGHBOUR_BIAS
from tiltmeter.probes.words.nearness import ECT, MAC, RND, RNSB
from tiltmeter.probes.words.seat import ASSOCIATION, SEAT
from tiltmeter.probes.words.weat import MULTI_WEAT, WEAT, WEFAT

WORD_KINDS: tuple[Kind[Any], ...] = (
    *(WEAT, SEAT, ASSOCIATION, RND, ECT, MULTI_WEAT, WEFAT, SEMAXIS, MAC, SAME, RNSB),
    *(RIPA, DIRECT_BIAS, CLUSTER_BIAS, NEIGHBOUR_BIAS),
)
_OTHERS: tuple[Kind[Any], ...] = tuple(
    module.KIND
    for module in (*(bbq, bold, cabm, ceat, cloze, counterfactual, honest, lpbs, pairs, pronouns, stereoset, unmask),)
)
KINDS: Registry[Kind[Any]] = Registry("tiltmeter.probes", Kind, {kind.name: kind for kind in (*WORD_KINDS, *_OTHERS)})


def find_kind(name: str) -> Kind[Any]:
    """A kind of probe by name; hyphens and underscores are the same.

    >>> find_kind("direct-bias").accepts
    ('targets', 'pairs')
    """
    try:
        return KINDS[name.replace("-", "_")]
    except KeyError:
        raise unknown("probe", name, KINDS) from None


def make_probes(
    name: str,
    *,
    id: str | None = None,
    title: str | None = None,
    options: Options | None = None,
    dimension: str | None = None,
    control: bool = False,
    **stimuli: Any,
) -> list[Probe[Any]]:
    """The probes of a kind with the stimuli given, or its default ones: the whole first, then its parts.

    Args:
        name: the kind.
        id: how readings are called; the kind's name unless given. Parts have their own name behind it.
        title: how it stands in tables.
        options: how the statistics are done.
        dimension: what the groups differ in, where the stimuli do not say so.
        control: whether it is a test that should lean, and no finding.
        stimuli: what the kind accepts (``find_kind(name).accepts``): groups and pairs as addresses or as the words
            themselves, ``data`` as a name, a file or a folder.

    >>> [probe.id for probe in make_probes("weat", targets=[["he", "him"], ["she", "her"]])]
    ['weat']
    """
    kind = find_kind(name)
    chosen = {key: value for key, value in stimuli.items() if value is not None}
    for key in chosen:
        if key not in kind.accepts:
            raise _not_accepted(name, key, kind.accepts)
    if not isinstance(data := chosen.get("data", ""), str | Path):
        raise BadInput(f"data (--from) of {name} is a name, a file or a folder, not {data!r}")
    return [
        Probe(
            id=f"{id or kind.name}-{part.name}" if part.name else id or kind.name,
            title=_title(title, part),
            kind=kind,
            stimuli=part.stimuli,
            options=options or Options(),
            vectors=part.vectors,
            dimension=part.dimension if dimension is None else dimension,
            control=control,
        )
        for part in kind.make(**chosen)
    ]


def _title(whole: str | None, part: Part[Any]) -> str:
    """A part's title with that of the whole before it, where it does not say so itself."""
    if not whole:
        return part.title
    return whole if not part.name else part.title if part.title.startswith(whole) else f"{whole}: {part.title}"


def _not_accepted(name: str, key: str, accepted: tuple[str, ...]) -> BadInput:
    if any(key in kind.accepts for kind in KINDS.complete().values()):
        shown = "data (--from)" if key == "data" else key
        return BadInput(f"{name} takes no {shown}: leave it out; it takes {', '.join(accepted)}")
    return unknown(f"option of {name}", key, (*accepted, "id", "title", "dimension", "control"))
