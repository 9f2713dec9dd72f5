"""Commands that show what a language model expects in a sentence of the user's, and which data sets are here."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from tiltmeter.cli.output import Json, Keys, NoCache, print_json, say, show, use_keys, width
from tiltmeter.errors import BadInput, TiltmeterError, without_passwords

app = typer.Typer()
Vectors = Annotated[str, typer.Option(help="Word vectors for the similarities.")]


@app.command()
def cloze(
    model: Annotated[str, typer.Argument(help="A causal or masked language model, e.g. bundled:smollm2.")],
    sentence: Annotated[str, typer.Argument(help="A sentence with a choice such as [him/her] in it.")],
    context: Annotated[list[str] | None, typer.Option(help="A context word; may be given more than once.")] = None,
    vectors: Vectors = "bundled:glove",
    key: Keys = None,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> None:
    """Which of two words a model expects in one sentence, with and without each context.

    Examples:

    * tiltmeter cloze bundled:smollm2 "The chef mentioned that the recipe was crafted by [him/her]"
    * tiltmeter cloze hf:./my-model "The pilot said that [he/she] was late." --context pilot
    """
    from rich.console import Console

    from tiltmeter.models import CachedModel, load
    from tiltmeter.probes.cloze.one_sentence import one_sentence
    from tiltmeter.run.probe import stored
    from tiltmeter.views.terminal.cloze import sentence_view

    use_keys(key)
    with stored(not no_cache) as store:
        rows, words = one_sentence(
            CachedModel(load(model), store), CachedModel(load(vectors), store), sentence, context
        )
    if as_json:
        print_json({"model": without_passwords(model), "sentence": sentence, "words": list(words), "rows": rows})
        return
    Console(width=width()).print(sentence_view(rows, pronouns=words))
    if rows[0]["ended_to_1"] is not None:
        typer.echo(
            "ended: the word is scored together with the full stop after it, so that 'her mother' does not count."
        )
    typer.echo("0.50 each is level. A context revises a probability P to P^(1 - similarity of word and context).")


@app.command()
def unmask(
    model: Annotated[str, typer.Argument(help="A masked language model, e.g. hf:bert-base-uncased.")],
    sentence: Annotated[
        str | None, typer.Argument(help="A sentence with [MASK] in it; without one, you are asked.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many words to show.")] = 10,
    key: Keys = None,
    as_json: Json = False,
) -> None:
    """The words a masked language model expects at [MASK], with their probabilities.

    Examples:

    * tiltmeter unmask hf:bert-base-uncased "The nurse said that [MASK] was tired."
    * tiltmeter unmask reference:tilt-0.9
    """
    from tiltmeter.models import load

    use_keys(key)
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
            say(f"error: {error}")  # a slip at the keyboard does not end the talk


def _line(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        return ""


def _unmask(loaded: Any, model: str, sentence: str, top: int, as_json: bool) -> None:
    from tiltmeter.stimuli.sentences.sentence import MASK

    if sentence.count(MASK) != 1:
        raise BadInput(f"the sentence must hold one {MASK}, and it holds {sentence.count(MASK)}: '{sentence}'")
    if not hasattr(loaded, "top"):
        raise BadInput(
            f"{model} is no masked language model, so it has no mask to fill: give e.g. hf:bert-base-uncased"
        )
    start = sentence.index(MASK)
    found = loaded.top(sentence, (start, start + len(MASK)), k=top)
    rows: list[dict[str, Any]] = [{"word": word, "probability": f"{p:.4f}"} for word, p in found]
    if as_json:
        print_json(
            {
                "model": without_passwords(model),
                "sentence": sentence,
                "words": [{"word": w, "probability": p} for w, p in found],
            }
        )
    else:
        show(rows, ("word", "probability"), as_json=False)


@app.command()
def data(as_json: Json = False) -> None:
    """List the public data sets tiltmeter reads, whose they are, and which of them are here (TILTMETER_DATA)."""
    from tiltmeter.stimuli.datasets import status

    rows = status()
    show(rows, ("name", "what", "rows", "licence", "state"), as_json)
    if not as_json:
        say("They are not part of tiltmeter: put a copy into a folder and name that folder in TILTMETER_DATA.")
