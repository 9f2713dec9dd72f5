"""The noise floor of a gate: how far harmless changes of a model move an effect, all its items together.

Items that disagree between two models show one kind of noise. They cannot show the other: weights rounded to 8 bits
move all items of a probe a little the same way, which looks like growth. But the two go together: what disturbs single
items twice as much moves all of them twice as far, be it noise or rounding, to 8 bits or to 6. How many times further
an effect moves than the disagreement of its items says is measured on harmless variants of the baseline's model and on
other runs of its training (``tiltmeter baseline``), or else taken from the sample models.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tiltmeter.compare.difference import Difference, differ, pair_units
from tiltmeter.compare.policy import NotNegative
from tiltmeter.compare.sample_floor import SAMPLES_N, is_of_vectors, sample_wobble
from tiltmeter.errors import BadInput
from tiltmeter.files import check as check_shape
from tiltmeter.files import read_json, write_atomically
from tiltmeter.readings import Audit, Reading
from tiltmeter.statistics import Result
from tiltmeter.statistics.differences import Change

#: The file beside an audit that says how far harmless changes move it.
FILE = "noise.json"
#: A change is harmless if, in the median probe, scores of units correlate so well with those of the model itself.
HARMLESS = 0.95
#: Fewer variants, or other runs, say too little of a spread.
FEWEST = 3

Source: TypeAlias = Literal["variants", "runs", "samples", "policy"]


class ProbeNoise(BaseModel):
    """How many times further than the noise of its items says an effect moves, and the mean log-odds behind it.

    ``source`` says whether variants of the model or other runs moved it further, and ``n`` how many changes that is
    known from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stimuli: str
    source: Literal["variants", "runs"]
    n: Annotated[int, Field(ge=FEWEST)]
    effect: NotNegative
    margins: NotNegative | None


