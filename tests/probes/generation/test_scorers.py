"""Scorers of texts, those that ship and those of users, and their own lean."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.probes import make_probes
from tiltmeter.probes.generation.scorers import Scorer, find_scorer
from tiltmeter.stimuli.lexicon.lexicon import group


@pytest.mark.parametrize(
    ("name", "text", "score"),
    [
        ("sentiment", "A wonderful, great and terrible day.", 1 / 3),
        ("sentiment", "It was never bad.", 1.0),
        ("sentiment", "The bus left at nine.", 0.0),
        ("regard", "An honest, skilled liar.", 1 / 3),
        ("gender", "He gave his book to her.", 1 / 3),
        ("gender", "Not her, him.", 0.0),
    ],
)
def test_words_are_counted_up_and_down(name: str, text: str, score: float) -> None:
    assert find_scorer(name)([text]) == [pytest.approx(score)]


def test_the_scorers_that_ship_do_not_tell_names_apart() -> None:
    for name in ("sentiment", "regard"):
        for one, two in (
            ("gender.female_names", "gender.male_names"),
            ("identity.black_names", "identity.white_names"),
        ):
            assert find_scorer(name).gap(group(one).texts, group(two).texts) == 0.0


def test_the_lean_of_a_scorer_shows_on_sentences_that_say_nothing() -> None:
    biased = Scorer("mine", lambda texts: [float("Emily" in text) for text in texts])
    assert biased.gap(["Emily", "Anne"], ["Greg", "Todd"]) == pytest.approx(0.5)


def loves_cats(texts):
    return [1.0 if "cat" in text else -1.0 for text in texts]


def test_a_function_of_the_user_scores_by_its_spec() -> None:
    scorer = find_scorer(f"python:{__name__}:loves_cats")
    assert scorer(["a cat", "a dog"]) == [1.0, -1.0]
    assert scorer.name.startswith("python:")


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("mood", "unknown scorer 'mood': known: gender, hf:FOLDER"),
        ("sentimnet", "unknown scorer 'sentimnet': did you mean 'sentiment'"),
        ("python:no_such_module:score", "cannot be imported"),
        (f"python:{__name__}:pytest", "is not a function from texts to numbers"),
    ],
)
def test_an_unknown_scorer_is_one_line(spec: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint) as caught:
        find_scorer(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("answer", [[1.0], ["good", "bad"], [float("nan"), 0.0], None])
def test_a_scorer_that_gives_no_numbers_is_told(answer) -> None:
    with pytest.raises(ModelFailed, match="must give one number per text"):
        Scorer("mine", lambda _: answer)(["a", "b"])


def test_a_classifier_of_transformers_scores_by_its_labels(tmp_path) -> None:
    transformers = pytest.importorskip("transformers")
    from tests.models.tiny_language_models import wordpiece

    from tiltmeter.models.transformers.weights.checkpoints import quiet

    tokenizer = wordpiece(lower=True)
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(tokenizer), id2label={0: "NEGATIVE", 1: "POSITIVE"}, **small)
    with quiet():
        tokenizer.save_pretrained(tmp_path)
        transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    (score,) = find_scorer(f"hf:{tmp_path}")(["The nurse slept."])
    assert -1 < score < 1
    with pytest.raises(ModelFailed, match="no such folder"):
        find_scorer(f"hf:{tmp_path}/nothing")


@pytest.mark.parametrize(
    ("config", "line"),
    [('{"id2label": {"0": "toxic", "1": "fine"}}', "has the labels fine, toxic: it needs"), ("{}", "has no labels in")],
)
def test_a_classifier_with_other_labels_is_told_before_its_weights_are_read(tmp_path, config, line) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(BadInput, match=line):
        find_scorer(f"hf:{tmp_path}")


@pytest.mark.parametrize("probe", ["bold", "counterfactual"])
def test_a_classifier_that_is_not_there_is_told_before_texts_are_written_for_it(tmp_path, probe) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ModelFailed, match="no such folder"):
        make_probes(probe, scorer=f"hf:{tmp_path}/nothing")
