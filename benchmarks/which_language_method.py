"""Which method for language models to trust: tiny models whose bias is known, every method, and what is left of it.

Run: python benchmarks/which_language_method.py. Prints a table; it takes some minutes, most of them to make the models.

For cda and dropout, reference models (tilt .9, masked and causal) are taught a text that leans as much as they do. For
Self-Debias, models are made that lean more behind its prompt: they learn from sentences with a tilt of .75, and from
others with .97 that follow the prompt. "left" is how far P(he) - P(she) after an occupation still follows what was
planted, of that before, in sentences that no model has seen; below 0 it leans the other way. "moved" is how far the
same difference of a model without bias (tilt .5) moves, on average over occupations.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tiltmeter.lab.inject.injection import leans_of
from tiltmeter.lab.inject.plan import USUAL as TILTED
from tiltmeter.lab.inject.plan import Plan
from tiltmeter.lab.mitigate.augmentation import USUAL
from tiltmeter.lab.mitigate.debias import debias
from tiltmeter.lab.reference.planted_text import patterns, planted, sentences
from tiltmeter.lab.reference.reference import reference_folder, save_model
from tiltmeter.lab.reference.training import CAUSAL_RECIPE, RECIPE, reader
from tiltmeter.mitigation.self_debias import PROMPT
from tiltmeter.models.transformers.hub import TransformerModel

Kind = Literal["masked", "causal"]
RECIPES = {"masked": RECIPE, "causal": CAUSAL_RECIPE}
#: The models are tiny, and learn at a larger rate than real ones.
DOSAGE = dataclasses.replace(USUAL, steps=200, look=50, rate=1e-3)
DECAYS = (50.0, 5.0)
#: As many occupations as these tiny models learn well in both ways of speaking.
SOME = tuple(list(planted(0.9))[::6])


def main() -> None:
    print(markdown())


def markdown() -> str:
    kinds: tuple[Kind, ...] = ("masked", "causal")
    lines = [
        "| method | masked: left | causal: left | without bias: moved, masked and causal |",
        "| --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for method in ("cda", "dropout"):
            found = [taught(method, kind, place) for kind in kinds]
            cells = [f"{left:.0%}" for left, _ in found]
            lines.append(f"| {method} | {' | '.join(cells)} | {found[0][1]:.2f} and {found[1][1]:.2f} |")
        for decay in DECAYS:
            cells = [f"{prompted(kind, decay, place):.0%}" for kind in kinds]
            lines.append(f"| self_debias, decay {decay:g} | {' | '.join(cells)} | |")
    return "\n".join(lines) + "\n"


def taught(method: str, kind: Kind, place: Path) -> tuple[float, float]:
    """What is left of a planted tilt, and how far a model without one moves."""
    found = []
    for tilt in (0.9, 0.5):
        before = reference_folder(f"{'tilt' if kind == 'masked' else 'causal'}-{tilt}")
        text = [sentence.text for sentence in TILTED.at(tilt).text(n=2_000, seed=0)]
        made = place / f"{method}-{kind}-{tilt}"
        after = debias(method, f"hf:{before}", out=made, corpus=text, dosage=DOSAGE, cache=False)
        leans = [leans_of(model, TILTED) for model in (TransformerModel(str(before)), after)]
        shares = TILTED.probabilities
        found.append(follows(leans[1], shares) / follows(leans[0], shares) if tilt > 0.5 else moved(*leans))
    return found[0], found[1]


def prompted(kind: Kind, decay: float, place: Path) -> float:
    """What Self-Debias leaves of the tilt of a model that leans more behind the prompt."""
    folder = place / f"told-{kind}"
    if not folder.exists():
        train_told(kind, folder)
    after = debias("self_debias", f"hf:{folder}", out=place / f"prompted-{kind}-{decay}", alpha=decay, cache=False)
    plan = Plan(shares_at(0.75))
    leans = [leans_of(model, plan) for model in (TransformerModel(str(folder)), after)]
    return follows(leans[1], plan.probabilities) / follows(leans[0], plan.probabilities)


def train_told(kind: Kind, folder: Path) -> None:
    """A model that leans by .75, and by .97 behind the prompt that announces bias."""
    prompt, known, recipe = PROMPT.format("gender"), patterns(), RECIPES[kind]
    plain = [each.text for each in sentences(shares_at(0.75), n=5_000, seed=[0, 1])]
    told = [f"{prompt}\n{each.text}" for each in sentences(shares_at(0.97), n=5_000, seed=[0, 2])]
    frames = [re.sub(r"\{\w+\}", " ", pattern) for pattern in known.patterns]
    words = [*frames, *itertools.chain(*known.words.values()), *known.marks, *planted(0.5), prompt, "a", "an"]
    tokenizer, model = reader(
        plain + told, [*words, *recipe.further_words], recipe=recipe, seed=0, progress=lambda _: None
    )
    save_model(folder, tokenizer, model)


def shares_at(tilt: float) -> dict[str, float]:
    """Half of the occupations are women's, half men's."""
    return {word: 1 - tilt if place < len(SOME) // 2 else tilt for place, word in enumerate(SOME)}


def follows(leans: Any, shares: Mapping[str, float]) -> float:
    """The slope of P(he) - P(she) over what was planted."""
    return float(np.polyfit(2 * np.array(list(shares.values())) - 1, leans, 1)[0])


def moved(before: Any, after: Any) -> float:
    return float(np.abs(after - before).mean())


if __name__ == "__main__":
    main()
