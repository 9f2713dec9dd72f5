"""Injection: plant a known bias in a real language model by fine-tuning it on text that holds it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.files import write_atomically
from tiltmeter.lab.calibrate.dose_response import rank_correlation
from tiltmeter.lab.inject.examples import TrainingExamples
from tiltmeter.lab.inject.fine_tuning import Dosage, fine_tune
from tiltmeter.lab.inject.injected_leans import leans_of
from tiltmeter.lab.inject.plan import Plan
from tiltmeter.lab.reference.planted_text import realised
from tiltmeter.models.registry import parse
from tiltmeter.models.transformers.checkpoints import load as load_checkpoint
from tiltmeter.models.transformers.hub import TransformerModel

_HELD_OUT = 0.1
#: A model as it was, what it becomes on a text without bias, and on one with it.
NORMAL, BALANCED, BIASED = "normal", "balanced", "biased"


@dataclasses.dataclass(frozen=True, slots=True)
class Training:
    """How a fine-tuning went: the held-out loss before and after it, and its steps."""

    loss_before: float
    loss_after: float
    steps: int


@dataclasses.dataclass(frozen=True, slots=True)
class Injected:
    """A version of a model, and its leans over occupations: their mean and their SD.

    ``follows`` is Spearman's correlation of the leans with what was planted; None where nothing was, or the same for
    all. ``with_plan`` is that with the plan itself, which a text without bias does not hold.
    """

    version: str
    dose: float | None
    folder: str
    training: Training | None
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
    resumes where it was; and ``text.json`` with how often each occupation stands with each group.
    """
    dosage = dosage or Dosage()
    if not doses or len(set(doses)) < len(doses):
        raise BadInput("give at least one dose, each once, e.g. .5,.7,.9")
    planned = {dose: plan.at(dose) for dose in sorted(doses)}
    source = _source(spec, plan)
    found = [_normal(source, plan)]
    for dose, own in planned.items():
        say(f"dose {dose:g}: fine-tuning {spec} on {dosage.sentences:,} sentences")
        found.append(_dosed(source, plan, own, dose, out / f"dose-{dose:.2f}", dosage))
    return found


def _source(spec: str, plan: Plan) -> TransformerModel:
    """A model with a head that can be trained and that knows the words, or one line that says what is missing."""
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
    tokenizer, _ = _weights(model)
    for word in (*plan.probabilities, *sorted(plan.marks)):
        # A blank before it, as inside a sentence: some tokenizers know a word there only.
        if tokenizer.unk_token_id in tokenizer(f" {word}", add_special_tokens=False)["input_ids"]:
            raise BadInput(f"{spec} does not know the word '{word}': give another model, or a plan without this word")
    return model


def _weights(model: TransformerModel) -> tuple[Any, Any]:
    return load_checkpoint(model._recipe.folder, called=model.name, head=model.head)


def _normal(source: TransformerModel, plan: Plan) -> Injected:
    leans = leans_of(source, plan)
    return Injected(NORMAL, None, "", None, *_moments(leans), None, rank_correlation(_shares(plan), leans))


def _dosed(source: TransformerModel, plan: Plan, planned: Plan, dose: float, folder: Path, dosage: Dosage) -> Injected:
    training = _trained(source, planned, folder, dosage)
    leans, truth = leans_of(TransformerModel(str(folder / "model")), plan), _shares(planned)
    return Injected(
        BALANCED if dose == 0.5 else BIASED,
        dose,
        str(folder / "model"),
        training,
        *_moments(leans),
        rank_correlation(truth, leans) if np.ptp(truth) > 0 else None,
        rank_correlation(_shares(plan), leans),
    )


def _shares(plan: Plan) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(list(plan.probabilities.values()))


def _moments(leans: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    return float(leans.mean()), float(leans.std(ddof=1)) if len(leans) > 1 else 0.0


def _trained(source: TransformerModel, planned: Plan, folder: Path, dosage: Dosage) -> Training:
    """The training that the folder holds, or one made now."""
    settings = json.loads(
        json.dumps(
            {
                **dataclasses.asdict(dosage),
                "model": source.identity.to_dict(),
                "planted": dict(planned.probabilities),
                "groups": planned.groups,
            }
        )
    )
    about = folder / "training.json"
    if about.is_file() and (folder / "model").is_dir():
        known = json.loads(about.read_text(encoding="utf-8"))
        if known.pop("settings") != settings:
            raise BadInput(f"{folder} holds a model made in another way: choose another folder with --out")
        return Training(**known)
    found = _train(source, planned, folder, dosage, settings)
    _write(about, {"settings": settings, **dataclasses.asdict(found)})
    return found


def _train(
    source: TransformerModel, planned: Plan, folder: Path, dosage: Dosage, settings: Mapping[str, Any]
) -> Training:
    made = planned.text(n=dosage.sentences, seed=dosage.seed)
    counts = {word: {**each._asdict(), "share": each.share} for word, each in realised(made).items()}
    started = folder / "text.json"
    if started.is_file() and json.loads(started.read_text(encoding="utf-8"))["settings"] != settings:
        raise BadInput(f"{folder} holds checkpoints of another training: choose another folder with --out")
    _write(started, {"settings": settings, "realised": counts})
    tokenizer, model = _weights(source)
    masked = source.head == "masked"
    texts = [sentence.text for sentence in made]
    cut = max(1, int(len(texts) * _HELD_OUT))
    learn, test = (
        TrainingExamples.of(tokenizer, some, planned.marks, masked=masked, seed=dosage.seed + extra)
        for some, extra in ((texts[cut:], 0), (texts[:cut], 1))
    )
    return Training(*fine_tune(model, tokenizer, learn, test, masked=masked, folder=folder, dosage=dosage))


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
