"""Commands for experiments on the measures themselves."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tiltmeter.cli.output import Json, NoCache, print_json, say, show, split, width
from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import locked

app = typer.Typer(help="Experiments on the measures themselves.", no_args_is_help=True)

ENGINES = ("local", "ray")
#: Traits in sentence structures from no context to a natural sentence, by language.
_TRAITS = {"en": "traits_en", "bn": "traits_bn"}


@app.callback()
def _lab() -> None:
    """Experiments on the measures themselves."""


@app.command(name="context-length")
def context_length(
    context: typer.Context,
    models: Annotated[list[str], typer.Argument(help="Model specs, e.g. bundled:minilm hf:bert-base-uncased.")],
    corpus: Annotated[
        list[Path] | None, typer.Option(help="A text to mine; may be given more than once.", show_default=False)
    ] = None,
    mined: Annotated[Path | None, typer.Option(help="A folder that tiltmeter mine has written, instead.")] = None,
    lexicon: Annotated[
        str | None, typer.Option(help="Two groups of targets and two of attributes, comma-separated.")
    ] = None,
    lengths: Annotated[str, typer.Option(help="Words in a window, comma-separated; >75: all longer texts.")] = (
        "9,25,75,>75"
    ),
    column: Annotated[str | None, typer.Option(help="The column of a table that holds the texts.")] = None,
    keep: Annotated[int, typer.Option(min=1, help="Contexts of each word and length to mine.")] = 100,
    language: Annotated[str | None, typer.Option(help="Language of the text; default: that of the words.")] = None,
    layers: Annotated[str | None, typer.Option(help="Layers, comma-separated, e.g. 0,6,12; default: the last.")] = None,
    method: Annotated[
        str | None, typer.Option(help="fixed or random draws, root-only, draws=N, at-least=N; comma-separated.")
    ] = None,
    traits: Annotated[
        str | None, typer.Option(help="Traits for LPBS: a data set, a file, or none; default: by language (en, bn).")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for readings, report and chart.")] = Path(
        "tiltmeter-context-length"
    ),
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 0,
    permutations: Annotated[int, typer.Option(help="Draws of a permutation test that is too large to count.")] = 10_000,
    engine: Annotated[str, typer.Option(help="local, or ray: mine and embed on a Ray cluster.")] = "local",
    ray_address: Annotated[
        str | None, typer.Option(help="Address of the cluster; default: one on this machine.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that mine, or CPUs of a cluster made here.")] = 1,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> None:
    """How the effect depends on how much text stands around a word: CEAT by length, and LPBS by sentence structure.

    LPBS is for masked language models; in English and Bangla traits come along, for others give a file.

    Examples:

    * tiltmeter lab context-length bundled:minilm --corpus news.txt.gz --lexicon
      gender.male_terms,gender.female_terms,attributes.career,attributes.family --lengths 5,9,15,25
    * tiltmeter lab context-length hf:bert-base-uncased --layers 4,8,12 --mined mined/
    """
    from tiltmeter.files import write_atomically
    from tiltmeter.lab.studies.context_length import context_length as study_of
    from tiltmeter.models.transformers.on_ray import on_ray
    from tiltmeter.probes import Options
    from tiltmeter.run.audit import audit
    from tiltmeter.run.suite import Suite

    groups = split(lexicon)
    if groups is not None and len(groups) != 4:
        raise BadInput(f"--lexicon takes two groups of targets and two of attributes, and {len(groups)} were given")
    specs = _with_layers(models, split(layers))
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    context.with_resource(locked(out))
    folder = _mined(
        corpus,
        mined,
        groups,
        out,
        lengths=split(lengths) or [],
        keep=keep,
        column=column,
        language=language,
        seed=seed,
        engine=engine,
        ray_address=ray_address,
        workers=workers,
    )
    probes = _probes(folder, groups, method, traits, Options(permutations=permutations, seed=seed))
    suite = Suite("context-length", "CEAT by length of the window, LPBS by sentence structure", tuple(probes))
    with on_ray(workers=workers, address=ray_address) if engine == "ray" else contextlib.nullcontext():
        found = audit(specs, suite=suite, out=out, cache=not no_cache, announce=say)
    study = study_of(found.readings)
    values = {**study.to_dict(), "skipped": found.to_dict()["skipped"], "folder": str(out)}
    write_atomically(out / "context_length.json", (json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode())
    chart, report = _chart(study, out), found.report(out)
    if as_json:
        print_json(values)
        return
    columns = ("model", "probe", "length", "d [95% interval]", "p", "as published", "words", "contexts")
    if rows := _rows(study):
        show(rows, columns, False)
    for curve in study.curves:
        typer.echo(curve.plain_words)
    for model, reason in dict.fromkeys((each.model, each.reason) for each in found.skipped):
        names = [each.probe for each in found.skipped if (each.model, each.reason) == (model, reason)]
        typer.echo(f"Not measured on {model}: {', '.join(names)} ({reason})")
    typer.echo(f"Results: {out}")
    if chart:
        typer.echo(f"Chart:   {chart}")
    typer.echo(f"Report:  {report}")


@app.command()
def stability(
    folder: Annotated[Path, typer.Argument(help="An audit of several models with a reading of cabm each.")],
    probe: Annotated[str, typer.Option(help="Which of its probes, by id.")] = "cabm",
    as_json: Json = False,
) -> None:
    """How steady the scores of occupations are from model to model: CABM beside WEAT, MAC, SAME and PMI alone.

    Example:

    * tiltmeter audit bundled:minilm hf:bert-base-uncased --suite cabm --out results; tiltmeter lab stability results
    """
    from rich.console import Console

    from tiltmeter.lab.studies.stability import across_models, shared_words
    from tiltmeter.readings import Audit
    from tiltmeter.views.terminal.stability import stability_rows, stability_view

    readings = [reading for reading in Audit.load(folder).readings if reading.id == probe]
    found = across_models(readings)
    if as_json:
        print_json(stability_rows(found))
    else:
        Console(width=width()).print(stability_view(found, shared_words(readings)))


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
        parse(spec)  # a layer that is no number is said before anything is mined
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
    mine(corpus or [], lexicon=groups, out=folder, least=1, announce=say, **settings)
    return folder


def _probes(folder: Path, groups: list[str] | None, method: str | None, traits: str | None, options: Any) -> list[Any]:
    from tiltmeter.probes import make_probes

    named: dict[str, Any] = {"targets": groups[:2], "attributes": groups[2:]} if groups else {}
    probes = make_probes("ceat", data=folder, method=method, options=options, **named)
    chosen = _TRAITS.get(probes[0].stimuli.language, "none") if traits is None else traits
    return [*probes, *(() if chosen == "none" else make_probes("lpbs", data=chosen, options=options))]


def _chart(study: Any, out: Path) -> Path | None:
    from tiltmeter.files import write_atomically
    from tiltmeter.views.charts import to_svg
    from tiltmeter.views.charts.context_length import context_chart

    chart = context_chart(study)
    if chart is None:
        return None
    path = out / "context_length.svg"
    write_atomically(path, to_svg(chart).encode())
    return path


def _rows(study: Any) -> list[dict[str, Any]]:
    from tiltmeter.readings import p_number

    return [
        {
            "model": curve.model,
            "probe": curve.probe,
            "length": point.length,
            "d [95% interval]": f"{point.effect:.2f} [{point.ci.low:.2f}, {point.ci.high:.2f}]",
            "p": None if point.p_value is None else p_number(point.p_value),
            "as published": None
            if point.published is None
            else f"{point.published:.2f}, p {p_number(point.published_p_value)}",
            "words": point.words,
            "contexts": point.contexts,
        }
        for curve in study.curves
        for point in curve.points
    ]
