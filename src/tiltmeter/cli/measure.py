"""Commands that ask models: a suite of probes, one probe with everything behind its number, or one sentence."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option, Typer, echo

from tiltmeter.cli import output
from tiltmeter.errors import BadInput, TiltmeterError, without_passwords
from tiltmeter.files import at_home, locked, parse_yaml

if TYPE_CHECKING:
    from tiltmeter.readings import Audit, Reading, Skipped

app = Typer()


@app.command(rich_help_panel="Measure")
def audit(
    context: Context,
    models: Annotated[
        list[str] | None, Argument(help="Model specs; default: the sample models and one with a known bias.")
    ] = None,
    suite: Annotated[str, Option(help="Name of a suite, or a YAML file.")] = "default",
    mined: Annotated[
        Path | None, Option(help="Folder written by tiltmeter mine: its words are also tested in context (CEAT).")
    ] = None,
    out: Annotated[Path, Option(help="Folder for the readings and the report.")] = Path("tiltmeter-results"),
    budget: output.BudgetText = None,
    key: output.Keys = None,
    seed: output.Seed = 0,
    permutations: output.Permutations = 10_000,
    no_cache: output.NoCache = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show what would be asked and what it would cost; ask nothing.")
    ] = False,
    engine: output.Engine = "local",
    ray_address: output.RayAddress = None,
    workers: output.ClusterCpus = None,
    gpus_per_model: output.GpusPerModel = 0,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Show every reading, not just the summary.")] = False,
    as_json: output.Json = False,
) -> int:
    """Run a suite of probes on models; write readings and a report.

    Examples:

    * tiltmeter audit
    * tiltmeter audit hf:./my-model static:vectors.vec --suite weat --out results
    * tiltmeter audit hf:./my-bangla-bert --suite bangla --mined windows
    * tiltmeter audit openai:text-embedding-3-small --budget '200k tokens' --dry-run
    * tiltmeter audit 'hf:my/8b?dtype=bfloat16' completions:llama?base_url=http://localhost:8000/v1
    * tiltmeter audit hf:model-a hf:model-b hf:model-c --engine ray --ray-address auto --gpus-per-model 1
    """
    from tiltmeter.run.audit import audit as run
    from tiltmeter.run.audit import default_models
    from tiltmeter.run.audit import dry_run as plan_audit

    output.use_keys(key)
    specs = models or default_models(output.say)
    if dry_run:
        rows = plan_audit(specs, suite=suite)
        output.show(rows, ("model", "asked for", "inputs", "new", "requests", "tokens", "dollars"), as_json)
        return 0
    out = at_home(out)
    context.with_resource(locked(out))
    context.with_resource(output.on_engine(engine, ray_address, workers, gpus_per_model))
    result = run(
        specs,
        suite=suite,
        out=out,
        cache=not no_cache,
        seed=seed,
        permutations=permutations,
        mined=None if mined is None else at_home(mined),
        budget=output.parse_budget(budget),
        announce=output.say,
    )
    report = result.report(out)
    failed = [skipped for skipped in result.skipped if skipped.failed]
    if as_json:
        from tiltmeter.views.summary import summarise

        output.print_json({**result.to_dict(), "summary": summarise(result).to_dict()})
    else:
        show_audit(result, report, verbose=verbose)
    first: dict[str, Skipped] = {}
    for skipped in failed:
        first.setdefault(skipped.model, skipped)
    for skipped in first.values():
        output.complain(skipped.in_words)
    return 2 if failed else 0


@app.command(rich_help_panel="Read, compare and gate")
def baseline(
    context: Context,
    model: Annotated[str, Argument(help="Model spec, e.g. hf:./my-model.")],
    jitter: Annotated[int, Option(min=0, help="Number of harmless variants to audit: at least 3, or 0.")] = 8,
    runs: Annotated[
        list[str] | None, Option("--run", help="Another run of the same training, e.g. from another seed; at least 3.")
    ] = None,
    suite: Annotated[str, Option(help="Name of a suite, or a YAML file.")] = "default",
    out: Annotated[Path, Option(help="Folder for the readings, report and noise floor.")] = Path("tiltmeter-baseline"),
    budget: output.BudgetText = None,
    key: output.Keys = None,
    seed: output.Seed = 0,
    permutations: output.Permutations = 10_000,
    no_cache: output.NoCache = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show what would be asked and what it would cost; ask nothing.")
    ] = False,
    as_json: output.Json = False,
) -> None:
    """Audit a model and harmless variants of it, so that tiltmeter check knows how far readings move by themselves.

    Weights and word vectors get noise of 2% of their spread, or are rounded to 8 or 6 bits; an API is asked again in
    another order. With --run, other runs of the same training are audited too: two of them differ by more than any
    rounding. Variants already audited are not audited again.

    Examples:

    * tiltmeter baseline hf:./model-v1 --out results-v1
    * tiltmeter baseline hf:./seed-0 --run hf:./seed-1 --run hf:./seed-2 --run hf:./seed-3
    * tiltmeter baseline static:vectors.vec --suite weat --jitter 20
    """
    from tiltmeter.compare import measure_noise, save_noise
    from tiltmeter.run.jitter import dry_run as plan_baseline
    from tiltmeter.run.jitter import jitter as run

    output.use_keys(key)
    others = list(runs or ())
    for n, what in ((jitter, "--jitter"), (len(others), "--run")):
        if 0 < n < 3:
            raise BadInput(f"{n} of {what} say too little about how far a model wobbles: give at least 3, or none")
    if not jitter and not others:
        raise BadInput("without --jitter and --run there is no floor to measure: run tiltmeter audit")
    if dry_run:
        rows = plan_baseline(model, n=jitter, runs=others, suite=suite)
        output.show(rows, ("model", "asked for", "inputs", "new", "requests", "tokens", "dollars"), as_json)
        return
    out = at_home(out)
    context.with_resource(locked(out))
    options = {"suite": suite, "cache": not no_cache, "seed": seed, "permutations": permutations}
    audited = run(
        model, out=out, n=jitter, runs=others, budget=output.parse_budget(budget), announce=output.say, **options
    )
    noise = measure_noise(*audited)
    path = save_noise(noise, out)
    report = audited.base.report(out)
    columns = ("probe", "times its items' noise", "measured on")
    rows = [
        dict(zip(columns, (id, f"{one.effect:.2f}", f"{one.n} {one.source}"), strict=True))
        for id, one in noise.probes.items()
    ]
    output.show(rows, columns, as_json)
    for name in noise.left_out:
        output.say(f"left out: {name} is not harmless to this model (agreement {noise.agreement[name]:.3f})")
    output.say(f"Floor:   {path}\nReport:  {report}")


def show_audit(result: Audit, report: Path, *, verbose: bool) -> None:
    from tiltmeter.views.summary import summarise
    from tiltmeter.views.terminal.glance import Glance

    output.print_view(Glance(summarise(result)))
    if verbose:
        _show_everything(result)
    echo(f"{result.asked:,} inputs sent to models, {result.recalled:,} from the cache.")
    n = len(result.skipped)
    left_out = f", and {n} {'probe that does' if n == 1 else 'probes that do'} not fit" if n else ""
    more = "" if verbose else f" (--verbose: every reading{left_out})"
    echo(f"Report: {report}{more}")


def _show_everything(result: Audit) -> None:
    from tiltmeter.views.report.wording import not_measured
    from tiltmeter.views.rows import rows_by_model
    from tiltmeter.views.terminal.table import audit_table

    for name, rows in rows_by_model(result).items():
        if rows:
            output.print_view("", audit_table(name, rows))
    for probes, models, reason in not_measured(result):
        output.print_view(f"Not measured on {', '.join(models)}: {', '.join(probes)} ({reason})")
    for note in result.notes:
        output.print_view(f"Note: {note}")
    output.print_view(
        "d: 0 is level, .2 small, .5 medium, .8 large. p is corrected for the bias tests of its model (Holm)."
    )


@app.command(rich_help_panel="Measure")
def probe(
    name: Annotated[str, Argument(help="Kind of probe; tiltmeter probes lists them.")],
    model: Annotated[str, Argument(help="Model spec, e.g. bundled:glove.")],
    targets: Annotated[
        str | None, Option(help="Groups, comma-separated: gender.male_terms, or words: he+him+his.")
    ] = None,
    attributes: Annotated[str | None, Option(help="Groups, comma-separated.")] = None,
    pairs: Annotated[str | None, Option(help="Word pairs, e.g. gender.definitional, or she/he,woman/man.")] = None,
    templates: Annotated[str | None, Option(help="Sentence templates, e.g. seat.bleached.")] = None,
    source: Annotated[
        str | None,
        Option("--from", help="Sentences: a data set's name, a file or folder (GenderLex, SEAT, ...)."),
    ] = None,
    vectors: Annotated[str | None, Option(help="Word vectors for similarities, e.g. bundled:glove.")] = None,
    method: Annotated[str | None, Option(help="Scoring method, for probes that offer several.")] = None,
    limit: Annotated[int | None, Option(help="bbq: roughly how many examples per category; default: all.")] = None,
    threshold: Annotated[float | None, Option(help="cabm: smallest score that counts as a lean; default: 0.1.")] = None,
    labels: Annotated[str | None, Option(help="cabm: your own table of labelled occupations.")] = None,
    corpus: Annotated[str | None, Option(help="cabm: folder written by tiltmeter mine, to compute PMI from.")] = None,
    option: Annotated[list[str] | None, Option(help="NAME=VALUE: an option of a probe from another package.")] = None,
    alternative: Annotated[str, Option(help="two-sided, greater or less.")] = "two-sided",
    budget: output.BudgetText = None,
    key: output.Keys = None,
    seed: output.Seed = 0,
    permutations: output.Permutations = 10_000,
    no_cache: output.NoCache = False,
    as_json: output.Json = False,
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
    * tiltmeter probe bbq bundled:smollm2 --limit 100
    * tiltmeter probe cabm hf:./my-model --from winobias --labels my_labels.csv --threshold 0.2
    """
    from tiltmeter.probes import Options, make_probes
    from tiltmeter.run.probe import run_probes

    output.use_keys(key)
    stimuli = {
        "targets": _groups(targets),
        "attributes": _groups(attributes),
        "pairs": output.parse_pairs(pairs),
        "templates": templates,
        "data": source,
        "vectors": vectors,
        "method": method,
        "limit": limit,
        "threshold": threshold,
        "labels": labels,
        "corpus": corpus,
        **_further(option or []),
    }
    probes = make_probes(name, options=Options(alternative, permutations, seed), **stimuli)
    readings = run_probes(probes, model, cache=not no_cache, budget=output.parse_budget(budget), announce=output.say)
    if as_json:
        output.print_json([reading.to_dict() for reading in readings])
    else:
        _show_readings(readings)


