"""CABM, the thesis: its numbers by every weighting, its categories, and figures 4 and 7."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.lab.replicate.asked_models import AskedModels
from tiltmeter.lab.replicate.paper import Paper, TableDefinition, Wishes, cells, short_name
from tiltmeter.lab.studies.stability import across_models
from tiltmeter.measures.cabm.cabm import categories
from tiltmeter.measures.cabm.validation import ScoreAgreement, Validation
from tiltmeter.models import Question
from tiltmeter.readings import Cell, Reading
from tiltmeter.readings.details.cabm import NEUTRAL, CabmDetails, CabmForm, in_order
from tiltmeter.readings.paper_tables import PaperColumn, PaperRow
from tiltmeter.stimuli.datasets import find

_LABELS = {"pca": "PCA", "pca_rf": "PCA + RF", "shap_rf": "SHAP + RF", "lime_rf": "LIME + RF", "equal": "equal"}
#: The thesis compares its methods in this order.
_PAIRS = (("shap_rf", "pca_rf"), ("shap_rf", "pca"), ("pca_rf", "pca"))
_BERT = "The thesis measures bert-base-uncased; a difference is one between models and sets of sentences."


def _readings(asked: AskedModels, wishes: Wishes) -> list[tuple[str, Reading, CabmDetails]]:
    """Every model that gives vectors of words in context."""
    names = asked.that_answer(Question.SPANS)
    if not names:
        raise BadInput("it needs a model that gives vectors of words in context: name one, e.g. bundled:minilm")
    readings = []
    for name in names:
        for reading in asked.read(name, "cabm", data=_sentences(wishes)):
            if isinstance(reading.details, CabmDetails):
                readings.append((name, reading, reading.details))
    return readings


def _sentences(wishes: Wishes) -> str | None:
    """The user's sentences, those of WinoBias, or our own where WinoBias is not here."""
    if wishes.data is not None:
        return str(wishes.data)
    try:
        find("winobias")
    except BadInput:
        return None
    return "winobias"


def _form(details: CabmDetails, wishes: Wishes) -> CabmForm:
    return details.forms[wishes.form]


def _weightings(form: CabmForm) -> list[tuple[str, str, tuple[float, ...]]]:
    """Each weighting with its label and the scores of the occupations."""
    return [(name, _LABELS.get(name, name), form.scores[name]) for name in in_order(form.scores)]


