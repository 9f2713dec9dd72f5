"""The command that trains vectors on a corpus of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tiltmeter.cli.mine import one_of
from tiltmeter.cli.output import Column, Engine, Json, RayAddress, Seed, Workers, print_json, say, show

if TYPE_CHECKING:
    from tiltmeter.lab.glove.glove import GloveReport

train_app = typer.Typer(help="Train vectors on your own text.", no_args_is_help=True)
_MOST_NAMED = 10


@train_app.callback()
def _train() -> None:
    pass


@train_app.command()
def glove(
    corpus: Annotated[list[str], typer.Argument(help="Text, JSONL, CSV, TSV or Parquet files; .gz and .zst too.")],
    out: Annotated[Path, typer.Option(help="Folder for the vectors.")],
    neutral: Annotated[
        str | None,
        typer.Option(
            help="Groups to confine: gender, race, addresses of two or more, a lexicon; default: plain GloVe."
        ),
    ] = None,
    size: Annotated[int, typer.Option(min=2, help="Dimensions, including the reserved ones.")] = 100,
    window: Annotated[int, typer.Option(min=1, help="Context window: words on each side.")] = 10,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer words.")] = 5,
    most_words: Annotated[int, typer.Option(min=2, help="Maximum vocabulary size.")] = 400_000,
    iterations: Annotated[int, typer.Option(min=1, help="Training passes.")] = 25,
    rate: Annotated[float, typer.Option(help="Initial learning rate.")] = 0.05,
    x_max: Annotated[
        float | None,
        typer.Option(help="Pairs counted this often or more weigh the same; default: 100, 10 below 10M words."),
    ] = None,
    strength: Annotated[float, typer.Option(help="How strongly groups are confined to the reserved dimensions.")] = 1.0,
    language: Annotated[str, typer.Option(help="Language of the corpus, or a pack.")] = "en",
    column: Column = None,
    errors: Annotated[
        str, typer.Option(help="On bytes that are not UTF-8: strict stops, replace continues.")
    ] = "strict",
    seed: Seed = 0,
    workers: Workers = 1,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Train GloVe vectors; --neutral confines what tells the groups apart to the last dimensions.

    DIR/vectors.bin has all dimensions, DIR/neutral.bin those without the groups, DIR/reserved.bin those with them. An
    interrupted run resumes with the same command, with the same result to the byte.

    Examples:

    * tiltmeter train glove news.txt.gz --neutral gender --out glove-gn
    * tiltmeter audit static:glove-gn/vectors.bin static:glove-gn/neutral.bin
    * tiltmeter train glove posts.jsonl --column body --neutral race --out glove-rn --workers 8
    """
    from tiltmeter.lab.glove.glove import train_glove

    report = train_glove(
        corpus,
        out=out,
        neutral=neutral,
        size=size,
        window=window,
        min_count=min_count,
        most_words=most_words,
        iterations=iterations,
        rate=rate,
        x_max=x_max,
        strength=strength,
        language=language,
        column=column,
        errors=one_of("errors", errors, "strict", "replace"),
        seed=seed,
        workers=workers,
        engine=one_of("engine", engine, "local", "ray"),
        ray_address=ray_address,
        announce=say,
    )
    if as_json:
        print_json({**report.to_dict(), "models": list(report.models)})
    else:
        _show(report)


def _show(report: GloveReport) -> None:
    if report.groups:
        rows = [
            {
                "group": group.name,
                "seed words": len(group.words),
                "such as": ", ".join(group.words[:5]),
                "not in the text": _some(group.missing),
            }
            for group in report.groups
        ]
        show(rows, ("group", "seed words", "such as", "not in the text"), as_json=False)
    typer.echo(
        f"{report.words:,} words, {report.vocabulary:,} of them different and frequent enough; mean loss "
        f"{report.losses[0]:.4f} -> {report.losses[-1]:.4f} in {len(report.losses)} iterations (lower is better)"
    )
    meaning = ("all dimensions", "without the reserved ones", "these alone")
    for spec, what in zip(report.models, meaning, strict=False):
        typer.echo(f"{spec}  {what}")


def _some(words: tuple[str, ...]) -> str:
    left = len(words) - _MOST_NAMED
    return ", ".join(words[:_MOST_NAMED]) + (f" and {left} more" if left > 0 else "")
