"""Commands for published texts: their tables, and concepts for one of their data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option, Typer, echo

from tiltmeter.cli import output
from tiltmeter.errors import BadInput
from tiltmeter.files import at_home

app = Typer()


@app.command(rich_help_panel="Measure")
def replicate(
    name: Annotated[str, Argument(help="cabm, clozegender, bangla or association.")],
    models: Annotated[
        list[str] | None,
        Argument(help="Model specs, language models and word vectors together; default: the sample models."),
    ] = None,
    table: Annotated[
        list[str] | None, Option(help="One table or figure, e.g. 2 or 'Figure 4'; may be given more than once.")
    ] = None,
    form: Annotated[str, Option(help="Form of the statistics: published or repaired.")] = "published",
    source: Annotated[
        str | None,
        Option("--from", help="Your own data: sentences (cabm), pairs with concepts (clozegender) or word lists."),
    ] = None,
    mined: Annotated[
        Path | None, Option(help="bangla: folder written by tiltmeter mine; default: the study's sample.")
    ] = None,
    pairs: Annotated[str | None, Option(help="association: opposed lists, e.g. career/family,career/support.")] = None,
    format: Annotated[str, Option(help="With --out: html, latex, csv or json.")] = "html",
    out: Annotated[Path | None, Option(help="File or folder to write to, with the charts of figures.")] = None,
    listed: Annotated[bool, Option("--list", help="List the tables and figures without measuring anything.")] = False,
    budget: output.BudgetText = None,
    key: output.Keys = None,
    seed: output.Seed = 0,
    permutations: output.Permutations = 10_000,
    no_cache: output.NoCache = False,
    as_json: output.Json = False,
) -> None:
    """Reproduce the tables and figures of a published text on your models, beside the printed values.

    A table that cannot be measured here says why in one line. Answers are cached, so an interrupted run resumes.

    Examples:

    * tiltmeter replicate clozegender bundled:smollm2 bundled:glove --table 2
    * tiltmeter replicate cabm hf:./my-model --out tables --format latex
    * tiltmeter replicate bangla hf:my-bangla-bert --mined windows
    * tiltmeter replicate association models_config.json --from word_lists --pairs career/family
    """
    from tiltmeter.lab.replicate.association import models_in
    from tiltmeter.lab.replicate.replicate import PAPERS
    from tiltmeter.lab.replicate.replicate import replicate as run
    from tiltmeter.views.exports.paper_tables import FORMS
    from tiltmeter.views.terminal.paper_tables import replication_view

    output.use_keys(key)
    if listed and name in PAPERS:
        rows = [{"table": each, "shows": wanted.title} for each, wanted in PAPERS[name].tables.items()]
        output.show(rows, ("table", "shows"), as_json)
        return
    if format not in FORMS:
        raise BadInput(f"--format is {', '.join(FORMS)}, not '{format}'")
    specs = [spec for one in models or () for spec in (models_in(one) if one.endswith(".json") else [one])]
    result = run(
        name,
        specs or None,
        tables=table,
        form=form,  # type: ignore[arg-type]
        data=source,
        mined=mined,
        pairs=None if pairs is None else [pair.split("/") for pair in output.split(pairs) or ()],
        cache=not no_cache,
        seed=seed,
        permutations=permutations,
        budget=output.parse_budget(budget),
        announce=output.say,
    )
    if as_json:
        output.print_json(result.to_dict())
    else:
        output.print_view(replication_view(result))
    if out is not None:
        for path in result.export(at_home(out), format=format):
            echo(f"Written: {path}", err=as_json)


@app.command(rich_help_panel="Words, sentences and data")
def concepts(
    pairs: Annotated[str, Argument(help="A table in the format of CrowS-Pairs, or crows_pairs for the public one.")],
    writer: Annotated[str, Option("--with", help="The model that proposes, e.g. chat:gpt-4o-mini.")],
    out: Annotated[Path, Option(help="CSV file for you to edit; concepts already in it are kept.")],
    budget: output.BudgetText = None,
    key: output.Keys = None,
    no_cache: output.NoCache = False,
    as_json: output.Json = False,
) -> None:
    """Have a chat model propose a concept for each gender pair of CrowS-Pairs, for you to check and correct.

    Edit the column concept; run it again and only pairs without a concept are asked about.

    Examples:

    * tiltmeter concepts crows_pairs --with chat:gpt-4o-mini --out concepts.csv
    * tiltmeter replicate clozegender --table 5 --from concepts.csv
    """
    from tiltmeter.run.concepts import propose_concepts

    output.use_keys(key)
    out = at_home(out)
    done = propose_concepts(
        pairs, writer, out=out, cache=not no_cache, budget=output.parse_budget(budget), announce=output.say
    )
    if as_json:
        output.print_json(done.to_dict())
        return
    echo(f"{done.pairs:,} pairs on gender: {done.kept:,} had a concept, {done.proposed:,} were proposed.")
    if done.nonsense:
        some = "; ".join(dict.fromkeys(repr(" ".join(answer.split())[:60]) for answer in done.examples))
        echo(f"{done.nonsense:,} answers were no concept and are left blank, e.g. {some}")
    echo(f"Check and correct the column concept: {out}")
