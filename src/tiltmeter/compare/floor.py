"""The noise floor of a gate: how far harmless changes of a model move an effect, all its items together.

Items that disagree between two models show one kind of noise. They cannot show the other: weights rounded to 8 bits
move all items of a probe a little the same way, which looks like growth. How far is measured on harmless variants of
the baseline's model (``tiltmeter baseline``), or else taken from the sample models.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tiltmeter.compare.difference import Difference, pair_units
from tiltmeter.compare.policy import NotNegative
from tiltmeter.errors import BadInput
from tiltmeter.files import check as check_shape
from tiltmeter.files import read_json, write_atomically
from tiltmeter.readings import Audit, Reading
from tiltmeter.statistics import Result
from tiltmeter.statistics.differences import Change

#: The file beside an audit that says how far harmless changes move it.
FILE = "noise.json"
#: A change is harmless if, in the median probe, scores of units correlate so well with those of the model itself.
HARMLESS = 0.99
#: Fewer variants say too little of a spread.
FEWEST = 3


class ProbeNoise(BaseModel):
    """SDs over ``variants`` harmless variants: of the effect, and of the mean log-odds behind a share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stimuli: str
    variants: Annotated[int, Field(ge=FEWEST)]
    effect: NotNegative
    margins: NotNegative | None


