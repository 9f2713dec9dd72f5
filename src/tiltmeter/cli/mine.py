"""Commands that read a corpus of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiltmeter.cli.output import Column, Engine, Json, Language, RayAddress, Workers, print_json, say, show, split
from tiltmeter.errors import BadInput

if TYPE_CHECKING:
    from tiltmeter.stimuli.mining import MiningReport

app = typer.Typer()
_MOST_NAMED = 20


@app.command(rich_help_panel="Words, sentences and data")
def mine(
    corpus: Annotated[list[str], typer.Argument(help="Text, JSONL, CSV, TSV or Parquet files; .gz and .zst too.")],
    lexicon: Annotated[str, typer.Option(help="Groups of words or whole lexicons, comma-separated.")],
    out: Annotated[Path, typer.Option(help="Folder for the windows.")],
    lengths: Annotated[
        str, typer.Option(help="Window lengths in words; >N: whole texts that are longer; sentence: the sentence.")
    ] = "9,25,75,>75",
    keep: Annotated[int, typer.Option(min=1, help="Maximum number of texts to keep per word and length.")] = 5000,
    least: Annotated[int, typer.Option(min=1, help="Report words with fewer texts than this per length.")] = 30,
    column: Column = None,
    within: Annotated[str, typer.Option(help="Take windows from the whole text or from the sentence.")] = "text",
    across: Annotated[
        str,
        typer.Option(help="Let windows cross the ends of lines (lines) or of records (records), or of neither (none)."),
    ] = "none",
    language: Language = None,
    errors: Annotated[
        str, typer.Option(help="On bytes that are not UTF-8: strict stops, replace continues.")
    ] = "strict",
    seed: Annotated[int, typer.Option(help="Random seed of the sample.")] = 0,
    workers: Workers = 1,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Find the words of a lexicon in a corpus, and keep the texts around them.

    Examples:

    * tiltmeter mine news.txt.gz --lexicon gender.male_terms,gender.female_terms --out mined
    * tiltmeter mine posts.jsonl --column body --lexicon my.yaml --lengths 9,sentence --out mined --workers 8
    """
    from tiltmeter.stimuli.mining import mine as run

    report = run(
        corpus,
        lexicon=split(lexicon) or [],
        out=out,
        lengths=split(lengths) or [],
        keep=keep,
        least=least,
        column=column,
        within=one_of("within", within, "text", "sentence"),
        across=one_of("across", across, "lines", "records", "none"),
        language=language,
        errors=one_of("errors", errors, "strict", "replace"),
        seed=seed,
        workers=workers,
        engine=one_of("engine", engine, "local", "ray"),
        ray_address=ray_address,
        announce=say,
    )
    if as_json:
        print_json(report.to_dict())
    else:
        _show(report)


def one_of(option: str, value: str, *known: str) -> Any:
    """The value of an option that takes few; another is an error."""
    if value not in known:
        raise BadInput(f"--{option} is {' or '.join(known)}, not '{value}'")
    return value


def _show(report: MiningReport) -> None:
    show(_by_group(report), ("group", "length", "words", "found", "kept", "with too few"), as_json=False)
    few: dict[str, dict[str, int]] = {}
    for count in report.too_few:
        if count.word not in report.never_found:
            few.setdefault(count.word, {})[count.length] = count.kept
    named = [f"{word} ({', '.join(f'{length}: {kept}' for length, kept in of.items())})" for word, of in few.items()]
    _name(f"Words with fewer than {report.least} texts of a length", named)
    _name("Never found", report.never_found)
    if report.broken:
        typer.echo(f"{report.broken:,} characters were not UTF-8 and were replaced.")
    kept = f"{report.rows:,} texts in {report.folder}"
    typer.echo(f"{report.occurrences:,} occurrences in {report.records:,} records; {kept}")


def _name(title: str, words: Sequence[str]) -> None:
    """Some words in one line; ``--json`` has them all."""
    if words:
        left = len(words) - _MOST_NAMED
        typer.echo(f"{title}: {', '.join(words[:_MOST_NAMED])}{f' and {left} more (--json)' if left > 0 else ''}")


def _by_group(report: MiningReport) -> list[dict[str, Any]]:
    """How many texts there are of each group and length, and how many words have too few."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for count in report.counts:
        for group in count.groups:
            empty = {"group": group, "length": count.length, "words": 0, "found": 0, "kept": 0, "with too few": 0}
            row = rows.setdefault((group, count.length), empty)
            row["words"] += 1
            row["found"] += count.found
            row["kept"] += count.kept
            row["with too few"] += bool(count.missing)
    return list(rows.values())
