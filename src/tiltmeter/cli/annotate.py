"""Commands for people who judge: a model drafts rows, people accept and label, and their agreement is measured."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

from typer import Argument, Option, Typer

from tiltmeter.cli import output
from tiltmeter.errors import BadInput
from tiltmeter.files import at_home

app = Typer()


@app.command(rich_help_panel="Words, sentences and data")
def draft(
    source: Annotated[
        str, Argument(metavar="SENTENCES|LEXICON", help="A cloze set, file or draft; or words, e.g. occupations.all.")
    ],
    model: Annotated[str, Option("--with", help="The model that writes, e.g. bundled:smollm2 or chat:gpt-4o.")],
    out: Annotated[
        Path, Option("--out", "-o", help="CSV file for the draft, to review in the browser or a spreadsheet.")
    ],
    n: Annotated[int, Option("--each", min=1, help="Sentences to request for each word.")] = 2,
    context: Annotated[str, Option(help="What the words are: occupation, noun or verb.")] = "occupation",
    examples: Annotated[str, Option(help="Cloze set to take examples from when given words.")] = "cloze_en",
    seed: output.Seed = 0,
    temperature: Annotated[float, Option(min=0, help="Sampling temperature; 0: always the likeliest token.")] = 0.8,
    max_tokens: Annotated[int, Option(min=1, help="Maximum tokens per answer.")] = 64,
    budget: output.BudgetText = None,
    key: output.Keys = None,
    no_cache: output.NoCache = False,
    as_json: output.Json = False,
) -> None:
    """Have a model propose sentences for a cloze set; rules reject bad ones, and a person decides on the rest.

    It keeps sentences that end in their one pronoun, hold their context words and no other gendered word, follow the
    grammar rules of the language and differ from the others in more than one word. Rejected ones are counted by
    reason.

    Examples:

    * tiltmeter draft occupations.all --with bundled:smollm2 --out draft.csv
    * tiltmeter draft cloze_en --with chat:gpt-4o --each 5 --out draft.csv
    * tiltmeter serve --annotate draft.csv
    * tiltmeter probe cloze bundled:smollm2 --from draft.csv
    """
    from tiltmeter.run.draft import draft as propose

    output.use_keys(key)
    drafted = propose(
        source, model, out=out, n=n, context=context, examples=examples, seed=seed, temperature=temperature,
        max_tokens=max_tokens, cache=not no_cache, budget=output.parse_budget(budget), announce=output.say,
        progress=None,
    )  # fmt: skip
    if as_json:
        output.print_json(drafted.to_dict())
        return
    rows = [
        {"kept out because": reason, "rows": count, "for example": drafted.kept_out_examples[reason]}
        for reason, count in drafted.kept_out.items()
    ]
    if rows:
        output.show(rows, ("kept out because", "rows", "for example"), False)
    output.print_view(f"{len(drafted.rows)} of {drafted.proposed} sentences of {drafted.model} are in {drafted.file}")
    output.say(f"now decide row by row: tiltmeter serve --annotate {drafted.file}, or fill in the column accept")


@app.command(rich_help_panel="Words, sentences and data")
def agreement(
    labels: Annotated[Path, Argument(metavar="LABELS", help="Folder with one file per person, or a single CSV file.")],
    results: Annotated[
        list[Path] | None, Option("--results", "-r", help="Audit results with cloze readings of the same sentences.")
    ] = None,
    expert: Annotated[
        str | None, Option(help="A person's name, or a cloze set that says what people expect, e.g. genderlex.")
    ] = None,
    seed: output.Seed = 0,
    as_json: output.Json = False,
) -> None:
    """Measure how far people agree on labels beyond chance: with each other, with an expert and with models.

    Krippendorff's alpha and Fleiss' kappa of all, Cohen's kappa of every two, and of each person with the expert, with
    the majority of the others and with each model; intervals resample context words. 1 is perfect, 0 is chance.

    Examples:

    * tiltmeter agreement labels
    * tiltmeter agreement labels --expert ann --results tiltmeter-results
    * tiltmeter agreement labels.csv --expert genderlex --json
    """
    from tiltmeter.compare.agreement import agreement as compare_labels
    from tiltmeter.views.terminal.agreement import agreement_view

    result = compare_labels(at_home(labels), [*map(at_home, results or ())], expert=expert, seed=seed)
    if as_json:
        output.print_json({**result.to_dict(), "change": result.change})
    else:
        output.print_view(agreement_view(result))


def serve_annotation(
    source: str | None, people: str | None, labels: Path | None, *, stage: int, either: bool, seed: int, host: str,
    port: int, token: str | None, open_browser: bool,
) -> bool:  # fmt: skip
    """Serve the pages for a draft, or for people who label; False where the address cannot be had."""
    from tiltmeter.web.app import listen
    from tiltmeter.web.security import DashboardSettings

    if people is None and labels is None:
        from tiltmeter.web.annotation.review import Review, review_app

        file = at_home(source or "")
        if not file.is_file():
            raise BadInput(f"no draft {file}: make one with tiltmeter draft, or name those who label with --people")
        settings = DashboardSettings(file.absolute().parent, host, port, token)
        pages = review_app(Review(file), settings)
        return listen(pages, settings, f"draft {file}", announce=output.say, open_browser=open_browser)
    from tiltmeter.stimuli.annotation.labels import LabelTask
    from tiltmeter.web.annotation.labelling import Labelling, labelling_app

    folder = at_home(labels or Path("labels"))
    task = LabelTask.of(source, either=either, seed=seed) if source else LabelTask.load(folder)
    if task is None:
        raise BadInput(f"{folder} holds no labels yet: name the sentences with --annotate")
    labelling = Labelling.start(folder, task, output.split(people) or (), stage=stage)
    settings = DashboardSettings(folder, host, port, by_link=True)
    links = labelling.write_links(f"http://{_reached_at(host)}:{port}/")
    who = ", ".join(labelling.people.values())
    output.say(f"{len(task.items)} sentences, stage {stage}, for {who}; the link of each is in {links}")
    return listen(labelling_app(labelling, settings), settings, f"labels in {folder}", announce=output.say)


def _reached_at(host: str) -> str:
    """How others write the address that is listened on: all addresses have no name but this machine's."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