def _groups(text: str | None) -> list[str | list[str]] | None:
    """Groups as they are typed: addresses, which hold a dot, or words with a plus between them."""
    parts = output.split(text)
    return None if parts is None else [part.split("+") if "." not in part and "+" in part else part for part in parts]


def _further(options: list[str]) -> dict[str, Any]:
    """Options of a probe that has others than ours, as name=value; a value is read as YAML reads it."""
    values = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise BadInput(f"--option is given as NAME=VALUE, not '{text}'")
        values[key.strip()] = parse_yaml(value, f"--option {key.strip()}")
    return values


def _show_readings(readings: Sequence[Reading]) -> None:
    from tiltmeter.readings.details.cabm import CabmDetails
    from tiltmeter.readings.details.cloze import ClozeDetails
    from tiltmeter.views.terminal.cloze import cloze_view
    from tiltmeter.views.terminal.table import reading_view

    if isinstance(readings[0].details, ClozeDetails) and (table := cloze_view(readings)) is not None:
        output.print_view(reading_view(readings[0]), "", table)
        return
    for reading in readings:
        output.print_view(reading_view(reading), "")
        if isinstance(reading.details, CabmDetails):
            from tiltmeter.views.terminal.cabm import cabm_view

            output.print_view(cabm_view(reading))


