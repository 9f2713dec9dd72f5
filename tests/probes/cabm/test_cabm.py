"""CABM on models whose lean is known: planted by hand, and learned from text with a planted bias."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reference import reference_model
from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.models import Identity
from tiltmeter.models.protocol import Question, Span
from tiltmeter.models.transformers.encoder import TransformerEncoder
from tiltmeter.probes import make_probes
from tiltmeter.readings import Details, Reading, ReadingStore, Statistic
from tiltmeter.run.probe import run_probes
from tiltmeter.statistics import correlation
from tiltmeter.stimuli.sentences.marked import MarkedSet, Versions

SIDES = {"he": 1.0, "him": 1.0, "his": 1.0, "she": -1.0, "her": -1.0}
LONG = 3.0
WIDE = 2_000  # so many dimensions that a direction without meaning gives next to nothing


@pytest.fixture(autouse=True)
def _small_forests(monkeypatch):
    """Their weights are tested with the measure; here they only have to be there."""
    monkeypatch.setattr("tiltmeter.probes.cabm.weighting._FORESTS", 2)
    monkeypatch.setattr(sys.modules["tiltmeter.measures.cabm.weights"], "_TREES", 20)


class PlantedVectors:
    """[CLS] stands at +3 with he, at -3 with she, and at 3 x ``lean`` with neither; the occupation at ``lean``.

    Sentences differ by ``noise``; where ``uneven``, he and she are farther apart the more an occupation leans to he,
    across the axis. Every vector has a part of its own across the gender axis.
    """

    identity = Identity("planted", "1")

    def __init__(
        self,
        lean: Callable[[str], float],
        *,
        noise: float = 0.0,
        uneven: bool = False,
        sides: dict[str, float] = SIDES,
    ) -> None:
        self._lean, self._noise, self._uneven, self._sides = lean, noise, uneven, sides
        self.asked: list[Span] = []

    def embed_spans(self, spans: Sequence[Span]) -> np.ndarray:
        self.asked += spans
        return np.stack([self._vector(span) for span in spans])

    def _vector(self, span: Span) -> np.ndarray:
        words = re.findall(r"[\w\[\]]+", span.text.lower())
        side = next((self._sides[word] for word in words if word in self._sides), None)
        found = np.zeros(WIDE, dtype=np.float32)
        lean = self._lean(span.text) + self._noise * np.sin(len(span.text))
        if span.word.lower() in self._sides:
            found[0] = self._sides[span.word.lower()]
        elif span.start == span.end:
            found[3] = 0.0 if side is None or not self._uneven else side * (1.5 + self._lean(span.text))
            found[:2] = LONG * (lean if side is None else side), 1.0
        else:
            found[0], found[2] = lean, np.sqrt(1 - lean**2)
        return found


def leaning(leans: dict[str, float], *, shared: float = 0.0) -> Callable[[str], float]:
    @functools.cache
    def lean(text: str) -> float:
        there = ((word, value) for word, value in leans.items() if word.lower() in text.lower())  # spares most searches
        found = (value for word, value in there if re.search(rf"\b{word}\b", text, re.IGNORECASE))
        return shared + next(found, 0.0)  # a sentence whose occupation is masked has the shared part alone

    return lean


OCCUPATIONS = list(planted(0.9))
LEANS = dict(zip(OCCUPATIONS, np.linspace(-0.8, 0.8, len(OCCUPATIONS)).tolist(), strict=True))


def probe(*, method: str | None = None, change: Callable[[MarkedSet], MarkedSet] = lambda made: made, **given: str):
    """The first probe, its sentences changed: without shares no forest is grown, which saves the time."""
    (made, *_) = make_probes("cabm", method=method, **given)
    return dataclasses.replace(
        made, stimuli=dataclasses.replace(made.stimuli, sentences=change(made.stimuli.sentences))
    )


def only(words, made: MarkedSet) -> MarkedSet:
    return dataclasses.replace(made, versions=tuple(row for row in made.versions if row.unit in words))


def unlabelled(made: MarkedSet) -> MarkedSet:
    return dataclasses.replace(made, shares={})


def reading(model: object, **given) -> Reading:
    return run_probes([probe(**given)], model, cache=False, progress=False)[0]


def by_word(found: Reading, key: str) -> dict[str, float]:
    return {item.label: item.group if key == "group" else item.get(key) for item in found.items}


@functools.cache
def exact() -> Reading:
    """Of the planted leans alone, without noise and labels."""
    return reading(PlantedVectors(leaning(LEANS)), change=unlabelled)


def test_the_repaired_score_is_the_lean_that_was_planted():
    found = exact()
    assert by_word(found, "value") == pytest.approx(LEANS, abs=1e-5)
    # he and she are opposite: cosine of the masked occupation with them is +-lean, so their difference is 2 x lean
    assert by_word(found, "cosine") == pytest.approx({word: 2 * lean for word, lean in LEANS.items()}, abs=1e-5)
    assert by_word(found, "signed_context") == pytest.approx({word: 3 * x for word, x in LEANS.items()}, abs=1e-5)
    assert by_word(found, "context") == pytest.approx(dict.fromkeys(LEANS, 6.0), abs=1e-5)
    assert found.effect.name == "SD of the scores"
    assert found.effect.value == pytest.approx(np.std(list(LEANS.values()), ddof=1), abs=1e-5)
    assert (found.n_items, found.n_units) == (960, 60)


def test_a_lean_that_sentences_have_without_any_occupation_is_no_lean_of_occupations():
    level = dict.fromkeys(LEANS, 0.0)
    found = reading(PlantedVectors(leaning(level, shared=0.15), noise=0.01), change=unlabelled)
    assert set(by_word(found, "group").values()) <= {"neutral", "too close to call"}
    assert by_word(found, "value") == pytest.approx(level, abs=0.02)


def test_categories_are_cut_at_a_tenth_and_what_is_near_is_too_close_to_call():
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), change=unlabelled)
    groups = by_word(found, "group")
    for item in found.items:
        assert item.get("low") <= item.value <= item.get("high")
    assert {groups[word] for word, lean in LEANS.items() if lean > 0.3} == {"men"}
    assert {groups[word] for word, lean in LEANS.items() if lean < -0.3} == {"women"}
    near = [word for word, lean in LEANS.items() if 0.09 < abs(lean) < 0.11]
    assert {groups[word] for word in near} == {"too close to call"}
    assert "lean to men" in found.plain_words


def test_the_score_follows_the_share_of_men():
    flat = reading(PlantedVectors(leaning(LEANS), noise=0.05), method="equal")
    assert flat.effect.name == "Spearman correlation with the share of men"
    assert flat.effect.value > 0.99  # the planted order is that of the shares, but for ties
    assert flat.leans == "occupations of men → men"
    assert flat.poles == ("occupations of men → men", "occupations of men → women")
    assert flat.statistic == Statistic("spearman", ("value", "share_men"))
    assert flat.details.labels_from == "labour statistics"
    assert flat.details.repaired.validation.by_label.p_value < 0.001
    for form in flat.details.forms.values():
        for weights in form.weights.values():
            assert sum(weights.values) == pytest.approx(1)
            assert min(weights.values) >= 0


@given(leans=st.lists(st.floats(-0.9, 0.9), min_size=12, max_size=12))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_exchanging_the_groups_negates_the_repaired_score_but_not_the_published_one(leans):
    words = OCCUPATIONS[:12]
    model = PlantedVectors(leaning(dict(zip(words, [*leans[:-2], -0.5, 0.5], strict=True))), noise=0.1, uneven=True)

    def few(made: MarkedSet) -> MarkedSet:
        return unlabelled(only(words, made))

    def exchanged(made: MarkedSet) -> MarkedSet:
        versions = tuple(Versions(row.neutral, row.by_group[::-1]) for row in few(made).versions)
        counts = {word: by_group[::-1] for word, by_group in made.counts.items()}
        return dataclasses.replace(few(made), groups=made.groups[::-1], versions=versions, counts=counts)

    one = reading(model, change=few, method="equal")
    two = reading(model, change=exchanged, method="equal")
    for key in ("value", "cosine", "signed_context", "pmi"):
        assert by_word(two, key) == pytest.approx({word: -value for word, value in by_word(one, key).items()}, abs=1e-5)
    published = [by_word(each, "context") for each in (one, two)]
    assert published[0] == pytest.approx(published[1])
    for each in (one, two):  # whichever group comes first, every occupation is said to lean to it
        assert {item.get("published_group") for item in each.items} == {each.details.groups[0]}


def test_a_text_that_has_men_more_often_shows_in_pmi_and_a_zero_count_is_flagged():
    def counted(made: MarkedSet) -> MarkedSet:
        men = dict.fromkeys(OCCUPATIONS[:30], (30, 10)) | dict.fromkeys(OCCUPATIONS[30:], (10, 30))
        return dataclasses.replace(unlabelled(made), counts={**men, OCCUPATIONS[0]: (40, 0)})

    found = reading(PlantedVectors(leaning(LEANS)), change=counted)
    pmi = by_word(found, "pmi")
    assert np.isfinite(list(pmi.values())).all()
    assert pmi[OCCUPATIONS[1]] > 1 > -1 > pmi[OCCUPATIONS[-1]]
    assert found.details.repaired.weights["pca"].values[0] > 0
    assert any(OCCUPATIONS[0] in note and "a count is 0" in note for note in found.notes)


def test_pmi_of_balanced_sentences_is_left_out_and_said_so():
    found = exact()
    assert found.details.repaired.weights["pca"].values == pytest.approx([0, 0.5, 0.5])
    assert any(left.what == "PMI in the repaired score" for left in found.left_out)


def test_an_occupation_seen_with_one_group_only_is_left_out_and_the_rest_scored():
    word = OCCUPATIONS[3]

    def one_sided(made: MarkedSet) -> MarkedSet:
        versions = (Versions(row.neutral, ((), row.by_group[1])) if row.unit == word else row for row in made.versions)
        return dataclasses.replace(unlabelled(made), versions=tuple(versions))

    found = reading(PlantedVectors(leaning(LEANS)), change=one_sided)
    assert word not in by_word(found, "value")
    assert found.n_units == 59
    (left,) = [left for left in found.left_out if left.what == f"'{word}'"]
    assert left.reason == "seen with women only, so the groups cannot be compared"


def test_fewer_than_ten_occupations_are_one_clear_line():
    with pytest.raises(BadInput, match=r"^cabm needs at least 10 occupations .* 'occupations_en' has 9: add"):
        reading(PlantedVectors(leaning(LEANS)), change=functools.partial(only, OCCUPATIONS[:9]))


def test_features_that_do_not_vary_are_one_clear_line():
    with pytest.raises(BadInput, match="no feature varies between occupations"):
        reading(PlantedVectors(lambda _: 0.25), change=unlabelled)


def test_a_model_that_does_not_tell_the_groups_apart_is_one_clear_line():
    with pytest.raises(BadInput, match=r"^the model reads sentences that say men and women alike"):
        reading(PlantedVectors(leaning(LEANS), sides=dict.fromkeys(SIDES, 1.0)), change=unlabelled)


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    found = [reading(PlantedVectors(leaning(LEANS), noise=0.1), change=unlabelled) for _ in range(2)]
    first, second = (json.dumps(each.to_dict(), sort_keys=True) for each in found)
    assert first == second
    assert "NaN" not in first
    ReadingStore(tmp_path).save(found[0])


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"method": "pac"}, BadInput, "unknown method of cabm 'pac': did you mean 'pca'?"),
        ({"vectors": "bundled:glove"}, BadInput, "cabm takes no vectors"),
        ({"data": "winobais"}, BadInput, "did you mean 'winobias'?"),
        ({"data": "identity.white_terms,identity.balck_terms"}, BadInput, "did you mean 'black_terms'?"),
    ],
)
def test_a_wrong_option_is_one_clear_line(given, error, says):
    with pytest.raises(error) as raised:
        make_probes("cabm", **given)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_weights_by_shap_say_which_extra_they_need():
    pytest.importorskip("sklearn")
    try:
        import shap  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtra, match="explain"):
            reading(PlantedVectors(leaning(LEANS), noise=0.05), method="shap_rf")
    else:
        found = reading(PlantedVectors(leaning(LEANS), noise=0.05), method="shap_rf")
        assert found.details.repaired.method.startswith("shap")


class Causal(PlantedVectors):
    def score(self, texts: Sequence[str]) -> list[object]:
        raise AssertionError(f"nothing should be asked, not {texts}")


def test_a_model_that_reads_from_left_to_right_is_not_asked():
    with pytest.raises(BadInput, match=r"^cabm needs vectors of words in sentences read from both sides"):
        reading(Causal(leaning(LEANS)))


@pytest.mark.parametrize(
    ("addresses", "pairs"),
    [
        ("identity.young_terms,identity.old_terms", [("words for young people", "words for old people")]),
        (
            "identity.white_terms,identity.black_terms,identity.asian_terms",
            [
                ("words for white people", "words for Black people"),
                ("words for white people", "words for Asian people"),
                ("words for Black people", "words for Asian people"),
            ],
        ),
    ],
)
def test_race_and_age_are_measured_by_lexicon_alone(addresses, pairs):
    probes = make_probes("cabm", data=addresses)
    assert [each.stimuli.sentences.groups for each in probes] == pairs
    sentences = probes[0].stimuli.sentences
    marks = [{sentence.word("pronoun").lower() for sentence in side} for side in sentences.sentences]
    words = {mark.split()[-1]: side for side, own in zip((1.0, -1.0), marks, strict=True) for mark in own}

    def short(row: Versions) -> Versions:
        sides = ((each for each in side if " " not in each.word("pronoun")) for side in row.by_group)
        return Versions(row.neutral, tuple(map(tuple, sides)))

    few = only(OCCUPATIONS[::5], sentences)
    few = dataclasses.replace(few, versions=tuple(map(short, few.versions)))
    first = dataclasses.replace(probes[0], stimuli=dataclasses.replace(probes[0].stimuli, sentences=few))
    (found,) = run_probes([first], PlantedVectors(leaning(LEANS), sides=words), cache=False, progress=False)
    assert by_word(found, "value") == pytest.approx({word: LEANS[word] for word in by_word(found, "value")}, abs=1e-4)
    assert found.n_units == 12
    assert pairs[0][0] in found.plain_words


class Counting(TransformerEncoder):
    """Counts how often each text is read."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.read: list[tuple[int, ...]] = []

    def _compute(self, rows):
        self.read += [tuple(row.ids) for row in rows]
        return super()._compute(rows)


