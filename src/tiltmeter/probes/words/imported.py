"""Probes from files in other projects' layouts: SEAT's JSON tests, and the association study's folder."""

from __future__ import annotations

from pathlib import Path

from tiltmeter.errors import BadInput, unknown
from tiltmeter.probes.kind import Options
from tiltmeter.probes.words.making import KINDS, Probe
from tiltmeter.probes.words.sets import Query, StimulusSet
from tiltmeter.probes.words.two_groups import labels
from tiltmeter.stimuli import load_association_folder, load_seat_file

#: The comparisons the association study makes of its attribute groups.
_OPPOSED = (("career", "family"), ("leadership", "support"), ("intelligence", "physical_appearance"))


def seat_probe(path: str | Path, *, options: Options | None = None) -> Probe:
    """The test in a SEAT file (``sent-weat6.jsonl``); its words are the unit."""
    test = load_seat_file(path)
    query = Query(
        tuple(StimulusSet.of_sentences(each) for each in (test.targets_1, test.targets_2)),
        tuple(StimulusSet.of_sentences(each) for each in (test.attributes_1, test.attributes_2)),
        notes=test.warnings,
    )
    return Probe(test.name, labels(query), KINDS["seat"], query, options or Options())


def association_probes(folder: str | Path, *, options: Options | None = None) -> list[Probe]:
    """The comparisons in a folder of the association study, with its sentences as published."""
    found = load_association_folder(folder)
    if len(found.targets) != 2:
        raise BadInput(
            f"{folder}: the study compares two target lists, found {len(found.targets)}: {', '.join(found.targets)}"
        )
    # Male first, as published; any other two lists in the order of their names.
    first, second = ("male", "female") if set(found.targets) == {"male", "female"} else sorted(found.targets)
    opposed = [pair for pair in _OPPOSED if set(pair) <= set(found.attributes)]
    if not opposed and len(found.attributes) == 2:
        opposed = [(min(found.attributes), max(found.attributes))]
    if not opposed:
        raise unknown("attribute lists to compare in", str(folder), [" and ".join(pair) for pair in _OPPOSED])
    probes = []
    for one, two in opposed:
        query = Query(
            tuple(StimulusSet.of_sentences(found.target_sentences[name]) for name in (first, second)),
            tuple(StimulusSet.of_sentences(found.attribute_sentences[name]) for name in (one, two)),
            notes=found.warnings,
        )
        name = f"association-{one}-{two}"
        probes.append(Probe(name, labels(query), KINDS["association"], query, options or Options()))
    return probes