@app.command(rich_help_panel="Measure")
def cloze(
    model: Annotated[str, Argument(help="A causal or masked language model, e.g. bundled:smollm2.")],
    sentence: Annotated[str, Argument(help="A sentence with a choice in it, such as [him/her].")],
    context: Annotated[list[str] | None, Option(help="A context word; may be given more than once.")] = None,
    vectors: Annotated[str, Option(help="Word vectors to compute similarities with.")] = "bundled:glove",
    key: output.Keys = None,
    no_cache: output.NoCache = False,
    as_json: output.Json = False,
) -> None:
    """Show which of two words a model expects in a sentence, with and without each context word.

    Examples:

    * tiltmeter cloze bundled:smollm2 "The chef mentioned that the recipe was crafted by [him/her]"
    * tiltmeter cloze hf:./my-model "The pilot said that [he/she] was late." --context pilot
    """
    from tiltmeter.run.one_sentence import cloze as ask
    from tiltmeter.views.terminal.cloze import sentence_view

    output.use_keys(key)
    answer = ask(model, sentence, contexts=context, vectors=vectors, cache=not no_cache)
    if as_json:
        output.print_json(answer.to_dict())
        return
    output.print_view(sentence_view(answer.rows, pronouns=answer.words))
    if answer.rows[0]["ended_to_1"] is not None:
        echo("ended: the word is scored together with the full stop after it, so that 'her mother' does not count.")
    echo("0.50 each is level. A context revises a probability P to P^(1 - similarity of word and context).")


