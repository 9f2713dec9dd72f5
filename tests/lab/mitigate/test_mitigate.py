from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.lab.mitigate.word_model import planted_words
from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.mitigate import bias_left, mitigate
from tiltmeter.models.debiased import DebiasedModel
from tiltmeter.probes import Options, make_probes
from tiltmeter.readings import Audit
from tiltmeter.readings.mitigation import AnotherSplit, Mitigation, Moved
from tiltmeter.run.suite import Suite
from tiltmeter.statistics import Interval

TERMS = ["gender.male_terms", "gender.female_terms"]


def suite() -> Suite:
    sets = {"career": ["attributes.career", "attributes.family"], "math": ["attributes.math", "attributes.arts"]}
    probes = [
        make_probes("weat", options=Options(permutations=500), id=name, targets=TERMS, attributes=against)[0]
        for name, against in sets.items()
    ]
    return Suite("planted", "two planted leans", tuple(probes))


def run(folder, methods, words, **options) -> Mitigation:
    return mitigate(words, methods, out=folder, suite=suite(), vocabulary=5_000, cache=False, **options)


def found(outcome, *tests: str) -> list[float]:
    return [test.after for test in outcome.traces if not tests or test.name in tests]


def test_a_bias_in_one_direction_goes_and_one_in_a_second_is_hidden(tmp_path):
    one = run(tmp_path / "one", ["hard", "inlp"], planted_words())
    two = run(tmp_path / "two", ["hard", "inlp"], planted_words(directions=2, n=4_000))
    for made in (one, two):
        for outcome in made.outcomes:
            assert (outcome.less, outcome.more) == (2, 0)
            assert {moved.id for moved in outcome.deciding} == {"career-held-out", "math-held-out"}
    # Hard debiasing removes the direction of the pairs alone; the words keep their lean in the other one.
    assert two.outcomes[0].trace == "hidden"
    assert min(found(two.outcomes[0])) > 0.9
    assert max(map(max, map(found, (*one.outcomes, two.outcomes[1])))) < 0.62


def test_it_is_stored_with_its_audits_and_models_and_fitted_on_one_half_alone(tmp_path):
    made = run(tmp_path, ["hard"], planted_words())
    assert Mitigation.load(tmp_path) == made
    assert Audit.load(tmp_path / "before").models == Audit.load(tmp_path / "before").models
    after = Audit.load(tmp_path / "after" / "hard")
    assert {reading.id for reading in after.readings} == {"career", "career-held-out", "math", "math-held-out"}
    fitted = {reading.id: any("fitting words" in note for note in reading.notes) for reading in after.readings}
    assert fitted == {"career": True, "math": True, "career-held-out": False, "math-held-out": False}
    assert set(sum(made.fit, ())).isdisjoint(sum(made.test, ()))


def test_vectors_without_bias_are_not_changed_beyond_noise(tmp_path):
    words = planted_words(strength=0.0)
    made = run(tmp_path, ["hard", "inlp", "leace"], words)
    some = [word for word in words if word.startswith("q")][:300]
    before = np.stack([words[word] for word in some])
    for outcome in made.outcomes:
        assert outcome.more == 0
        assert max(found(outcome)) < 0.62
        after = np.stack(DebiasedModel(tmp_path / "models" / outcome.method, base=words).embed_words(some))
        cosines = (before * after).sum(axis=1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
        assert np.median(cosines) > 0.95


def test_other_splits_are_what_other_seeds_give_and_the_command_names_them(tmp_path):
    words = planted_words(n=1_200)
    made = run(tmp_path / "both", ["hard", "leace"], words, splits=2, seed=3)
    assert [(each.method, each.seed) for each in made.others] == [("hard", 4), ("leace", 4)]
    alone = run(tmp_path / "alone", ["hard", "leace"], words, seed=4)
    assert made.others == tuple(AnotherSplit.of(outcome, seed=4) for outcome in alone.outcomes)
    assert alone.fit != made.fit
    assert Mitigation.load(tmp_path / "both") == made


def test_the_command_makes_the_result_again(tmp_path):
    vectors = tmp_path / "planted.vec"
    rows = [f"{word} {' '.join(map(str, row.round(5)))}" for word, row in planted_words(n=500).items()]
    vectors.write_text("\n".join([f"{len(rows)} 40", *rows]) + "\n", encoding="utf-8")
    (file := tmp_path / "mine.yaml").write_text(
        "name: mine\ndescription: career\nprobes:\n"
        "  - {probe: weat, targets: [gender.male_terms, gender.female_terms],"
        " attributes: [attributes.career, attributes.family]}\n"
    )
    options = {"suite": file, "cache": False, "rank": 2, "vocabulary": 450, "permutations": 99, "seed": 5}
    made = mitigate(f"static:{vectors}", ["hard"], out=tmp_path / "out", pairs="gender.gender", **options)
    assert made.command == (
        f"tiltmeter mitigate static:{vectors} --method hard --suite {file} --rank 2 --vocabulary 450 "
        "--permutations 99 --seed 5"
    )


def test_a_method_that_fails_does_not_stop_the_others(tmp_path):
    made = run(tmp_path, ["hard", "inlp"], planted_words(), rank=28)
    problems = {outcome.method: outcome.problem for outcome in made.outcomes}
    assert "a rank of 28 is too high" in problems["hard"]
    assert problems["inlp"] == ""


@pytest.mark.parametrize(
    ("methods", "options", "message"),
    [
        ([], {}, "name at least one method"),
        (["hard", "hard"], {}, "each once"),
        (["hrad"], {}, "did you mean 'hard'"),
        (["hard", "sentence_debias"], {}, "sentence_debias is for vectors of texts"),
        (["hard"], {"rank": 40}, "no method could be applied: hard: a rank of 40"),
        (["hard"], {"pairs": [["mother", "father"]]}, "all words belong to one family"),
        (["hard"], {"splits": 0}, "the words are split at least once"),
    ],
)
def test_bad_input_is_one_line(tmp_path, methods, options, message):
    with pytest.raises(BadInput, match=message):
        run(tmp_path / "out", methods, planted_words(n=500), **options)
    assert not (tmp_path / "out").exists()


def test_what_is_left_is_the_share_of_the_distance_from_level():
    ci = Interval(-0.1, 0.1, 0.95, "t")
    row = Moved("a", "A", "gender", "d", 0.5, 1.5, 0.9, -0.6, ci, 0.01, -0.6, True, True, 0, True)
    other = dataclasses.replace(row, id="b", before=0.0, after=0.4)
    ignored = dataclasses.replace(row, id="c", after=9.0, decides=False)
    left = bias_left([row, other, ignored], seed=0)
    assert left.value == pytest.approx((0.4 + 0.1) / (1.0 + 0.5))
    assert left.ci.low < left.value < left.ci.high
    # Two distances with a standard error of .051 each, over a sum of 1.5 before.
    assert left.ci.high - left.ci.low == pytest.approx(2 * 1.96 * 0.051 * np.sqrt(2) / 1.5, rel=0.2)
    assert bias_left([ignored], seed=0) is None
