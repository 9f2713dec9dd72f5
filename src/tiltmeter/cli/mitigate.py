"""Commands that make a model lean less, and say whether it does."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Context, Option, Typer, echo

from tiltmeter.cli import output
from tiltmeter.errors import BadInput
from tiltmeter.files import at_home, locked, write_atomically

app = Typer()

PairsText = Annotated[str | None, Option(help="Word pairs: gender.gender, or she/he,woman/man; triples for 3 groups.")]
Rank = Annotated[int | None, Option(min=1, help="Directions to remove (hard, multi_class, inlp, sentence_debias).")]
Templates = Annotated[str, Option(help="Sentence templates for the pairs, for text models.")]
Corpus = Annotated[
    Path | None,
    Option(help="Text to fine-tune a language model on, one per line (cda, dropout, neutral_glove)."),
]
Steps = Annotated[int | None, Option(min=1, help="Fine-tuning steps of a language model (cda, dropout).")]
Alpha = Annotated[float | None, Option(help="hsr: penalty, in squared vector lengths; self_debias: decay.")]
Vocabulary = Annotated[int, Option(min=100, help="Number of words of a vector file to use.")]


@app.command(rich_help_panel="Mitigate")
def debias(
    method: Annotated[
        str,
        Argument(
            help="hard, multi_class, double_hard, hsr, ran, inlp, leace, neutral_glove, sentence_debias, cda, dropout "
            "or self_debias."
        ),
    ],
    model: Annotated[str, Argument(help="Model spec, e.g. bundled:glove.")],
    out: Annotated[Path, Option(help="Folder for the result; debiased:FOLDER is then a model.")],
    pairs: PairsText = None,
    keep: Annotated[str | None, Option(help="Words to leave unchanged, or a group: gender.male_terms.")] = None,
    words: Annotated[str | None, Option(help="ran: words to change, or a group: occupations.all.")] = None,
    templates: Templates = "seat.person",
    rank: Rank = None,
    corpus: Corpus = None,
    steps: Steps = None,
    alpha: Alpha = None,
    vocabulary: Vocabulary = 20_000,
    budget: output.BudgetText = None,
    key: output.Keys = None,
    seed: output.Seed = 0,
    no_cache: output.NoCache = False,
    as_json: output.Json = False,
) -> None:
    """Fit a method on a model's vectors and store it; tiltmeter mitigate measures whether it helps.

    Examples:

    * tiltmeter debias hard bundled:glove --out glove-hard; tiltmeter audit bundled:glove debiased:glove-hard
    * tiltmeter debias leace openai:text-embedding-3-small --out openai-leace --budget '50k tokens'
    * tiltmeter debias multi_class static:my.vec --pairs church/mosque/synagogue,bible/quran/torah --out my-religion
    """
    from tiltmeter.lab.mitigate.debias import debias as fit
    from tiltmeter.lab.mitigate.fit_words import USUAL_PAIRS

    output.use_keys(key)
    debiased = fit(
        method,
        model,
        out=out,
        pairs=output.parse_pairs(pairs) or USUAL_PAIRS,
        keep=_listed(keep),
        words=_listed(words),
        templates=templates,
        rank=rank,
        alpha=alpha,
        vocabulary=vocabulary,
        seed=seed,
        cache=not no_cache,
        budget=output.parse_budget(budget),
        **_teaching(corpus, steps, seed),
    )
    if not hasattr(debiased, "fitted"):  # a language model that was taught
        spec = f"hf:{out / 'model'}"
        if as_json:
            output.print_json({"model": spec})
        else:
            echo(f"Model:  {spec}")
        return
    eraser = getattr(debiased, "eraser", None)
    if as_json:
        how = {"rank": eraser.rank} if eraser else {}
        output.print_json({"model": f"debiased:{out}", **how, **debiased.fitted.to_dict()})
        return
    echo(f"{debiased.note}.")
    if eraser:
        echo(f"It removes {eraser.rank} directions and gives {len(eraser.replaced):,} words a vector.")
    echo(f"Model:  debiased:{out}")


@app.command(rich_help_panel="Mitigate")
def mitigate(
    context: Context,
    model: Annotated[str, Argument(help="Model spec, e.g. bundled:glove.")],
    method: Annotated[str, Option(help="Methods, comma-separated; tiltmeter debias --help names them.")],
    out: Annotated[Path, Option(help="Folder for the audits, the models and the result.")] = Path(
        "tiltmeter-mitigated"
    ),
    suite: Annotated[str, Option(help="Name of a suite, or a YAML file.")] = "default",
    pairs: PairsText = None,
    texts: Annotated[Path | None, Option(help="Texts, one per line, whose similarities should be kept.")] = None,
    templates: Templates = "seat.person",
    corpus: Corpus = None,
    steps: Steps = None,
    rank: Rank = None,
    alpha: Alpha = None,
    vocabulary: Vocabulary = 20_000,
    budget: output.BudgetText = None,
    key: output.Keys = None,
    seed: output.Seed = 0,
    splits: Annotated[
        int, Option(min=1, help="Ways to split the words: by this seed and the next ones. Shows what depends on it.")
    ] = 1,
    permutations: output.Permutations = 10_000,
    engine: output.Engine = "local",
    ray_address: output.RayAddress = None,
    workers: output.ClusterCpus = None,
    no_cache: output.NoCache = False,
    as_json: output.Json = False,
) -> None:
    """Measure, mitigate, measure again: what each method removes, what it only hides, and what it costs.

    Methods are fitted on one half of the pairs; results are measured on words that no method has seen.

    Examples:

    * tiltmeter mitigate bundled:glove --method hard,double_hard,hsr,inlp,leace --splits 5
    * tiltmeter mitigate bundled:minilm --method sentence_debias,inlp,leace --out minilm
    * tiltmeter mitigate hf:./my-model --method cda --corpus my-text.txt --out taught
    """
    from tiltmeter.lab.mitigate.fit_words import USUAL_PAIRS
    from tiltmeter.lab.mitigate.mitigate import mitigate as run
    from tiltmeter.views.report.mitigation import PAGE, render_mitigation
    from tiltmeter.views.terminal.mitigation import mitigation_view

    output.use_keys(key)
    out = at_home(out)
    context.with_resource(locked(out))
    context.with_resource(output.on_engine(engine, ray_address, workers))
    result = run(
        model,
        output.split(method) or [],
        out=out,
        suite=suite,
        pairs=output.parse_pairs(pairs) or USUAL_PAIRS,
        texts=texts,
        templates=templates,
        vocabulary=vocabulary,
        rank=rank,
        alpha=alpha,
        seed=seed,
        splits=splits,
        permutations=permutations,
        cache=not no_cache,
        budget=output.parse_budget(budget),
        say=output.say,
        **_teaching(corpus, steps, seed),
    )
    page = out / PAGE
    write_atomically(page, render_mitigation(result).encode())
    if as_json:
        output.print_json({**result.to_dict(), "recommendation": result.recommendation})
        return
    output.print_view(*mitigation_view(result))
    echo(f"Results: {out}\nReport:  {page}")


def _teaching(corpus: Path | None, steps: int | None, seed: int) -> dict[str, Any]:
    """What a language model is taught with."""
    if corpus is None:
        if steps:
            raise BadInput("--steps is for a language model that is taught a text: give it with --corpus")
        return {}
    from tiltmeter.lab.mitigate.augmentation import USUAL

    return {"corpus": corpus, "dosage": dataclasses.replace(USUAL, seed=seed, steps=steps or USUAL.steps)}


def _listed(text: str | None) -> list[str] | None:
    """Words as they are typed, or those of a group by its address."""
    if text is None:
        return None
    from tiltmeter.stimuli import group

    return [word for part in output.split(text) or [] for word in (group(part).texts if "." in part else (part,))]