def test_every_sentence_is_read_once_whatever_is_asked_of_it(monkeypatch):
    monkeypatch.setattr("tiltmeter.models.transformers.encoder.CHUNK", 100)
    model = Counting(str(reference_model(0.9)))

    def few(made: MarkedSet) -> MarkedSet:
        return unlabelled(only(OCCUPATIONS[::5], made))

    asked = probe(change=few).asks(lambda question: question is Question.SPANS)
    assert asked is not None
    spans = list(dict.fromkeys(asked[Question.SPANS]))  # nothing is asked twice
    texts = {span.text for span in spans}
    assert len(spans) > 2.5 * len(texts)
    model.embed_spans(spans)
    # Occupations in 8 frames with he, she and neither; the frames alone, of which two come with a and with an.
    assert len(model.read) == len(texts) == 12 * 8 * 3 + 10 * 3


@functools.cache
def biased() -> Reading:
    return reading(f"hf:{reference_model(0.9)}", method="equal")


def test_the_score_ranks_occupations_by_the_bias_that_a_model_learned():
    found = biased()
    truth = planted(0.9)
    order = [truth[item.label] for item in found.items]
    assert correlation(order, [item.value for item in found.items], method="spearman").r >= 0.95
    groups = by_word(found, "group")
    assert "women" not in {groups[word] for word in ("plumber", "mechanic", "electrician")}
    assert {groups[word] for word in ("nurse", "receptionist", "dietitian")} == {"women"}
    assert {item.get("published_group") for item in found.items} == {"men"}


