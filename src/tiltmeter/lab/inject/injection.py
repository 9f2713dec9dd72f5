"""Injection: plant a known bias in a real language model by fine-tuning it on text that holds it.

Afterwards the model is asked which group it expects beside each occupation. Pronouns are asked for by the probes that
users run, in sentences that it has not learned from. No probe asks for two groups of a lexicon at one place, so these
are asked for here, in the plainest of the sentences it has learned from.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput, require
from tiltmeter.files import write_atomically
from tiltmeter.lab.calibrate.bench import ProbeMaker
from tiltmeter.lab.calibrate.measure_forms import column, means, rank_correlation, value_of
from tiltmeter.lab.inject.fine_tuning import Dosage, fine_tune, make_examples
from tiltmeter.lab.inject.plan import Plan
from tiltmeter.lab.reference.planted_text import Reference, frames, group_patterns, realised, with_occupation
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Continuation, Fill, Question
from tiltmeter.models.registry import parse
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.models.transformers.weights.checkpoints import load_checkpoint
from tiltmeter.run.probe import run_probes
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import group
from tiltmeter.stimuli.sentences.sentence import Sentence


def leans_of(model: TransformerModel, plan: Plan) -> Floats:
    """P(first group) - P(second group) at its place, by occupation: unmasking, or what a causal model continues with.

    For groups of a lexicon P is the sum over their words.
    """
    if plan.groups is not None:
        return _leans_between(model, plan.groups, list(plan.probabilities))
    masked = model.head == "masked"
    with tempfile.TemporaryDirectory(prefix="tiltmeter-lab-") as folder:
        maker = ProbeMaker(Path(folder), plan.probabilities)
        familiar = {name: rows for name, rows in frames().masked.items() if name != "strange"}
        probe = maker.unmask(familiar) if masked else maker.of_causal(frames().cloze)["cloze"]
        (reading,) = run_probes([probe], model, cache=False, progress=False)
    # Of a causal model, between the probabilities of both pronouns and the end of the sentence.
    lean = value_of if masked else lambda item: column("ended_1")(item) - column("ended_2")(item)
    leans = means((item.unit, lean(item)) for item in reading.items)
    return np.array([leans[word] for word in plan.probabilities])


def _leans_between(model: TransformerModel, groups: tuple[str, str], occupations: Sequence[str]) -> Floats:
    first, second = (group(address).texts for address in groups)
    rows = [_group_sentences(word, groups, first[0]) for word in occupations]
    words, items = (*first, *second), list[list[Fill | Continuation]]()
    if model.head == "masked":
        question = Question.FILLS
        items += ([Fill(each.text, *each.slots["one"], words) for each in row] for row in rows)
    else:
        question, endings = Question.CONTINUATIONS, tuple(f" {word}" for word in words)
        stems = ([each.around("one")[0].rstrip() for each in row] for row in rows)
        items += ([Continuation(stem, endings) for stem in row if stem] for row in stems)
    answers = CachedModel(model, None).answers(question, [item for row in items for item in row])

    def lean(item: Fill | Continuation) -> float:
        chances = np.exp(answers[item].logprobs)
        return float(chances[: len(first)].sum() - chances[len(first) :].sum())

    return np.array([np.mean([lean(item) for item in row]) for row in items])


def _group_sentences(occupation: str, groups: tuple[str, str], word: str) -> list[Sentence]:
    """Patterns that hold nothing but the group and the occupation, with a word of the group in its place."""
    texts = (with_occupation(pattern, occupation) for pattern in group_patterns(*groups).patterns)
    plain = [text for text in texts if text.count("{") == 1]
    places = [(text, text.index("{one}")) for text in plain]
    return [Sentence(text, {"one": (at, at + len("{one}"))}, occupation).put("one", word) for text, at in places]


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
    versions = [_version(source, plan)]
    for dose, own in planned.items():
        say(f"dose {dose:g}: fine-tuning {spec} on {dosage.sentences:,} sentences")
        folder = out / f"dose-{dose:.2f}"
        versions.append(_version(folder / "model", plan, dose, own, _trained(source, own, folder, dosage)))
    return versions


def _source(spec: str, plan: Plan) -> TransformerModel:
    """A model with a head that can be trained and that knows the words, or one line that says what is missing."""
    model = trainable(spec)
    tokenizer, _ = _weights(model)
    for word in (*plan.probabilities, *sorted(plan.marks)):
        # A blank before it, as inside a sentence: some tokenizers know a word there only.
        if tokenizer.unk_token_id in tokenizer(f" {word}", add_special_tokens=False)["input_ids"]:
            raise BadInput(f"{spec} does not know the word '{word}': give another model, or a plan without this word")
    return model


def trainable(spec: str) -> TransformerModel:
    """A model with a head that can be trained, or one line that says what is missing."""
    kind, name, options = parse(spec)
    if kind not in ("hf", "reference") or options or (kind == "reference" and Reference.named(name).kind == "vectors"):
        raise BadInput(f"'{spec}' cannot be fine-tuned: give a Transformers model, e.g. hf:bert-base-uncased")
    from tiltmeter.models import load

    model: TransformerModel = load(spec)
    if model.head == "none":
        raise BadInput(
            f"{spec} has no language-model head, so it cannot learn from text: give a masked or causal language model"
        )
    require("fine-tuning", "hf", "torch", "transformers", "accelerate")
    return model


def _weights(model: TransformerModel) -> tuple[Any, Any]:
    return load_checkpoint(model._recipe.folder, called=model.name, head=model.head)


def _version(
    model: TransformerModel | Path,
    plan: Plan,
    dose: float | None = None,
    planted: Plan | None = None,
    training: Training | None = None,
) -> Injected:
    leans = leans_of(TransformerModel(str(model)) if isinstance(model, Path) else model, plan)
    truth = _shares(planted) if planted else np.zeros(1)
    return Injected(
        NORMAL if dose is None else BALANCED if dose == 0.5 else BIASED,
        dose,
        str(model) if isinstance(model, Path) else "",
        training,
        float(leans.mean()),
        float(leans.std(ddof=1)) if len(leans) > 1 else 0.0,
        rank_correlation(truth, leans) if np.ptp(truth) > 0 else None,
        rank_correlation(_shares(plan), leans),
    )


def _shares(plan: Plan) -> Floats:
    return np.array(list(plan.probabilities.values()))


def _trained(source: TransformerModel, planned: Plan, folder: Path, dosage: Dosage) -> Training:
    """The training that the folder holds, or one made now."""
    made_of = {"planted": dict(planned.probabilities), "groups": planned.groups}

    def lesson() -> Lesson:
        sentences = planned.text(n=dosage.sentences, seed=dosage.seed)
        counts = {word: {**each._asdict(), "share": each.share} for word, each in realised(sentences).items()}
        texts = [sentence.text for sentence in sentences]
        cut = max(1, int(len(texts) * _HELD_OUT))
        return Lesson(texts[cut:], texts[:cut], planned.marks, {"realised": counts})

    return train(source, lesson, folder, dosage, made_of=made_of)


@dataclasses.dataclass(frozen=True, slots=True)
class Lesson:
    """Texts to learn from and to be tested on, the words in them that say a group, and what to note of them.

    ``dropout`` takes the place of the model's own, where it is given.
    """

    learn: Sequence[str]
    test: Sequence[str]
    marks: Collection[str]
    notes: Mapping[str, Any]
    dropout: float | None = None


def train(
    source: TransformerModel,
    lesson: Callable[[], Lesson],
    folder: Path,
    dosage: Dosage,
    *,
    made_of: Mapping[str, Any],
) -> Training:
    """Teach a model; the folder holds ``model`` when it is done and checkpoints until then.

    A folder that is finished is taken as it is, one that was left half-way is resumed; ``made_of`` must be the same.
    """
    settings = json.loads(json.dumps({**dataclasses.asdict(dosage), "model": source.identity.to_dict(), **made_of}))
    finished, started = folder / "training.json", folder / "text.json"
    if finished.is_file() and (folder / "model").is_dir():
        known = json.loads(finished.read_text(encoding="utf-8"))
        if known.pop("settings") != settings:
            raise BadInput(f"{folder} holds a model made in another way: choose another folder with --out")
        return Training(**known)
    if started.is_file() and json.loads(started.read_text(encoding="utf-8"))["settings"] != settings:
        raise BadInput(f"{folder} holds checkpoints of another training: choose another folder with --out")
    taught = lesson()
    tokenizer, model = _weights(source)
    if taught.dropout is not None:
        set_dropout(model, taught.dropout, called=source.name)
    _write(started, {"settings": settings, **taught.notes})
    masked = source.head == "masked"
    learn, test = (
        make_examples(tokenizer, some, taught.marks, masked=masked, seed=dosage.seed + extra)
        for some, extra in ((taught.learn, 0), (taught.test, 1))
    )
    training = Training(*fine_tune(model, tokenizer, learn, test, masked=masked, folder=folder, dosage=dosage))
    _write(finished, {"settings": settings, **dataclasses.asdict(training)})
    return training


def set_dropout(model: Any, share: float, *, called: str) -> None:
    """Let a model drop as many of its numbers while it learns; one that can drop none would learn as without."""
    layers = [module for module in model.modules() if type(module).__name__ == "Dropout"]
    # Some models (Llama, Qwen) have no layers that drop, only a number that their attention reads.
    numbers = [module for module in model.modules() if isinstance(getattr(module, "attention_dropout", None), float)]
    for module in layers:
        module.p = share
    for module in numbers:
        module.attention_dropout = share
    if not layers and not numbers:
        raise BadInput(f"{called} has no dropout that could be raised: use cda")


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