@app.command(rich_help_panel="Measure")
def unmask(
    model: Annotated[str, Argument(help="A masked language model, e.g. hf:bert-base-uncased.")],
    sentence: Annotated[str | None, Argument(help="A sentence with [MASK] in it; without one, you are asked.")] = None,
    top: Annotated[int, Option(min=1, help="How many words to show.")] = 10,
    key: output.Keys = None,
    as_json: output.Json = False,
) -> None:
    """Show the words that a masked language model expects at [MASK], with their probabilities.

    Examples:

    * tiltmeter unmask hf:bert-base-uncased "The nurse said that [MASK] was tired."
    * tiltmeter unmask reference:tilt-0.9
    """
    from tiltmeter.models import load

    output.use_keys(key)
    loaded = load(model)
    if sentence is not None:
        _unmask(loaded, model, sentence, top, as_json)
        return
    prompt = "sentence with [MASK] (empty to stop): " if sys.stdin.isatty() else ""
    while line := _line(prompt):
        try:
            _unmask(loaded, model, line, top, as_json)
        except TiltmeterError as error:
            if not prompt:
                raise
            output.say(f"error: {error}")  # a slip at the keyboard does not end the talk


def _line(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        return ""


def _unmask(loaded: Any, model: str, sentence: str, top: int, as_json: bool) -> None:
    from tiltmeter.run.one_sentence import fill_mask

    answer = fill_mask(loaded, without_passwords(model), sentence, top=top)
    if as_json:
        output.print_json(answer.to_dict())
    else:
        rows = [{"word": chance.word, "probability": f"{chance.probability:.4f}"} for chance in answer.words]
        output.show(rows, ("word", "probability"), as_json=False)