def _composition(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for name, reading, details in _readings(asked, wishes):
        data = details.data
        values = [data.used, *(data.in_source[group] for group in details.groups), len(reading.items)]
        yield PaperRow(short_name(name), cells(values), like="the thesis")


def _weights(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for name, _, details in _readings(asked, wishes):
        form = _form(details, wishes)
        for weighting in in_order(form.weights):
            label = _LABELS.get(weighting, weighting)
            yield PaperRow(label, cells(form.weights[weighting].values), short_name(name), like=label)


def _validations(asked: AskedModels, wishes: Wishes) -> Iterator[tuple[str, str, Validation, Reading]]:
    """The validation of the scores by every weighting, as if each were the headline."""
    for name, reading, details in _readings(asked, wishes):
        unmasking = [item.get("unmasking") for item in reading.items]
        known = None if any(value is None for value in unmasking) else [float(value or 0) for value in unmasking]
        for _, label, scores in _weightings(_form(details, wishes)):
            validation = measures.validate(scores, unmasking=known, threshold=details.threshold, seed=wishes.seed)
            yield short_name(name), label, validation, reading


def _tests(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for part, label, validation, _ in _validations(asked, wishes):
        groups = validation.by_category
        separated: list[Cell] = [None] * 6
        if groups is not None:
            separated = [groups.n_1, groups.n_2, groups.u, groups.p_value, groups.cohens_d, groups.median_difference]
        normal = validation.normality.p_value if validation.normality else None
        yield PaperRow(
            label, cells([normal, validation.sd, validation.variance, validation.iqr, *separated]), part, like=label
        )


def _pairs(form: CabmForm) -> Iterator[tuple[str, ScoreAgreement]]:
    by_pair = {frozenset((each.first, each.second)): each for each in form.between_weightings}
    known = [pair for pair in _PAIRS if frozenset(pair) in by_pair]
    others = [
        (each.first, each.second)
        for each in form.between_weightings
        if {each.first, each.second} not in map(set, known)
    ]
    for one, two in (*known, *others):
        yield f"{_LABELS.get(one, one)} / {_LABELS.get(two, two)}", by_pair[frozenset((one, two))]


def _correlations(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for name, _, details in _readings(asked, wishes):
        for label, pair in _pairs(_form(details, wishes)):
            values = [one.r if one else None for one in (pair.pearson, pair.spearman)]
            yield PaperRow(label, cells(values), short_name(name), like=label)


def _agreements(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for name, _, details in _readings(asked, wishes):
        for label, pair in _pairs(_form(details, wishes)):
            yield PaperRow(label, cells([100 * pair.agreement]), short_name(name), like=label)


def _counts(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for name, _, details in _readings(asked, wishes):
        for _, label, scores in _weightings(_form(details, wishes)):
            counted = Counter(_categories(scores, details))
            values = [counted[each] for each in (*details.groups, NEUTRAL)]
            yield PaperRow(label, cells(values), short_name(name), like=label)


def _categories(scores: Sequence[float], details: CabmDetails) -> list[str]:
    names = (NEUTRAL, *details.groups)
    return [names[place] for place in categories(np.array(scores), details.threshold).tolist()]


def _unmasking(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    rows = []
    for part, label, validation, reading in _validations(asked, wishes):
        if (agreed := validation.unmasking) is not None:
            n = len(reading.items)
            share = agreed.agreement.value
            rows.append(PaperRow(label, cells([n, round(share * n), 100 * share]), part, like=label))
    if not rows:
        raise BadInput("it needs a masked language model, which fills [MASK] with he or she: name one as hf:FOLDER")
    return iter(rows)


def _stability(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    readings = [reading for _, reading, _ in _readings(asked, wishes)]
    if len(readings) < 2:
        raise BadInput(
            "it compares models: name at least two, such as a model as it is and what tiltmeter lab inject makes of it"
        )
    for steadiness in across_models(readings):
        if steadiness.stability is not None:
            like = {"WEAT (association)": "WEAT", "CABM, as published": "CABM"}.get(steadiness.measure, "")
            values = [steadiness.stability.published, steadiness.stability.mean_sd]
            yield PaperRow(steadiness.measure, cells(values), like=like)


def _figure_4(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    # Counts are the same for every model: one is enough.
    for _, reading, _ in _readings(asked, wishes)[:1]:
        names = ("published_pmi_1", "published_pmi_2", "published_pmi")
        for item in sorted(reading.items, key=lambda item: item.label):
            yield PaperRow(item.label, cells([item.get(name) for name in names]))


def _figure_7(asked: AskedModels, wishes: Wishes) -> Iterator[PaperRow]:
    for name, reading, details in _readings(asked, wishes):
        scores = _form(details, wishes).scores["pca"]
        named = zip(reading.items, scores, _categories(scores, details), strict=True)
        for item, score, category in sorted(named, key=lambda row: -row[1]):
            yield PaperRow(item.label, cells([category, score]), short_name(name))


def _columns(*names: str, digits: int = 2) -> tuple[PaperColumn, ...]:
    return tuple(PaperColumn(name, digits=digits) for name in names)


PAPER = Paper(
    "cabm",
    "Developing a Metric to Detect Gender Bias in Contextual Word Embeddings (CABM)",
    "Dhanawardhana, Developing a metric to detect gender bias in contextual word embeddings, thesis, SLIIT",
    ("bundled:minilm", "reference:tilt-0.9"),
    {
        "Section 2.3.2": TableDefinition(
            "The sentences: how many, by group, and of how many occupations",
            _columns("sentences", "male", "female", "occupations"),
            _composition,
            ("The thesis' own selection from WinoBias is not public; these are all its lines with an occupation.",),
        ),
        "Figure 4": TableDefinition(
            "PMI of each occupation with pronouns of either group",
            _columns("with male pronouns", "with female pronouns", "difference", digits=3),
            _figure_4,
            ("Counts of the sentences, the same for every model.",),
            "bars",
        ),
        "Section 2.5": TableDefinition(
            "Weights of the three features by every method",
            _columns("PMI", "cosine", "context", digits=3),
            _weights,
            ("The thesis' PCA example adds up to 1.05.", _BERT),
        ),
        "Figure 7": TableDefinition(
            "Bias scores by category, PCA weights",
            (PaperColumn("category"), PaperColumn("score", digits=3)),
            _figure_7,
            drawn="strips",
        ),
        "Section 2.6.2": TableDefinition(
            "Distribution and tests of the scores by every weighting",
            (
                *_columns("Shapiro-Wilk p", digits=3),
                *_columns("SD", "variance", "IQR", digits=4),
                *_columns("n male", "n female"),
                *_columns("U", digits=1),
                *_columns("p", digits=4),
                *_columns("Cohen's d"),
                *_columns("median difference", digits=4),
            ),
            _tests,
            ("The two groups are cut from the scores themselves, so U is n male x n female whatever the score.", _BERT),
        ),
        "Section 2.6.4": TableDefinition(
            "Correlation between weightings", _columns("Pearson", "Spearman", digits=4), _correlations, (_BERT,)
        ),
        "Section 2.6.5": TableDefinition("Agreement of categories, %", _columns("agreement"), _agreements, (_BERT,)),
        "Figure 12": TableDefinition(
            "Categories by every weighting (the thesis draws them and prints no number)",
            _columns("male-biased", "female-biased", "neutral"),
            _counts,
        ),
        "Section 2.6.5, unmasking": TableDefinition(
            "Agreement of the categories with what the model expects at [MASK]",
            _columns("occupations", "matches", "%"),
            _unmasking,
            ("The thesis asks a BERT that it has taught a bias: tiltmeter lab inject makes such a model.", _BERT),
        ),
        "Section 3.2": TableDefinition(
            "Mean SD of an occupation's score across models; lower is steadier, not truer",
            (PaperColumn("mean SD", digits=4), PaperColumn("at root mean square 1", digits=4)),
            _stability,
            ("The thesis compares BERT as it is, taught a bias and taught a balanced text.", _BERT),
        ),
    },
    ("data",),
)  # fmt: skip