def test_its_categories_agree_with_unmasking_more_often_than_the_published_ones():
    found = biased()
    repaired, published = (form.validation.unmasking.agreement.value for form in found.details.forms.values())
    assert repaired >= 0.69  # what the thesis reports
    assert published < repaired


def test_without_a_planted_bias_hardly_an_occupation_leaves_the_middle():
    found = reading(f"hf:{reference_model(0.5)}", change=unlabelled)
    left = [item.label for item in found.items if item.group in ("men", "women")]
    assert len(left) <= 0.1 * len(found.items)


def labels_in(tmp_path, *lines: str) -> str:
    file = tmp_path / "labels.csv"
    file.write_text("\n".join(["occupation,label", *lines]), encoding="utf-8")
    return str(file)


def test_labels_of_the_users_own_are_what_forests_learn(tmp_path):
    words = sorted(LEANS)
    file = labels_in(tmp_path, *(f"{word},{'men' if LEANS[word] > 0 else 'women'}" for word in words))
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), labels=file)
    assert found.details.labels_from == "labels.csv"
    labels = by_word(found, "known_label")
    assert labels == {word: "men" if LEANS[word] > 0 else "women" for word in labels}
    moved = [item.get("moved_cosine") + item.get("moved_context") for item in found.items]
    assert correlation([item.value for item in found.items], moved, method="spearman").r > 0.8