class Noise(BaseModel):
    """How far harmless changes move the effects of one model, by the id of the probe."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    model: str
    revision: str
    #: For each variant how well its units agree with the model's, in the median probe.
    agreement: dict[str, float]
    left_out: tuple[str, ...]
    probes: dict[str, ProbeNoise]


Source: TypeAlias = Literal["baseline", "samples", "policy"]


@dataclasses.dataclass(frozen=True, slots=True)
class Floor(Result):
    """SDs that harmless changes give an effect and the log-odds behind it, with their degrees of freedom."""

    effect: float
    margins: float
    df: float
    source: Source

    def scaled_to(self, effect: float) -> Floor:
        """The floor with another SD of the effect, as a policy sets it; the log-odds follow in proportion."""
        margins = self.margins * effect / self.effect if self.effect else effect and self.margins
        return dataclasses.replace(self, effect=effect, margins=margins, source="policy")


def measure_noise(model: Audit, variants: Mapping[str, Audit]) -> Noise:
    """The floor of a model from audits of its variants, by their names."""
    agreement = {name: _agreement(model, variant) for name, variant in variants.items()}
    kept = [variant for name, variant in variants.items() if agreement[name] >= HARMLESS]
    left_out = tuple(name for name in variants if agreement[name] < HARMLESS)
    if len(kept) < FEWEST:
        raise BadInput(
            f"only {len(kept)} of {len(variants)} variants are harmless (their units agree with the model's to "
            f"{HARMLESS:g}), and {FEWEST} are needed: give a larger --jitter, or run tiltmeter audit for no floor"
        )
    identity = model.readings[0].provenance.model
    probes = {reading.id: _probe_noise(reading, kept) for reading in model.readings}
    return Noise(
        model=model.readings[0].model,
        revision=identity.revision,
        agreement={name: round(value, 6) for name, value in agreement.items()},
        left_out=left_out,
        probes={id: noise for id, noise in probes.items() if noise},
    )


def _probe_noise(reading: Reading, variants: Sequence[Audit]) -> ProbeNoise | None:
    """None where too few variants have the probe."""
    others = [other for variant in variants for other in variant.readings if other.id == reading.id]
    if len(others) < FEWEST:
        return None
    behind = [pairing.values[1] for other in others if (pairing := pair_units(reading, other, margins=True))]
    return ProbeNoise(
        stimuli=reading.provenance.stimuli,
        variants=len(others),
        effect=_sd([other.effect.value for other in others]),
        margins=_sd(behind) if len(behind) == len(others) else None,
    )


def _sd(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1))


def _agreement(model: Audit, variant: Audit) -> float:
    """How well scores of units agree between two audits, in the median probe."""
    others = {reading.id: reading for reading in variant.readings}
    rows = []
    for reading in model.readings:
        other = others.get(reading.id)
        pairing = pair_units(reading, other, margins=True) or pair_units(reading, other) if other else None
        if pairing:
            scores = pairing.first.means(), pairing.second.means()
            rows.append(1.0 if np.array_equal(*scores) else float(np.corrcoef(*scores)[0, 1]))
    return float(np.nanmedian(rows)) if rows else 1.0


def save_noise(noise: Noise, folder: Path) -> Path:
    """Write the floor beside the audit it belongs to."""
    path = folder / FILE
    write_atomically(path, (json.dumps(noise.model_dump(), indent=1, ensure_ascii=False) + "\n").encode())
    return path


def load_noise(folder: Path | None) -> Noise | None:
    """The floor stored beside an audit; None where there is none, an error where it cannot be read."""
    path = folder / FILE if folder else None
    if path is None or not path.exists():
        return None
    try:
        return check_shape(FILE, read_json(path), Noise)
    except BadInput as error:
        raise BadInput(f"{folder}: {error}: run tiltmeter baseline again, or remove the file") from None


def find_floor(reading: Reading, noise: Noise | None) -> Floor:
    """The floor of a reading of the baseline: its own, where one was measured, or else that of the sample models."""
    own = noise.probes.get(reading.id) if noise and noise.model == reading.model else None
    if noise and own:
        measured, about = (noise.revision, own.stimuli), reading.provenance
        if measured != (about.model.revision, about.stimuli):
            raise BadInput(
                f"the floor in {FILE} was measured on other weights or stimuli than {reading.id} of {reading.model}: "
                "run tiltmeter baseline again"
            )
        return Floor(own.effect, own.margins or 0.0, own.variants - 1, "baseline")
    kind, scale = reading.probe, reading.effect.scale.name
    # A kind that was not measured has the largest floor of its scale.
    alike = [floor for (_, name), floor in SAMPLES.items() if name == scale]
    effect, margins = SAMPLES.get((kind, scale)) or (max(column) for column in zip((0.0, 0.0), *alike, strict=True))
    return Floor(effect, margins, SAMPLES_DF, "samples")


def widen(change: Change, sd: float, df: float) -> Change:
    """A change with the noise of its items and that of harmless changes, once on either side.

    The variances add up: se² + 2 sd². Both are estimates, so the degrees of freedom are Satterthwaite's:
    (a + b)² / (a² / df_a + b² / df_b).

    >>> widened = widen(Change(0.5, 0.3, 18, 20), sd=0.2, df=7)
    >>> round(widened.standard_error, 4), round(widened.df, 2)
    (0.4123, 21.18)
    """
    if not sd:
        return change
    parts = (change.standard_error**2, change.df), (2 * sd**2, df)
    variance = math.fsum(part for part, _ in parts)
    spread = math.fsum(part**2 / own for part, own in parts if own is not None)
    return dataclasses.replace(change, standard_error=math.sqrt(variance), df=variance**2 / spread)


def above_floor(difference: Difference, floor: Floor) -> Difference:
    """A difference whose noise is that of its items and the floor."""
    change, margins = widen(difference.change, floor.effect, floor.df), difference.margins
    if margins:
        moved = widen(margins.change, floor.margins, floor.df)
        margins = dataclasses.replace(margins, change=moved, ci=moved.interval())
    raised = dataclasses.replace(difference, change=change, ci=change.interval(), margins=margins)
    return dataclasses.replace(raised, p_value=raised.p_differs(), p_growth=raised.p_beyond(0.0))


#: Measured on the sample models by ``python benchmarks/floors.py``: by kind of probe and scale the largest SD that
#: harmless changes give the effect, and the log-odds behind it, in any probe on any of them.
SAMPLES: Mapping[tuple[str, str], tuple[float, float]] = {
    ("association", "d"): (0.0133, 0.0000),
    ("cloze", "share"): (0.0071, 0.0393),
    ("cluster_bias", "share"): (0.0230, 0.0000),
    ("direct_bias", "size"): (0.0024, 0.0000),
    ("ect", "coherence"): (0.0074, 0.0000),
    ("lpbs", "d"): (0.0021, 0.0000),
    ("mac", "distance"): (0.0043, 0.0000),
    ("multi_weat", "eta"): (0.0078, 0.0000),
    ("neighbour_bias", "correlation"): (0.0326, 0.0000),
    ("pairs", "share"): (0.0000, 0.0126),
    ("pronouns", "share"): (0.0055, 0.0251),
    ("ripa", "difference"): (0.0067, 0.0000),
    ("rnd", "difference"): (0.0012, 0.0000),
    ("rnsb", "size"): (0.0049, 0.0000),
    ("same", "size"): (0.0013, 0.0000),
    ("seat", "d"): (0.0192, 0.0000),
    ("semaxis", "difference"): (0.0029, 0.0000),
    ("unmask", "correlation"): (0.0007, 0.0000),
    ("unmask", "difference"): (0.0116, 0.0000),
    ("weat", "d"): (0.0526, 0.0000),
    ("wefat", "correlation"): (0.0091, 0.0000),
}
SAMPLES_DF = 7
