"""Commands that calibrate the measures, plant a bias in a model, and test the installation itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiltmeter.cli.output import Json, print_json, say, show, split
from tiltmeter.errors import BadInput
from tiltmeter.files import locked

if TYPE_CHECKING:
    from tiltmeter.lab.calibrate.calibration import Settings
    from tiltmeter.lab.inject.injection import Injected

lab_app = typer.Typer()
selftest_app = typer.Typer()

_INJECTED = ("version", "dose", "loss before", "loss after", "steps", "mean lean", "spread", "follows", "with plan")
_INJECTED_LEGEND = """lean: P(first group) - P(second) beside an occupation; spread: its SD over occupations.
follows: Spearman of the leans with what is planted in the text; with plan: with the plan at full strength, which a
model may lean to before it is taught."""


@lab_app.command()
def calibrate(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="Four doses, two seeds: minutes, not an hour.")] = False,
    doses: Annotated[str | None, typer.Option(help="Doses, comma-separated, .5 among them, e.g. .5,.6,.75,.9.")] = None,
    seeds: Annotated[int | None, typer.Option(min=2, help="Models of each dose.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the readings and the chart.")] = Path("tiltmeter-calibration"),
    as_json: Json = False,
) -> None:
    """What every measure reads on models whose bias is known: which of them follow it, and from which dose on.

    Models are trained once and kept in the cache, and so is what they answer: a run that was stopped goes on.

    Examples:

    * tiltmeter lab calibrate --quick
    * tiltmeter lab calibrate --doses .5,.6,.7,.8,.9,.95 --seeds 5 --out calibration
    """
    from tiltmeter.files import write_atomically
    from tiltmeter.lab.calibrate.calibration import calibrate as run
    from tiltmeter.lab.calibrate.calibration_readings import save, to_readings
    from tiltmeter.models import VectorStore
    from tiltmeter.views.charts import calibration as chart_of
    from tiltmeter.views.charts import to_svg
    from tiltmeter.views.terminal.calibration import COLUMNS, LEGEND, calibration_rows

    settings = _settings(quick, doses, seeds)
    context.with_resource(locked(out))
    with VectorStore() as store:
        found = run(settings, store=store)
    save(found, out)
    readings = to_readings(found)
    figure = chart_of(readings)
    if figure is not None:
        write_atomically(out / "calibration.svg", to_svg(figure.chart).encode())
    if as_json:
        print_json([dataclasses.asdict(each) for each in found.summaries])
        return
    show(calibration_rows(readings), COLUMNS, as_json=False)
    typer.echo(LEGEND)
    for each in found.left_out:
        say(f"left out: {each.what}: {each.reason}")
    say(f"readings and chart: {out}")


def _settings(quick: bool, doses: str | None, seeds: int | None) -> Settings:
    from tiltmeter.lab.calibrate.calibration import QUICK, Settings

    settings = QUICK if quick else Settings()
    changes: dict[str, Any] = {}
    if doses is not None:
        changes["doses"] = tuple(sorted(_numbers(doses)))
    if seeds is not None:
        changes["seeds"] = seeds
    return dataclasses.replace(settings, **changes)


def _numbers(text: str) -> list[float]:
    try:
        return [float(each) for each in split(text) or ()]
    except ValueError:
        raise BadInput(f"doses must be numbers with commas between, e.g. .5,.7,.9, not '{text}'") from None


def _maybe(value: float | None, form: str, otherwise: str = "") -> str:
    return otherwise if value is None else format(value, form)


@lab_app.command()
def inject(
    context: typer.Context,
    model: Annotated[str, typer.Option(help="A masked or causal language model, e.g. hf:bert-base-uncased.")],
    probabilities: Annotated[
        Path | None,
        typer.Option(help="YAML file: probabilities: {nurse: 0.1, ...}; default: every shipped occupation."),
    ] = None,
    doses: Annotated[str, typer.Option(help="Doses, comma-separated; .5 is the balanced version.")] = ".5,.7,.9",
    out: Annotated[Path, typer.Option(help="Folder for the models.")] = Path("tiltmeter-injected"),
    sentences: Annotated[int | None, typer.Option(min=100, help="Sentences of each text; default: 6,000.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of training at the most; default: 240.")] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate; default: 5e-4. Large models want less.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of text and training.")] = 0,
    as_json: Json = False,
) -> None:
    """Plant a known bias in a language model by fine-tuning it, beside the model as it is and a balanced version.

    At a dose the occupation farthest from one half comes to that share, the others in proportion. A run that was
    stopped goes on from its last checkpoint.

    Examples:

    * tiltmeter lab inject --model hf:bert-base-uncased --doses .5,.7,.9
    * tiltmeter lab inject --model hf:./my-model --probabilities plan.yaml --doses .5,.9 --out injected
    """
    from tiltmeter.lab.inject.fine_tuning import Dosage
    from tiltmeter.lab.inject.injection import inject as run
    from tiltmeter.lab.inject.plan import USUAL, read_plan

    plan = USUAL if probabilities is None else read_plan(probabilities)
    chosen: dict[str, Any] = {"sentences": sentences, "steps": steps, "rate": rate, "seed": seed}
    dosage = Dosage(**{name: value for name, value in chosen.items() if value is not None})
    context.with_resource(locked(out))
    found = run(model, plan, doses=_numbers(doses), out=out, dosage=dosage, say=say)
    if as_json:
        print_json([dataclasses.asdict(each) for each in found])
        return
    show([_injected_row(each) for each in found], _INJECTED, as_json=False)
    typer.echo(_INJECTED_LEGEND)
    say(f"models: {out}")


def _injected_row(each: Injected) -> dict[str, Any]:
    before, after, steps = (None, None, None) if each.training is None else dataclasses.astuple(each.training)
    return {
        "version": each.version,
        "dose": _maybe(each.dose, "g"),
        "loss before": _maybe(before, ".3f"),
        "loss after": _maybe(after, ".3f"),
        "steps": _maybe(steps, "d"),
        "mean lean": f"{each.mean_lean:+.3f}",
        "spread": f"{each.spread:.3f}",
        "follows": _maybe(each.follows, ".2f"),
        "with plan": f"{each.with_plan:.2f}",
    }


@selftest_app.command()
def selftest(as_json: Json = False) -> None:
    """Does this installation read true? Known numbers and models with a known bias in, what should come out beside it.

    Takes about two minutes the first time. Exit code 1 where something does not read true.

    Example: tiltmeter selftest
    """
    from tiltmeter.lab.calibrate.selftest import Check
    from tiltmeter.lab.calibrate.selftest import selftest as run

    checks: Sequence[Check] = run()
    wrong = [each for each in checks if not each.passed]
    if as_json:
        print_json({"reads_true": not wrong, "checks": [dataclasses.asdict(each) for each in checks]})
    else:
        for each in wrong:
            typer.echo(f"NOT TRUE: {each.what}: expected {each.expected}, found {each.found}")
        typer.echo(
            f"{len(wrong)} of {len(checks)} checks do not read true: do not trust this installation"
            if wrong
            else f"this installation reads true ({len(checks)} checks)"
        )
    if wrong:
        raise typer.Exit(1)