def test_a_label_file_that_is_not_there_is_said_and_the_rest_is_scored():
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), labels="nowhere.csv")
    (line,) = [each for each in found.left_out if "nowhere.csv" in each.what]
    assert "there is no such file" in line.reason
    assert found.details.labels_from != "nowhere.csv"
    assert len(found.items) == len(LEANS)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("nurse,robots",), "row 2: 'robots' is no label: write men, women or neither"),
        (("nurse,men", "nurse,women"), "row 3: 'nurse' has two different labels"),
        (("nurse,",), "no occupation has a label"),
    ],
)
def test_a_label_file_with_a_mistake_is_one_clear_line(tmp_path, lines, says):
    with pytest.raises(BadInput, match=re.escape(says)):
        probe(labels=labels_in(tmp_path, *lines))


def test_another_threshold_moves_the_categories_and_nothing_else():
    usual, wide = (
        reading(PlantedVectors(leaning(LEANS), noise=0.05), threshold=threshold) for threshold in (None, 0.5)
    )
    assert by_word(usual, "value") == by_word(wide, "value")
    assert wide.details.threshold == 0.5
    for item in wide.items:
        inside = max(abs(item.get("low")), abs(item.get("high"))) <= 0.5
        assert (item.group == "neutral") == inside, item.label
    with pytest.raises(BadInput, match="lies from 0 to 1"):
        probe(threshold=-1.0)


def test_weights_of_the_users_own_are_those_of_the_headline_and_say_so():
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), change=unlabelled, method="0.5,0.3,0.2")
    assert found.details.repaired.method == found.details.published.method == "given"
    assert found.details.repaired.weights["given"].values == pytest.approx((0.5, 0.3, 0.2))
    assert found.details.repaired.scores["given"] == tuple(by_word(found, "value").values())
    halved = reading(PlantedVectors(leaning(LEANS), noise=0.05), change=unlabelled, method="1,0.6,0.4")
    assert halved.details.repaired.method == "given (divided by their sum, 2)"
    assert by_word(halved, "value") == pytest.approx(by_word(found, "value"))


def test_a_spread_is_computed_again_from_the_items():
    found = exact()
    assert found.statistic == Statistic("sd of units")
    assert np.std([item.value for item in found.items], ddof=1) == pytest.approx(found.effect.value)


def test_details_come_back_from_a_file_as_they_were():
    found = exact().details
    assert Details.from_dict(json.loads(json.dumps(found.to_dict()))) == found