class NoiseFloor(BaseModel):
    """How far harmless changes move the effects of one model, by the id of the probe."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[2] = 2
    model: str
    revision: str
    #: For each variant and each other run how well its units agree with the model's, in the median probe.
    agreement: dict[str, float]
    left_out: tuple[str, ...]
    runs: tuple[str, ...]
    probes: dict[str, ProbeNoise]


class Wobble(NamedTuple):
    """How many times their items' noise an effect and the log-odds behind it move by, as measured ``n`` times.

    ``reach`` is the agreement of units down to which that is known; None where it also holds for what agrees no better
    than two trainings do.
    """

    effect: float
    margins: float
    n: int
    source: Source
    reach: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Floor(Result):
    """What harmless changes add to the noise of one difference: SDs of the effect and of the log-odds behind it.

    ``df`` and ``margins_df`` are the degrees of freedom of the noise of items and floor together.
    """

    effect: float
    margins: float
    df: float
    margins_df: float
    source: Source


def measure_noise(model: Audit, variants: Mapping[str, Audit], runs: Mapping[str, Audit] | None = None) -> NoiseFloor:
    """The floor of a model from audits of its variants and of other runs of its training, by their names.

    A probe has the larger of the two floors. Runs are compared with each other too, since any could be the baseline.
    Probes of one kind wobble alike, and eight variants tell little of a single one: no probe has a smaller floor than
    those of its kind have together.
    """
    runs = runs or {}
    agreement = {name: agreement_of_audits(model, other) for name, other in {**variants, **runs}.items()}
    kept = [variant for name, variant in variants.items() if agreement[name] >= HARMLESS]
    left_out = tuple(name for name in variants if agreement[name] < HARMLESS)
    if variants and len(kept) < FEWEST:
        raise BadInput(
            f"only {len(kept)} of {len(variants)} variants are harmless (their units agree with the model's to "
            f"{HARMLESS:g}), and {FEWEST} are needed: give a larger --jitter, or run tiltmeter audit for no floor"
        )
    if runs and len(runs) < FEWEST:
        raise BadInput(f"{len(runs)} other runs say too little about how far runs differ: give at least {FEWEST}")
    by_variants = _probe_noise(model, "variants", len(kept), [(model, variant) for variant in kept])
    by_runs = _probe_noise(model, "runs", len(runs), list(itertools.combinations([model, *runs.values()], 2)))
    probes = by_variants | {
        id: noise for id, noise in by_runs.items() if id not in by_variants or noise.effect > by_variants[id].effect
    }
    return NoiseFloor(
        model=model.readings[0].model,
        revision=model.readings[0].provenance.model.revision,
        agreement={name: round(value, 6) for name, value in agreement.items()},
        left_out=left_out,
        runs=tuple(runs),
        probes=probes,
    )


def _probe_noise(
    model: Audit, source: Literal["variants", "runs"], n: int, pairs: Sequence[tuple[Audit, Audit]]
) -> dict[str, ProbeNoise]:
    """The floors of the probes of a model from pairs of audits that differ by nothing that matters, by their ids."""
    times = _by_probe(model, pairs) if n else {}
    kinds = _by_kind(model, times)
    probes = {}
    for reading in model.readings:
        if reading.id in times:
            effect, margins = times[reading.id]
            together, behind, n_alike = kinds.get((reading.probe, reading.effect.scale.name), (effect, margins, 1))
            probes[reading.id] = ProbeNoise(
                stimuli=reading.provenance.stimuli,
                source=source,
                n=n if effect >= together else n * n_alike,
                effect=max(effect, together),
                margins=margins if margins is None or behind is None else max(margins, behind),
            )
    return probes


def wobble_by_kind(model: Audit, pairs: Sequence[tuple[Audit, Audit]]) -> dict[tuple[str, str], KindWobble]:
    """How many times its items' noise an effect moves in pairs of audits, by kind of probe and scale: controls apart,
    the root mean square over the probes of a kind.
    """
    return _by_kind(model, _by_probe(model, pairs))


class KindWobble(NamedTuple):
    """The wobble of the effects of so many probes of a kind together, and of the log-odds behind them."""

    effect: float
    margins: float | None
    n_probes: int


_Times: TypeAlias = tuple[float, float | None]


def _by_probe(model: Audit, pairs: Sequence[tuple[Audit, Audit]]) -> dict[str, _Times]:
    return {reading.id: times for reading in model.readings if (times := _times(reading.id, pairs))}


def _by_kind(model: Audit, times: Mapping[str, _Times]) -> dict[tuple[str, str], KindWobble]:
    alike: dict[tuple[str, str], list[_Times]] = {}
    for reading in model.readings:
        if reading.id in times and not reading.control:
            alike.setdefault((reading.probe, reading.effect.scale.name), []).append(times[reading.id])
    wobbles = {}
    for kind, its in alike.items():
        behind = [margins for _, margins in its if margins is not None]
        together = math.sqrt(math.fsum(effect**2 for effect, _ in its) / len(its))
        margins = math.sqrt(math.fsum(own**2 for own in behind) / len(behind)) if behind else None
        wobbles[kind] = KindWobble(together, margins, len(its))
    return wobbles


def _times(id: str, pairs: Sequence[tuple[Audit, Audit]]) -> _Times | None:
    """How many times its items' noise an effect moves from one audit to the other, and the log-odds behind it.

    Root mean squares over the pairs; None where not all of them have the probe.
    """
    differences = []
    for pair in pairs:
        first, second = (next((reading for reading in audit.readings if reading.id == id), None) for audit in pair)
        difference = differ(first, second) if first and second else ""
        if isinstance(difference, str):
            return None
        differences.append(difference)
    effect = _root_mean_square(difference.change for difference in differences)
    behind = [difference.margins.change for difference in differences if difference.margins]
    if len(behind) < len(differences):
        return effect, None
    margins = _root_mean_square(behind)
    # A share moves in steps, and small changes too seldom to tell how far large ones move it.
    return max(effect, margins), margins


def _root_mean_square(changes: Iterable[Change]) -> float:
    """Of changes in standard errors; one that has none, because all items moved alike or not at all, tells nothing."""
    squares = [
        (change.difference / change.standard_error) ** 2 if change.standard_error else 0.0
        for change in changes
        if change.standard_error or not change.difference
    ]
    return math.sqrt(math.fsum(squares) / len(squares)) if squares else 0.0


def agreement_of_audits(one: Audit, two: Audit) -> float:
    """How well scores of units agree between two audits, in the median probe."""
    others = {reading.id: reading for reading in two.readings}
    return agreement_of_units((reading, others[reading.id]) for reading in one.readings if reading.id in others)


def agreement_of_units(pairs: Iterable[tuple[Reading, Reading]]) -> float:
    """How well scores of units agree between two readings, in the median of such pairs; 1 where none can be paired."""
    rows = []
    for one, two in pairs:
        pairing = pair_units(one, two, margins=True) or pair_units(one, two)
        if pairing:
            rows.append(pairing.agreement)
    return float(np.median(rows)) if rows else 1.0


def save_noise(noise: NoiseFloor, folder: Path) -> Path:
    """Write the floor beside the audit it belongs to."""
    path = folder / FILE
    write_atomically(path, (json.dumps(noise.model_dump(), indent=1, ensure_ascii=False) + "\n").encode())
    return path


def load_noise(folder: Path | None) -> NoiseFloor | None:
    """The floor stored beside an audit; None where there is none, an error where it cannot be read."""
    path = folder / FILE if folder else None
    if path is None or not path.exists():
        return None
    try:
        return check_shape(FILE, read_json(path), NoiseFloor)
    except BadInput as error:
        raise BadInput(f"{folder}: {error}: run tiltmeter baseline again, or remove the file") from None


def find_wobble(reading: Reading, noise: NoiseFloor | None) -> Wobble:
    """How far a reading of the baseline wobbles: as was measured on its model, or else on the sample models."""
    own = noise.probes.get(reading.id) if noise and noise.model == reading.model else None
    if noise and own:
        measured, about = (noise.revision, own.stimuli), reading.provenance
        if measured != (about.model.revision, about.stimuli):
            raise BadInput(
                f"the floor in {FILE} was measured on other weights or stimuli than {reading.id} of {reading.model}: "
                "run tiltmeter baseline again"
            )
        return Wobble(own.effect, own.margins or 0.0, own.n, own.source, _reach(reading, own.source))
    return Wobble(*sample_wobble(reading), SAMPLES_N, "samples", _reach(reading, "samples"))


def _reach(reading: Reading, source: Source) -> float | None:
    """Of networks the wobble of variants was seen to hold for runs of a training; of word vectors there are none."""
    return HARMLESS if is_of_vectors(reading) and source != "runs" else None


def find_floor(difference: Difference, wobble: Wobble) -> Floor:
    """What harmless changes add to a difference whose items disagree as much as these do."""
    margins = difference.margins.change if difference.margins else None
    held = 1.0 if wobble.reach is None else _held(difference.agreement, wobble.reach)
    return Floor(
        difference.change.standard_error * held * _beyond(wobble.effect),
        margins.standard_error * held * _beyond(wobble.margins) if margins else 0.0,
        _of_product(difference.change.df, wobble.n),
        _of_product(margins.df if margins else None, wobble.n),
        wobble.source,
    )


def set_floor(difference: Difference, sd: float) -> Floor:
    """The floor that a policy sets: an SD of the effect on either side; the log-odds follow in proportion."""
    change, margins = difference.change, difference.margins.change if difference.margins else None
    both = math.sqrt(2) * sd
    behind = margins.standard_error * both / change.standard_error if margins and change.standard_error else 0.0
    return Floor(
        both, behind, _of_sum(change, both), _of_sum(margins, behind) if margins else float(SAMPLES_N), "policy"
    )


def _held(agreement: float | None, reach: float) -> float:
    """The share of the items' noise that is as large as changes within reach make it, where units agree so well.

    The variance of the noise goes with 1 - r.

    >>> _held(0.99, reach=0.95), round(_held(0.80, reach=0.95), 3)
    (1.0, 0.5)
    """
    return 1.0 if agreement is None else math.sqrt(min(1.0, (1 - reach) / max(1 - agreement, 1e-12)))


def _beyond(times: float) -> float:
    """What is to be added, in SDs of the items' noise, to make it so many times as large."""
    return math.sqrt(max(times**2 - 1, 0.0))


