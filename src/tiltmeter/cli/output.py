"""How the command line prints and reads: tables or JSON, wide enough to read, plain where it is not a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from tiltmeter.errors import BadInput, unknown

ENGINES = ("local", "ray")

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask the model again, and store nothing.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Permutations = Annotated[int, typer.Option(help="Random permutations to draw when there are too many to count.")]
Column = Annotated[str | None, typer.Option(help="Column with the texts, in tables.")]
Language = Annotated[str | None, typer.Option(help="Language of the corpus, or a pack; default: the lexicon's.")]
Workers = Annotated[int, typer.Option(min=1, help="Worker processes, or CPUs for a local cluster.")]
Engine = Annotated[str, typer.Option(help="local, or ray for a Ray cluster.")]
GpusPerModel = Annotated[float, typer.Option(min=0, help="GPUs to reserve for each model.")]
ClusterCpus = Annotated[
    int | None, typer.Option("--workers", min=1, help="CPUs for a local Ray cluster; default: all.")
]
RayAddress = Annotated[str | None, typer.Option(help="Ray cluster to join; default: RAY_ADDRESS, or a local one.")]
Keys = Annotated[
    list[str] | None,
    typer.Option("--key", metavar="HOST=VARIABLE", help="Environment variable with the key for your own server."),
]
BudgetText = Annotated[
    str | None, typer.Option("--budget", help="Spend at most this, e.g. '100k tokens' or '50 requests'.")
]


def show(rows: list[dict[str, Any]], columns: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, header_style="bold")
    for row in rows:
        # Text, never str: a path with brackets must not be taken for markup.
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    print_view(table)


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def print_view(*views: Any) -> None:
    """Tables and texts, one below the other; a text is printed as it is."""
    from rich.console import Console

    console = Console(width=_width())
    for view in views:
        console.print(view, markup=False, highlight=False)


def print_json(values: Any) -> None:
    typer.echo(json.dumps(values, indent=1, ensure_ascii=False))


def _width() -> int | None:
    """The terminal's own width, or COLUMNS; wide enough to read where the output goes to a file."""
    return None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 140


def say(message: str) -> None:
    typer.echo(message, err=True)


def complain(message: str) -> None:
    """An error, in one line."""
    say(f"error: {' '.join(message.split())}")


def split(addresses: str | None) -> list[str] | None:
    return None if addresses is None else [part for part in map(str.strip, addresses.split(",")) if part]


def parse_pairs(text: str | None) -> str | list[list[str]] | None:
    """Pairs as they are typed: an address, or she/he,woman/man."""
    return [pair.strip().split("/") for pair in text.split(",")] if text and "/" in text and "." not in text else text


def use_keys(pairs: list[str] | None) -> None:
    """Name keys for this run, as TILTMETER_KEYS does for all."""
    if pairs:
        from tiltmeter.models.api.keys import name_keys

        name_keys(pairs)


def parse_budget(text: str | None) -> Any:
    if text is None:
        return None
    from tiltmeter.models.api import Budget

    return Budget.parse(text)


@contextlib.contextmanager
def on_engine(engine: str, ray_address: str | None, workers: int | None, gpus_per_model: float = 0) -> Iterator[None]:
    """Within this, models are asked on this machine, or on a cluster."""
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if engine == "local":
        if ray_address is not None or gpus_per_model:
            raise BadInput("--ray-address and --gpus-per-model are for a cluster: add --engine ray")
        yield
        return
    from tiltmeter.models.transformers.on_ray import on_ray

    with on_ray(workers=workers or os.cpu_count() or 1, address=ray_address, gpus_per_model=gpus_per_model):
        yield
