"""Injection: plant a known bias in a real language model by fine-tuning it on text that holds it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tiltmeter.atomic import write_atomically
from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.lab.dose_response import rank_correlation
from tiltmeter.lab.fine_tuning import Examples, fine_tune, held_out_loss
from tiltmeter.lab.injected_leans import leans_of
from tiltmeter.lab.plan import Plan
from tiltmeter.lab.text import Counts, group_patterns, patterns, realised
from tiltmeter.models.checkpoints import load as load_checkpoint
from tiltmeter.models.hub import TransformerModel
from tiltmeter.models.load import parse

_HELD_OUT = 0.1
#: What a model is left as it was, what it learns from a text without bias, and from one with it.
NORMAL, BALANCED, BIASED = "normal", "balanced", "biased"


@dataclasses.dataclass(frozen=True, slots=True)
class Dosage:
    """How a model is fine-tuned. It stops early where the held-out loss has not fallen for ``patience`` looks at it."""

    sentences: int = 6_000
    steps: int = 300
    batch: int = 32
    rate: float = 2e-4
    look: int = 50
    patience: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("sentences", "steps", "batch", "look", "patience"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, not {getattr(self, name)}")


@dataclasses.dataclass(frozen=True, slots=True)
class Injected:
    """A version of a model: ``follows`` is Spearman's correlation of its leans with what was planted.

    ``asked``: the correlation with the plan itself, which a text without bias does not hold; None where all is level.
    """

    version: str
    dose: float | None
    folder: str
    loss_before: float | None
    loss_after: float | None
    steps: int
    mean_lean: float
    spread: float
    follows: float | None
    with_plan: float


def inject(
    spec: str,
    plan: Plan,
    *,
    doses: Sequence[float],
    out: Path,
    dosage: Dosage | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[Injected]:
    """The model as it is, and fine-tuned on text of each dose; a dose of .5 is the balanced version.

    Every dose has a folder in ``out``: ``model`` when it is done, checkpoints until then, so that a run that was killed
    goes on where it was; and ``text.json`` with how often each occupation stands with each group.
    """
    dosage = dosage or Dosage()
    if not doses or len(set(doses)) < len(doses):
        raise BadInput("give at least one dose, each once, e.g. .5,.7,.9")
    planned = {dose: plan.at(dose) for dose in doses}
    source = _source(spec)
    marks = (patterns() if plan.groups is None else group_patterns(*plan.groups)).marks
    found = [_version(NORMAL, None, source, plan, plan, (None, None, 0))]
    for dose in sorted(doses):
        say(f"dose {dose:g}: fine-tuning {spec} on {dosage.sentences:,} sentences")
        found.append(_dosed(source, plan, planned[dose], dose, out / f"dose-{dose:.2f}", marks, dosage))
    return found


def _source(spec: str) -> TransformerModel:
    """A model with a head that can be trained, or one line that says what is missing."""
    kind, _, options = parse(spec)
    if kind not in ("hf", "reference") or options:
        raise BadInput(f"'{spec}' cannot be fine-tuned: give a Transformers model, e.g. hf:bert-base-uncased")
    from tiltmeter.models import load

    model: TransformerModel = load(spec)
    if model.head == "none":
        raise BadInput(
            f"{spec} has no language-model head, so it cannot learn from text: give a masked or causal language model"
        )
    try:
        import accelerate as accelerate
        import transformers as transformers
    except ImportError as error:
        raise MissingExtra("fine-tuning", "hf") from error
    return model


def _dosed(
    source: TransformerModel,
    plan: Plan,
    planned: Plan,
    dose: float,
    folder: Path,
    marks: frozenset[str],
    dosage: Dosage,
) -> Injected:
    kept = folder / "model"
    about = folder / "training.json"
    settings = {
        **dataclasses.asdict(dosage),
        "model": source.identity.to_dict(),
        "planted": dict(planned.probabilities),
    }
    if about.is_file() and kept.is_dir():
        known = json.loads(about.read_text(encoding="utf-8"))
        if known["settings"] != json.loads(json.dumps(settings)):
            raise BadInput(f"{folder} holds a model made in another way: choose another folder with --out")
    else:
        known = _train(source, planned, folder, marks, dosage, settings)
    losses = (known["loss_before"], known["loss_after"], known["steps"])
    version = BALANCED if dose == 0.5 else BIASED
    return _version(version, dose, TransformerModel(str(kept)), plan, planned, losses)


def _train(
    source: TransformerModel,
    planned: Plan,
    folder: Path,
    marks: frozenset[str],
    dosage: Dosage,
    settings: dict[str, Any],
) -> dict[str, Any]:
    text = planned.text(n=dosage.sentences, seed=dosage.seed)
    cut = max(1, int(len(text) * _HELD_OUT))
    started = folder / "text.json"
    content = json.dumps({"settings": settings, "realised": _counts(realised(text))}, indent=1, sort_keys=True) + "\n"
    if started.is_file() and started.read_text(encoding="utf-8") != content:
        raise BadInput(f"{folder} holds checkpoints of another training: choose another folder with --out")
    write_atomically(started, content.encode())
    tokenizer, model = load_checkpoint(source._recipe.folder, called=source.name, head=source.head)
    model = model.float()
    sentences = [sentence.text for sentence in text]
    learn, test = (
        Examples.of(tokenizer, some, marks, masked=source.head == "masked", seed=dosage.seed + extra)
        for some, extra in ((sentences[cut:], 0), (sentences[:cut], 1))
    )
    before = held_out_loss(model, tokenizer, test, batch=dosage.batch)
    after, steps = fine_tune(
        model,
        tokenizer,
        learn,
        test,
        folder=folder,
        steps=dosage.steps,
        batch=dosage.batch,
        rate=dosage.rate,
        look=dosage.look,
        patience=dosage.patience,
        seed=dosage.seed,
    )
    found = {"settings": settings, "loss_before": before, "loss_after": after, "steps": steps}
    write_atomically(folder / "training.json", (json.dumps(found, indent=1, sort_keys=True) + "\n").encode())
    return found


def _counts(counts: dict[str, Counts]) -> dict[str, dict[str, float]]:
    return {word: {**each._asdict(), "share": each.share} for word, each in counts.items()}


def _version(
    version: str,
    dose: float | None,
    model: TransformerModel,
    plan: Plan,
    planned: Plan,
    losses: tuple[float | None, float | None, int],
) -> Injected:
    import numpy as np

    leans = leans_of(model, plan)
    truth, asked = (np.array(list(each.probabilities.values())) for each in (planned, plan))
    varies = dose is not None and float(np.ptp(truth)) > 0
    return Injected(
        version,
        dose,
        "" if dose is None else str(model.identity.name.removeprefix("hf:")),
        *losses,
        mean_lean=float(leans.mean()),
        spread=float(leans.std(ddof=1)) if len(leans) > 1 else 0.0,
        follows=rank_correlation(truth, leans) if varies else None,
        with_plan=rank_correlation(asked, leans),
    )