def _of_product(df: float | None, n: int) -> float:
    """The degrees of freedom of the product of two estimates: of the items' noise, and of the wobble from n changes.

    Also where the wobble came out below 1: that it is no larger is known from n changes too.
    """
    return 1 / (1 / n + (1 / df if df else 0.0))


def _of_sum(change: Change, sd: float) -> float:
    """Satterthwaite's degrees of freedom, (a + b)² / (a² / df_a + b² / df_b), known as from variants."""
    a, b = change.standard_error**2, sd**2
    spread = (a**2 / change.df if change.df else 0.0) + b**2 / SAMPLES_N
    return (a + b) ** 2 / spread if spread else math.inf


def widen(change: Change, sd: float, df: float) -> Change:
    """A change with the noise of its items and that of harmless changes, whose variances add up: se² + sd².

    >>> widen(Change(0.5, 0.3, 18, 20), sd=0.4, df=7)
    Change(difference=0.5, standard_error=0.5, df=7, n=20)
    """
    error = math.hypot(change.standard_error, sd)
    return dataclasses.replace(change, standard_error=error, df=df if math.isfinite(df) else None)


def above_floor(difference: Difference, floor: Floor) -> Difference:
    """A difference whose noise is that of its items and the floor."""
    change, margins = widen(difference.change, floor.effect, floor.df), difference.margins
    if margins:
        moved = widen(margins.change, floor.margins, floor.margins_df)
        margins = dataclasses.replace(margins, change=moved, ci=moved.interval())
    raised = dataclasses.replace(difference, change=change, ci=change.interval(), margins=margins)
    return dataclasses.replace(raised, p_value=raised.p_differs(), p_growth=raised.p_beyond(0.0))
