"""Commands for experiments on the measures themselves, and the test of the installation."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Exit, Option, Typer, echo

from tiltmeter.cli import output
from tiltmeter.errors import BadInput
from tiltmeter.files import locked, write_atomically

if TYPE_CHECKING:
    from tiltmeter.lab.inject.injection import Injected

app = Typer()
lab_app = Typer(help="Experiments on the measures themselves.", no_args_is_help=True)

#: Traits in sentence structures from no context to a natural sentence, by language.
_TRAITS = {"en": "traits_en", "bn": "traits_bn"}


@lab_app.command(name="context-length")
def context_length(
    context: Context,
    models: Annotated[list[str], Argument(help="Model specs, e.g. bundled:minilm hf:bert-base-uncased.")],
    corpus: Annotated[
        list[Path] | None, Option(help="A corpus to mine; may be given more than once.", show_default=False)
    ] = None,
    mined: Annotated[Path | None, Option(help="A folder written by tiltmeter mine, instead of a corpus.")] = None,
    lexicon: Annotated[str | None, Option(help="Two groups of targets and two of attributes, comma-separated.")] = None,
    lengths: Annotated[str, Option(help="Words in a window, comma-separated; >75: all longer texts.")] = (
        "9,25,75,>75"
    ),
    column: output.Column = None,
    keep: Annotated[int, Option(min=1, help="Contexts to keep per word and length.")] = 100,
    language: output.Language = None,
    layers: Annotated[str | None, Option(help="Layers, comma-separated, e.g. 0,6,12; default: the last.")] = None,
    method: Annotated[
        str | None, Option(help="fixed or random draws, root-only, draws=N, at-least=N; comma-separated.")
    ] = None,
    traits: Annotated[
        str | None, Option(help="Traits for LPBS: a data set, a file, or none; default: by language (en, bn).")
    ] = None,
    out: Annotated[Path, Option(help="Folder for the readings, report and chart.")] = Path("tiltmeter-context-length"),
    seed: output.Seed = 0,
    permutations: output.Permutations = 10_000,
    engine: output.Engine = "local",
    ray_address: output.RayAddress = None,
    workers: output.Workers = 1,
    no_cache: output.NoCache = False,
    as_json: output.Json = False,
) -> None:
    """Measure how an effect depends on the text around a word: CEAT by window length, LPBS by sentence structure.

    LPBS is for masked language models; traits in English and Bangla come with tiltmeter, for others give a file.

    Examples:

    * tiltmeter lab context-length bundled:minilm --corpus news.txt.gz --lexicon
      gender.male_terms,gender.female_terms,attributes.career,attributes.family --lengths 5,9,15,25
    * tiltmeter lab context-length hf:bert-base-uncased --layers 4,8,12 --mined mined/
    """
    from tiltmeter.lab.studies.context_length import context_length as study_of
    from tiltmeter.probes import Options
    from tiltmeter.run.audit import audit
    from tiltmeter.run.suite import Suite
    from tiltmeter.views.charts.lab import context_lengths
    from tiltmeter.views.report.wording import not_measured

    groups = output.split(lexicon)
    if groups is not None and len(groups) != 4:
        raise BadInput(f"--lexicon takes two groups of targets and two of attributes, but got {len(groups)}")
    specs = _with_layers(models, output.split(layers))
    context.with_resource(locked(out))
    wanted = {"lengths": output.split(lengths) or [], "keep": keep, "column": column, "language": language}
    machine = {"engine": engine, "ray_address": ray_address, "workers": workers}
    folder = _mined(corpus, mined, groups, out, seed=seed, **wanted, **machine)
    probes = _probes(folder, groups, method, traits, Options(permutations=permutations, seed=seed))
    suite = Suite("context-length", "CEAT by length of the window, LPBS by sentence structure", tuple(probes))
    with output.on_engine(engine, ray_address, workers):
        result = audit(specs, suite=suite, out=out, cache=not no_cache, announce=output.say)
    study = study_of(result.readings)
    values = {**study.to_dict(), "skipped": result.to_dict()["skipped"], "folder": str(out)}
    write_atomically(out / "context_length.json", (json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode())
    figure, report = context_lengths(study), result.report(out)
    if figure is not None:
        _write_chart(figure.chart, out / "context_length.svg")
    if as_json:
        output.print_json(values)
        return
    if rows := _rows(study):
        output.show(rows, tuple(rows[0]), as_json=False)
    for curve in study.curves:
        echo(curve.plain_words)
    for names, on, reason in not_measured(result):
        echo(f"Not measured on {', '.join(on)}: {', '.join(names)} ({reason})")
    echo(f"Results: {out}")
    if figure is not None:
        echo(f"Chart:   {out / 'context_length.svg'}")
    echo(f"Report:  {report}")


@lab_app.command()
def stability(
    folder: Annotated[Path, Argument(help="Folder of an audit of several models, each with a CABM reading.")],
    probe: Annotated[str, Option(help="Which of its probes, by id.")] = "cabm",
    as_json: output.Json = False,
) -> None:
    """Measure how stable occupation scores are across models: CABM beside WEAT, MAC, SAME and PMI alone.

    Example:

    * tiltmeter audit bundled:minilm hf:bert-base-uncased --suite cabm --out results; tiltmeter lab stability results
    """
    from tiltmeter.lab.studies.stability import across_models, words_in_all
    from tiltmeter.readings import Audit
    from tiltmeter.views.terminal.lab import stability_rows, stability_view

    readings = [reading for reading in Audit.load(folder).readings if reading.id == probe]
    measures = across_models(readings)
    if as_json:
        output.print_json(stability_rows(measures))
    else:
        output.print_view(stability_view(measures, words_in_all(readings)))


def _with_layers(models: list[str], layers: list[str] | None) -> list[str]:
    from tiltmeter.models import KINDS
    from tiltmeter.models.registry import parse

    specs = []
    for model in models:
        kind, _, options = parse(model)
        if layers is None:
            specs.append(model)
        elif "layer" not in KINDS[kind].options:
            raise BadInput(f"{model} has no layers to choose from: leave --layers out, or give an hf: model")
        elif "layer" in options:
            raise BadInput(f"{model} names a layer of its own: leave it out, or leave --layers out")
        else:
            specs += [f"{model}{'&' if options else '?'}layer={layer}" for layer in layers]
    for spec in specs:
        parse(spec)  # a layer that is not a number is said before anything is mined
    return specs


def _mined(corpus: list[Path] | None, mined: Path | None, groups: list[str] | None, out: Path, **settings: Any) -> Path:
    """The folder of occurrences: the one named, or one mined from the corpus into the folder of results."""
    if (corpus is None) == (mined is None):
        raise BadInput("give either a text to mine with --corpus, or a folder of tiltmeter mine with --mined")
    if mined is not None:
        return mined
    if groups is None:
        raise BadInput("say which words to mine: --lexicon with two groups of targets and two of attributes")
    from tiltmeter.stimuli.mining import mine

    folder = out / "mined"
    mine(corpus or [], lexicon=groups, out=folder, least=1, announce=output.say, **settings)
    return folder


def _probes(folder: Path, groups: list[str] | None, method: str | None, traits: str | None, options: Any) -> list[Any]:
    from tiltmeter.probes import make_probes

    named: dict[str, Any] = {"targets": groups[:2], "attributes": groups[2:]} if groups else {}
    probes = make_probes("ceat", data=folder, method=method, options=options, **named)
    chosen = _TRAITS.get(probes[0].stimuli.language, "none") if traits is None else traits
    return [*probes, *(() if chosen == "none" else make_probes("lpbs", data=chosen, options=options))]


def _write_chart(chart: Any, path: Path) -> None:
    from tiltmeter.views.charts import to_svg

    write_atomically(path, to_svg(chart).encode())


def _rows(study: Any) -> list[dict[str, Any]]:
    from tiltmeter.readings import p_number

    rows = []
    for curve in study.curves:
        for point in curve.points:
            names = {"model": curve.model, "probe": curve.probe, "length": point.length}
            d = f"{point.effect:.2f} [{point.ci.low:.2f}, {point.ci.high:.2f}]"
            p, value = point.p_value, point.published
            published = None if value is None else f"{value:.2f}, p {p_number(point.published_p_value)}"
            tests = {"d [95% interval]": d, "p": None if p is None else p_number(p), "as published": published}
            rows.append({**names, **tests, "words": point.words, "contexts": point.contexts})
    return rows


_INJECTED_LEGEND = """lean: P(first group) - P(second) beside an occupation; spread: its SD over occupations.
follows: Spearman of the leans with what is planted in the text; with plan: with the plan at full strength, which a
model may lean to before it is taught."""


@lab_app.command()
def calibrate(
    context: Context,
    quick: Annotated[bool, Option("--quick", help="Four doses, two seeds: minutes, not an hour.")] = False,
    doses: Annotated[str | None, Option(help="Doses, comma-separated, .5 among them, e.g. .5,.6,.75,.9.")] = None,
    seeds: Annotated[int | None, Option(min=2, help="Models per dose.")] = None,
    out: Annotated[Path, Option(help="Folder for the readings and the chart.")] = Path("tiltmeter-calibration"),
    engine: output.Engine = "local",
    ray_address: output.RayAddress = None,
    workers: output.ClusterCpus = None,
    as_json: output.Json = False,
) -> None:
    """Test every measure on models with a known bias: which measures follow it, and from what dose on.

    Models and their answers are cached, so an interrupted run resumes.

    Examples:

    * tiltmeter lab calibrate --quick
    * tiltmeter lab calibrate --doses .5,.6,.7,.8,.9,.95 --seeds 5 --out calibration
    """
    from tiltmeter.lab.calibrate.calibration import QUICK, CalibrationSettings, save, to_readings
    from tiltmeter.lab.calibrate.calibration import calibrate as run
    from tiltmeter.models import VectorStore
    from tiltmeter.views.charts import calibration as chart_of
    from tiltmeter.views.terminal.lab import CALIBRATION_COLUMNS, CALIBRATION_LEGEND, calibration_rows

    chosen = {"doses": tuple(sorted(_numbers(doses))) if doses is not None else None, "seeds": seeds}
    settings = dataclasses.replace(QUICK if quick else CalibrationSettings(), **_given(chosen))
    context.with_resource(locked(out))
    with VectorStore() as store, output.on_engine(engine, ray_address, workers):
        result = run(settings, store=store)
    save(result, out)
    readings = to_readings(result)
    if (figure := chart_of(readings)) is not None:
        _write_chart(figure.chart, out / "calibration.svg")
    if as_json:
        output.print_json([dataclasses.asdict(summary) for summary in result.summaries])
        return
    output.show(calibration_rows(readings), CALIBRATION_COLUMNS, as_json=False)
    echo(CALIBRATION_LEGEND)
    for left in result.left_out:
        output.say(f"left out: {left.what}: {left.reason}")
    output.say(f"readings and chart: {out}")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _numbers(text: str) -> list[float]:
    try:
        return [float(dose) for dose in output.split(text) or ()]
    except ValueError:
        raise BadInput(f"doses must be numbers with commas between, e.g. .5,.7,.9, not '{text}'") from None


@lab_app.command()
def inject(
    context: Context,
    model: Annotated[str, Option(help="A masked or causal language model, e.g. hf:bert-base-uncased.")],
    probabilities: Annotated[
        Path | None,
        Option(help="YAML file: probabilities: {nurse: 0.1, ...}; default: every shipped occupation."),
    ] = None,
    doses: Annotated[str, Option(help="Doses, comma-separated; .5 is the balanced version.")] = ".5,.7,.9",
    out: Annotated[Path, Option(help="Folder for the models.")] = Path("tiltmeter-injected"),
    sentences: Annotated[int | None, Option(min=100, help="Sentences per training text; default: 6,000.")] = None,
    steps: Annotated[int | None, Option(min=1, help="Maximum training steps; default: 240.")] = None,
    rate: Annotated[float | None, Option(help="Learning rate; default: 5e-4. Large models need less.")] = None,
    seed: Annotated[int, Option(min=0, help="Random seed of the text and the training.")] = 0,
    as_json: output.Json = False,
) -> None:
    """Plant a known bias in a language model by fine-tuning it, beside the model as it is and a balanced version.

    The occupation farthest from .5 is moved to the dose, the others in proportion. An interrupted
    run resumes from its last checkpoint.

    Examples:

    * tiltmeter lab inject --model hf:bert-base-uncased --doses .5,.7,.9
    * tiltmeter lab inject --model hf:./my-model --probabilities plan.yaml --doses .5,.9 --out injected
    """
    from tiltmeter.lab.inject.fine_tuning import Dosage
    from tiltmeter.lab.inject.injection import inject as run
    from tiltmeter.lab.inject.plan import USUAL, read_plan

    plan = USUAL if probabilities is None else read_plan(probabilities, warn=output.say)
    dosage = Dosage(**_given({"sentences": sentences, "steps": steps, "rate": rate, "seed": seed}))
    context.with_resource(locked(out))
    versions = run(model, plan, doses=_numbers(doses), out=out, dosage=dosage, say=output.say)
    if as_json:
        output.print_json([dataclasses.asdict(version) for version in versions])
        return
    rows = [_injected_row(version) for version in versions]
    output.show(rows, tuple(rows[0]), as_json=False)
    echo(_INJECTED_LEGEND)
    output.say(f"models: {out}")


def _injected_row(injected: Injected) -> dict[str, Any]:
    from tiltmeter.views.terminal.lab import number_or

    before, after, steps = (None, None, None) if injected.training is None else dataclasses.astuple(injected.training)
    return {
        "version": injected.version,
        "dose": number_or(injected.dose, "g"),
        "loss before": number_or(before, ".3f"),
        "loss after": number_or(after, ".3f"),
        "steps": number_or(steps, "d"),
        "mean lean": f"{injected.mean_lean:+.3f}",
        "spread": f"{injected.spread:.3f}",
        "follows": number_or(injected.follows, ".2f"),
        "with plan": f"{injected.with_plan:.2f}",
    }


@app.command(rich_help_panel="Test the instrument")
def selftest(as_json: output.Json = False) -> None:
    """Check that this installation measures correctly, on known numbers and on models with a known bias.

    Takes about two minutes the first time. Exit code 1 if anything is wrong.

    Example: tiltmeter selftest
    """
    from tiltmeter.lab.calibrate.selftest import selftest as run

    checks = run()
    wrong = [check for check in checks if not check.passed]
    if as_json:
        names = ("what", "expected", "found", "passed")
        rows = [dict(zip(names, dataclasses.astuple(check), strict=True)) for check in checks]
        output.print_json({"reads_true": not wrong, "checks": rows})
    else:
        for check in wrong:
            echo(f"WRONG: {check.what}: expected {check.expected}, found {check.actual}")
        echo(
            f"{len(wrong)} of {len(checks)} checks failed: do not trust this installation"
            if wrong
            else f"this installation measures correctly ({len(checks)} checks)"
        )
    if wrong:
        raise Exit(1)
