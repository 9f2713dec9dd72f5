"""The command that runs one probe on one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiltmeter.cli.output import (
    BudgetText,
    Json,
    Keys,
    NoCache,
    Permutations,
    Seed,
    parse_budget,
    print_json,
    say,
    split,
    use_keys,
    width,
)
from tiltmeter.errors import BadInput

if TYPE_CHECKING:
    from tiltmeter.readings import Reading

app = typer.Typer()


@app.command()
def probe(
    name: Annotated[str, typer.Argument(help="Kind of probe; tiltmeter probes lists them.")],
    model: Annotated[str, typer.Argument(help="Model spec, e.g. bundled:glove.")],
    targets: Annotated[
        str | None, typer.Option(help="Groups, comma-separated: gender.male_terms, or words: he+him+his.")
    ] = None,
    attributes: Annotated[str | None, typer.Option(help="Groups, comma-separated.")] = None,
    pairs: Annotated[
        str | None, typer.Option(help="Word pairs, e.g. gender.definitional, or she/he,woman/man.")
    ] = None,
    templates: Annotated[str | None, typer.Option(help="Sentence templates, e.g. seat.bleached.")] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="Sentences: a data set's name, a file or folder (GenderLex, SEAT, ...)."),
    ] = None,
    vectors: Annotated[str | None, typer.Option(help="Word vectors for similarities, e.g. bundled:glove.")] = None,
    method: Annotated[str | None, typer.Option(help="How to score, where a probe has several ways.")] = None,
    threshold: Annotated[float | None, typer.Option(help="cabm: from where on a score is a lean (0.1).")] = None,
    labels: Annotated[str | None, typer.Option(help="cabm: table of occupations with labels of your own.")] = None,
    corpus: Annotated[str | None, typer.Option(help="cabm: folder of tiltmeter mine, to count PMI in.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE: what a probe of another package takes.")] = None,
    alternative: Annotated[str, typer.Option(help="two-sided, greater or less.")] = "two-sided",
    budget: BudgetText = None,
    key: Keys = None,
    seed: Seed = 0,
    permutations: Permutations = 10_000,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> None:
    """Run one probe on one model and show everything behind the number.

    Examples:

    * tiltmeter probe weat bundled:glove
    * tiltmeter probe weat static:my.vec --targets weat.math,weat.arts_7 --attributes mine.yaml.he,mine.yaml.she
    * tiltmeter probe weat bundled:glove --targets he+him+his,she+her+hers
    * tiltmeter probe seat bundled:minilm --from sent-weat6.jsonl
    * tiltmeter probe association openai:text-embedding-3-small --from word_lists/gender
    * tiltmeter probe cloze bundled:smollm2 --from genderlex --vectors bundled:glove
    * tiltmeter probe pairs hf:./my-model --from crows_pairs --method nangia
    * tiltmeter probe cabm hf:./my-model --from winobias --labels my_labels.csv --threshold 0.2
    """
    from tiltmeter.probes import Options, make_probes
    from tiltmeter.run.probe import run_probes

    use_keys(key)
    stimuli = {
        "targets": _groups(targets),
        "attributes": _groups(attributes),
        "pairs": _pairs(pairs),
        "templates": templates,
        "data": source,
        "vectors": vectors,
        "method": method,
        "threshold": threshold,
        "labels": labels,
        "corpus": corpus,
        **_further(option or []),
    }
    probes = make_probes(name, options=Options(alternative, permutations, seed), **stimuli)
    readings = run_probes(probes, model, cache=not no_cache, budget=parse_budget(budget), announce=say)
    if as_json:
        print_json([reading.to_dict() for reading in readings])
    else:
        _show_readings(readings)


def _groups(text: str | None) -> list[str | list[str]] | None:
    """Groups as they are typed: addresses, which hold a dot, or words with a plus between them."""
    parts = split(text)
    return None if parts is None else [part.split("+") if "." not in part and "+" in part else part for part in parts]


def _pairs(text: str | None) -> str | list[list[str]] | None:
    """Pairs as they are typed: an address, or she/he,woman/man."""
    return [pair.strip().split("/") for pair in text.split(",")] if text and "/" in text and "." not in text else text


def _further(options: list[str]) -> dict[str, Any]:
    """Options of a probe that has others than ours, as name=value; a value is read as YAML reads it."""
    import yaml

    values = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise BadInput(f"--option is given as NAME=VALUE, not '{text}'")
        values[key.strip()] = yaml.safe_load(value)
    return values


def _show_readings(readings: Sequence[Reading]) -> None:
    from rich.console import Console

    from tiltmeter.views.terminal.table import reading_view

    console, kind = Console(width=width()), readings[0].probe
    if kind == "cloze":
        from tiltmeter.views.terminal.cloze import cloze_view

        table = cloze_view(readings)
        if table is not None:
            console.print(reading_view(readings[0]), "", table)
            return
    for reading in readings:
        console.print(reading_view(reading), "")
        if kind == "cabm":
            from tiltmeter.views.terminal.cabm import cabm_view

            console.print(cabm_view(reading))
