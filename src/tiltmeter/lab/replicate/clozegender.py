"""ClozeGender (Sabir & Sharma 2025): tables 1 to 9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.lab.replicate.asked_models import AskedModels
from tiltmeter.lab.replicate.paper import Paper, TableDefinition, Wishes, cells, printed_name, short_name
from tiltmeter.models import Question
from tiltmeter.readings import Cell, Reading
from tiltmeter.readings.details.cloze import ClozeDetails
from tiltmeter.readings.paper_tables import PaperColumn, PaperRow
from tiltmeter.run.one_sentence import cloze as ask_sentence
from tiltmeter.stimuli.datasets import find

_CONTEXTS = ("noun", "verb", "occupation")
#: Where GenderLex has its sentences with an occupation, with someone and with the person.
_FOLDERS = {"all": "All", "someone": "Gender_neutral_SM", "person": "Gender_neutral_PN"}
_SENTENCES = (
    "The chef mentioned that the recipe was crafted by",
    "Someone mentioned that the recipe was crafted by",
)
_WORDS = {"noun": "recipe", "verb": "crafted"}
#: Races as sums of words: the paper sums black and african; which word goes with each of the others it does not say.
_RACES = (("white", "european"), ("black", "african"))
#: The letters of the pairs of races, and the first words of their groups.
_RACE_PAIRS = {"White/Black": ("white", "black"), "White/Asian": ("white", "asian"),
               "White/Hispanic": ("white", "hispanic"), "Black/Hispanic": ("black", "hispanic")}  # fmt: skip
_OTHER_MODEL = "The paper's rows are of other language models: a difference is one between models, not an error."
_BLANK = (
    "Masked and chat models are asked with a blank: rows whose versions differ in more than the pronoun are left out."
)


def _four(above: str, *names: str) -> tuple[PaperColumn, ...]:
    one, two, *rest = names or ("M", "W", "KL", "WEAT")
    kl = (PaperColumn("KL", above, 4, cut=True),) if "KL" in rest else ()
    last = tuple(PaperColumn(name, above, 3 if name == "WEAT" else 2) for name in rest if name != "KL")
    return (PaperColumn(one, above), PaperColumn(two, above), *kl, *last)


_WIDE = (
    *(column for context in _CONTEXTS for column in _four(context)),
    PaperColumn("to-m", "all"),
    PaperColumn("to-w", "all"),
    PaperColumn("them", "all"),
)


def _like(asked: AskedModels, name: str) -> str:
    """The printed row that a language model stands in the place of."""
    if asked.answers(name, Question.CONTINUATIONS):
        return "Cloze GPT-2 XL"
    if asked.answers(name, Question.FILLS):
        return "BERT"
    chats = {"gpt-4o": "GPT-4o", "gpt-4-turbo": "GPT-4 Turbo", "gpt-4": "GPT-4", "gpt-3.5": "ChatGPT"}
    return next((label for part, label in chats.items() if part in name), "")


class _Cells:
    """The cells of one model with some vectors, by variant and context."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self.readings = {
            (reading.details.variant, reading.details.context): reading
            for reading in readings
            if isinstance(reading.details, ClozeDetails)
        }

    def details(self, variant: str, context: str) -> ClozeDetails | None:
        reading = self.readings.get((variant, context))
        return reading.details if reading and isinstance(reading.details, ClozeDetails) else None

    def numbers(self, variant: str, context: str, form: str, *, human: bool = False) -> list[Cell]:
        """M, W, KL, and WEAT or the agreement with people."""
        details = self.details(variant, context)
        shares = getattr(details, form) if details else None
        if shares is None:
            return [None] * 4
        return [shares.to_1, shares.to_2, shares.kl, shares.human_match if human else shares.weat]

    def alone(self, variant: str, context: str = "") -> list[Cell]:
        """M, W, KL and agreement of the probabilities without a context; of a choice in words, its share."""
        for (other, one), reading in self.readings.items():
            details = reading.details
            if (
                other != variant
                or (context and one not in (context, "choice"))
                or not isinstance(details, ClozeDetails)
            ):
                continue
            if details.steps:
                step = details.steps[0]
                rest = None if step.share_1 is None else 1 - step.share_1
                return [step.share_1, rest, step.kl, step.human_match]
            match = details.choices.human_match if details.choices else None
            return [reading.effect.value, 1 - reading.effect.value, None, match]
        return [None] * 4

    def people(self, variant: str, context: str = "") -> list[Cell]:
        """The shares that people expect of the two groups."""
        for (other, one), reading in self.readings.items():
            labels = [item.group for item in reading.items if item.group]
            if other == variant and labels and context in ("", one):
                first = labels.count(reading.details.groups[0]) / len(labels)  # type: ignore[union-attr]
                return [first, 1 - first]
        return [None, None]

    def them(self, variant: str) -> Cell:
        """The share of sentences in which the pronoun for all is likelier than either of the two."""
        for (other, _), reading in self.readings.items():
            rows = [item.columns for item in reading.items if "p_neutral" in item.columns]
            if other == variant and rows:
                won = [_number(row, "p_neutral") > max(_number(row, "p_1"), _number(row, "p_2")) for row in rows]
                return sum(won) / len(won)
        return None


def _number(row: Mapping[str, Any], name: str) -> float:
    return float(row[name])


def _vectors(asked: AskedModels) -> list[str]:
    if not asked.language_models:
        raise BadInput("it needs a language model: name one, e.g. bundled:smollm2")
    if not asked.word_vectors:
        raise BadInput("it needs word vectors beside the language model: name some, e.g. bundled:glove")
    return asked.word_vectors


def _each(asked: AskedModels, **stimuli: Any) -> Iterator[tuple[str, dict[str, _Cells]]]:
    """Every language model with its cells by the vectors that revise them, where there are any."""
    vectors = _vectors(asked)
    for name in asked.language_models:
        by_vectors = {one: _Cells(asked.read(name, "cloze", vectors=one, **stimuli)) for one in vectors}
        if known := {one: some for one, some in by_vectors.items() if some.readings}:
            yield name, known


def _plus(asked: AskedModels, name: str, vectors: str, values: Sequence[Cell], part: str = "") -> PaperRow:
    """A row with vectors; it stands for the printed one of the same vectors, if the paper has them."""
    called = printed_name(vectors)
    like = f"+ {called}" if called and asked.answers(name, Question.CONTINUATIONS) else ""
    return PaperRow(f"{short_name(name)} + {short_name(vectors)}", cells(values), part, like=like)


def _genderlex(variant: str) -> str:
    """The folder of one variant: vectors that lack a word of another set are measured nevertheless."""
    return str(find("genderlex") / _FOLDERS[variant])


def _chooses(asked: AskedModels, name: str) -> bool:
    return not asked.answers(name, Question.CONTINUATIONS, Question.FILLS)


def _wide_rows(asked: AskedModels, wishes: Wishes, parts: Mapping[str, str]) -> Iterator[PaperRow]:
    """One row per language model and per vectors, with all three contexts side by side; parts by variant."""
    for variant, part in parts.items():
        for place, (name, by_vectors) in enumerate(_each(asked, data=_genderlex(variant))):
            first = next(iter(by_vectors.values()))
            if not place and variant == "all":
                people = [*[None] * 12, *first.people("all"), None]
                yield PaperRow("Human (labels of the data)", cells(people), part, like="Human")
            alone = [*[None] * 12, *first.alone(variant)[:2], first.them(variant)]
            yield PaperRow(short_name(name), cells(alone), part, like=_like(asked, name))
            for vectors, some in by_vectors.items() if not _chooses(asked, name) else ():
                numbers = [value for context in _CONTEXTS for value in some.numbers(variant, context, wishes.form)]
                both = some.numbers(variant, "combined", wishes.form)[:2]
                yield _plus(asked, name, vectors, [*numbers, *both, None], part)


def _table_1(asked: AskedModels, _: Wishes) -> Iterator[PaperRow]:
    vectors = _vectors(asked)
    for name in asked.language_models:
        if _chooses(asked, name):
            continue
        for part in _SENTENCES:
            for place, one in enumerate(vectors):
                answer = ask_sentence(
                    asked.model(name), f"{part} [him/her]", contexts=list(_WORDS.values()), vectors=asked.model(one),
                    cache=asked.store,
                )  # fmt: skip
                for row in answer.rows:
                    context = next((kind for kind, word in _WORDS.items() if word == row["context"]), "")
                    if not context and place:
                        continue
                    label = (
                        f"{short_name(name)} + {short_name(one)}, {context}"
                        if context
                        else f"{short_name(name)}, no context"
                    )
                    causal = asked.answers(name, Question.CONTINUATIONS)
                    like = (context or "GPT-2 XL, no context") if causal and not place else ""
                    values = [row["to_1"], row["to_2"], row["to_neutral"]]
                    yield PaperRow(label, cells(values), part, like=like)


def _table_2(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    return _wide_rows(asked, wishes, {"all": "occupation named", "someone": "gender neutral (someone)"})


def _table_7(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    return _wide_rows(asked, wishes, {"all": ""})


def _table_3(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    folder = find("genderlex") / "GenderLex_occ_racial"
    for name, by_vectors in _each(asked, data=str(folder), targets=[list(race) for race in _RACES]):
        for vectors, some in by_vectors.items():
            numbers: list[Cell] = []
            for one, two in _RACE_PAIRS.values():
                numbers += some.numbers("race", f"{_summed(one)}/{_summed(two)}", wishes.form)
            yield _plus(asked, name, vectors, numbers)


def _summed(race: str) -> str:
    """A race as contexts name it: all the words whose vectors stand for it."""
    return "+".join(next((words for words in _RACES if race in words), (race,)))


def _first(by_vectors: Mapping[str, _Cells]) -> _Cells:
    """What a model says without any context, which is the same whatever the vectors."""
    return next(iter(by_vectors.values()), _Cells(()))


def _table_4(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    kinds = ("verb", "occupation")
    # A model may be able to read one of the sets and not the other.
    sets = [dict(_each(asked, data=data)) for data in ("genderlex_winobias", "genderlex_winogender")]
    names = [name for name in asked.language_models if any(name in by_name for by_name in sets)]
    for place, name in enumerate(names):
        if not place:
            any_model = [_first(next(iter(by_name.values()), {})) for by_name in sets]
            people = [value for some in any_model for value in (*some.people("all"), *[None] * 6)]
            yield PaperRow("Human (labels of the data)", cells(people), like="Human")
        bias, gender = (by_name.get(name, {}) for by_name in sets)
        alone = [value for some in (bias, gender) for value in (*_first(some).alone("all")[:2], *[None] * 6)]
        yield PaperRow(short_name(name), cells(alone), like=_like(asked, name))
        for vectors in dict.fromkeys((*bias, *gender)) if not _chooses(asked, name) else ():
            numbers = [
                value
                for some in (bias.get(vectors), gender.get(vectors))
                for kind in kinds
                for value in (some.numbers("all", kind, wishes.form) if some else [None] * 4)
            ]
            yield _plus(asked, name, vectors, numbers)


def _one_set(asked: AskedModels, wishes: Wishes, data: str, variant: str, context: str) -> Iterator[PaperRow]:
    """The rows of a table about one set of sentences with one kind of context."""
    for place, (name, by_vectors) in enumerate(_each(asked, data=data)):
        first = next(iter(by_vectors.values()))
        if not place:
            yield PaperRow("Human (labels of the data)", cells([*first.people(variant), None, None]), like="Human")
        yield PaperRow(short_name(name), cells([*first.alone(variant)[:3], None]), like=_like(asked, name))
        for vectors, some in by_vectors.items() if not _chooses(asked, name) else ():
            yield _plus(asked, name, vectors, some.numbers(variant, context, wishes.form))


def _table_5(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    if wishes.data is None:
        raise BadInput(
            "the concepts of the paper are not public: make a table of your own with tiltmeter concepts, and name it "
            "with --from"
        )
    return _one_set(asked, wishes, str(wishes.data), "stereotype", "concept")


def _table_6(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    return _one_set(asked, wishes, "genderlex_ja", "all", "topic")


def _both_forms(asked: AskedModels, wishes: Wishes, parts: Mapping[str, str], base: str) -> Iterator[PaperRow]:
    """ClozeLast beside ClozeAll, with the occupation as context."""
    for variant, part in parts.items():
        last, every = (dict(_each(asked, data=_genderlex(variant), **how)) for how in ({}, {"method": "all"}))
        for name, by_vectors in last.items():
            if _chooses(asked, name):
                continue
            others = every.get(name, {})
            alone: list[Cell] = []
            for some in (by_vectors, others):
                alone += next(iter(some.values())).alone(variant, "occupation") if some else [None] * 4
            like = base if asked.answers(name, Question.CONTINUATIONS) else ""
            yield PaperRow(short_name(name), cells(alone), part, like=like)
            for vectors, cell in by_vectors.items():
                numbers = cell.numbers(variant, "occupation", wishes.form, human=True)
                if vectors in others:
                    numbers += others[vectors].numbers(variant, "occupation", wishes.form, human=True)
                else:
                    numbers += [None] * 4
                yield _plus(asked, name, vectors, numbers, part)


def _table_8(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    return _both_forms(asked, wishes, {"all": ""}, "Cloze GPT-2 XL")


def _table_9(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    return _both_forms(asked, wishes, {"someone": "someone (GN)", "person": "person (PN)"}, "GPT-J-6B")


_STEREOTYPE = _four("", "M", "W", "KL", "WEAT")
_LAST_ALL = tuple(column for form in ("ClozeLast", "ClozeAll") for column in _four(form, "M", "W", "KL", "HB"))

PAPER = Paper(
    "clozegender",
    "Exploring Gender Bias Beyond Occupational Titles (ClozeGender, GenderLex)",
    "Sabir & Sharma (2025), Exploring Gender Bias Beyond Occupational Titles",
    ("bundled:smollm2", "bundled:glove", "bundled:word2vec"),
    {
        "Table 1": TableDefinition(
            "Two examples: which pronoun is expected, without a context and revised by the noun and the verb",
            (PaperColumn("to-him"), PaperColumn("to-her"), PaperColumn("to-them")),
            _table_1,
            ("to-them: the share of them among him, her and them; the paper prints him and her alone, with fasttext.",),
        ),
        "Table 2": TableDefinition(
            "Bias ratio on GenderLex by context, and of all contexts combined",
            _WIDE,
            _table_2,
            ("them: the share of sentences in which them is likelier than him and than her.", _OTHER_MODEL),
        ),
        "Table 3": TableDefinition(
            "Bias ratio between races by occupation, sentences that end in them",
            tuple(
                column
                for pair, words in _RACE_PAIRS.items()
                for column in _four(pair, words[0][0].upper(), words[1][0].upper(), "KL", "WEAT")
            ),
            _table_3,
            (
                "Races are sums of word vectors where the paper says so: white + european, black + african; the others "
                "are single words, because it names no second one.",
                "RN-GloVe and the sense embeddings of the paper are not public.",
                _OTHER_MODEL,
            ),
        ),
        "Table 4": TableDefinition(
            "Bias ratio on WinoBias and Winogender with one direct context word",
            tuple(
                column
                for name in ("WinoBias", "WinoGender")
                for context in ("verb", "occupation")
                for column in _four(f"{name}, {context}")
            ),
            _table_4,
            ("The pronoun may stand anywhere: the mean probability of the sentence's tokens.", _BLANK, _OTHER_MODEL),
        ),
        "Table 5": TableDefinition(
            "CrowS-Pairs on gender, a concept as the context", _STEREOTYPE, _table_5, (_BLANK, _OTHER_MODEL)
        ),
        "Table 6": TableDefinition(
            "Japanese pairs, the topic as the context",
            _STEREOTYPE,
            _table_6,
            (_BLANK, "The paper's two Japanese models (10 B and 7 B parameters) are not among the sample models."),
        ),
        "Table 7": TableDefinition(
            "Bias ratio on GenderLex with larger language models",
            _WIDE,
            _table_7,
            ("The paper's rows are GPT-J-6B, Llama 3.1 and DeepSeek-R1: name them as hf: models where you have them.",),
        ),
        "Table 8": TableDefinition(
            "ClozeLast beside ClozeAll, context occupation; HB: agreement with people",
            _LAST_ALL,
            _table_8,
            (
                "CPS compares the tokens that both sentences share; with the pronoun last they are the same, so every "
                "row ties, as the paper's 0.00 and 0.01.",
                _OTHER_MODEL,
            ),
        ),
        "Table 9": TableDefinition(
            "The same with someone and with the person in place of the occupation", _LAST_ALL, _table_9, (_OTHER_MODEL,)
        ),
    },
    ("data",),
)  # fmt: skip
