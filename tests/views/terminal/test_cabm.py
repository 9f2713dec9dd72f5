from __future__ import annotations

import dataclasses
import io
from typing import Any

import pytest
from rich.console import Console

from tests.reference import reference_model
from tests.views.cabm_reading import changed, measured, small_forests, with_details, with_items
from tiltmeter.cli.measure import probe
from tiltmeter.measures import Contingency, Normality, Separation
from tiltmeter.readings import Item, Reading
from tiltmeter.readings.details.cabm import FeatureWeights
from tiltmeter.views.terminal.cabm import cabm_view


@pytest.fixture(scope="module")
def reading() -> Reading:
    return measured()


def shown(reading: Reading, *, width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(cabm_view(reading))
    return console.file.getvalue()


def line(text: str, start: str) -> str:
    """The first line that begins so, without repeated blanks."""
    return next(" ".join(each.split()) for each in text.splitlines() if each.strip().startswith(start))


def validated(reading: Reading, **parts: Any) -> Reading:
    validation = dataclasses.replace(reading.details.repaired.validation, **parts)
    return changed(reading, "repaired", validation=validation)


def test_an_occupation_stands_with_its_score_its_category_and_its_parts(reading):
    text = shown(reading)
    for item in reading.items:
        row = item.to_dict()
        parts = " ".join(f"{row[f'part_{name}']:+.2f}" for name in ("pmi", "cosine", "context"))
        assert line(text, item.label) == (
            f"{item.label} {item.value:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}] {item.group} "
            f"{row['published']:+.2f} {row['published_group']} {parts}"
        )


def test_occupations_go_from_the_first_group_to_the_second_and_of_many_the_ends_are_shown(reading):
    jobs = [reading.items[0]._replace(label=f"job{n:02}", value=n / 10) for n in range(30)]
    text = shown(with_items(reading, jobs))
    listed = [each.split()[0] for each in text.splitlines() if each.strip().startswith("job")]
    assert listed == [f"job{n:02}" for n in [*range(29, 21, -1), *range(7, -1, -1)]]
    assert "(14 more)" in text
    assert "more)" not in shown(with_items(reading, jobs[:29]))


def test_weights_stand_by_strategy_with_a_spread_that_can_be_seen(reading):
    fitted = {
        "pca": FeatureWeights((0.25, 0.25, 0.5), "pca", (0.0, 0.0, 0.0)),
        "shap_rf": FeatureWeights((0.1, 0.2, 0.7), "shap+forest", (0.004, 0.03, 0.05)),
    }
    text = shown(changed(changed(reading, "repaired", weights=fitted), "published", weights={"pca": fitted["pca"]}))
    assert line(text, "pca") == "pca 0.25 0.25 0.50 0.25 0.25 0.50"
    assert line(text, "shap_rf") == "shap_rf 0.10 0.20 ± 0.03 0.70 ± 0.05 - - -"


def test_a_weighting_that_could_not_be_had_says_why(reading):
    text = shown(changed(reading, "published", not_weighed={"pca_rf": "the labels name only one group"}))
    assert "pca_rf, published: the labels name only one group." in text


def test_categories_are_counted_repaired_beside_published(reading):
    counts = [form.categories for form in reading.details.forms.values()]
    section = shown(reading).partition("Occupations by category")[2]
    for name in ("men", "women", "neutral", "too close to call"):
        assert line(section, name) == " ".join([name, *(str(each.get(name, 0)) for each in counts)])


def test_the_checks_are_the_numbers_of_the_validation(reading):
    separation = Separation(u=198.0, p_value=0.00001, cohens_d=3.33, median_difference=0.75, n_1=18, n_2=11)
    label = Separation(u=60.0, p_value=0.0312, cohens_d=None, median_difference=0.13, n_1=10, n_2=8)
    text = shown(
        validated(
            reading,
            sd=0.3776,
            variance=0.1426,
            iqr=0.3848,
            normality=Normality(0.9612, 0.4),
            by_category=separation,
            by_label=label,
            contingency=Contingency((), 9.24, 4, 0.055, "chi-square"),
        )
    )
    assert line(text, "SD").startswith("SD 0.38 ")
    assert line(text, "variance").startswith("variance 0.143 ")
    assert line(text, "IQR").startswith("IQR 0.38 ")
    assert line(text, "Shapiro-Wilk W").startswith("Shapiro-Wilk W 0.961 ")
    assert line(text, "p = 0.40")
    assert line(text, "Mann-Whitney U by own category (circular)").split()[6:9] == ["198", "of", "198"]
    assert line(text, "Cohen's d by own category (circular)").split()[6] == "3.33"
    assert line(text, "Mann-Whitney U by labour statistics").split()[5:8] == ["60", "of", "80"]
    assert line(text, "p = 0.031")
    assert line(text, "Cohen's d by labour statistics").split()[5] == "-"
    assert line(text, "median difference by labour statistics").split()[5] == "0.13"
    assert line(text, "chi-square, category by label").split()[4:7] == ["9.2", "(df", "4)"]


def test_every_check_says_in_words_what_it_means(reading):
    section = shown(reading).partition("Does the score hold up?")[2].partition("What goes together")[0]
    assert "lower is better" in section
    assert "circular: the groups are cut from these very scores" in section
    assert "cross-validated: no occupation had a part in its own weights" in section


def test_agreement_with_unmasking_and_between_weightings_is_shown(reading):
    text = shown(reading)
    found = reading.details.repaired.validation.unmasking
    assert line(text, "agreement with unmasking").split()[3] == f"{found.agreement.value:.0%}"
    assert line(text, "kappa with unmasking").split()[3] == f"{found.kappa:.2f}"
    pair = reading.details.between_forms
    cells = line(text, "repaired - published").split()
    assert (cells[3], cells[6], cells[-1]) == (
        f"{pair.pearson.r:.2f}",
        f"{pair.spearman.r:.2f}",
        f"{pair.agreement:.0%}",
    )


def test_what_was_not_measured_is_left_out_and_what_is_not_defined_says_why(reading):
    without = {"unmasking": None, "by_label": None, "contingency": None}
    bare = with_details(
        validated(reading, **without, by_category=None, notes=("by_category: it needs both",)), labels_from=None
    )
    published = dataclasses.replace(bare.details.published.validation, **without)
    bare = changed(bare, "published", validation=published)
    text = shown(bare)
    assert "by labour statistics" not in text
    assert "with unmasking" not in text
    assert "chi-square" not in text
    assert "cross-validated" not in text
    assert line(text, "Cohen's d by own category (circular)").split()[6] == "-"
    assert "repaired, by_category: it needs both." in text


def test_the_data_kept_and_dropped_are_counted(reading):
    data = dataclasses.replace(
        reading.details.data,
        read=3168,
        used=3160,
        left_out={"no pronoun": 7, "no opposite": 1},
        in_source={"women": 1500, "men": 1660},
        by_kind={"type1": {"women": 2, "men": 1}},
    )
    text = shown(dataclasses.replace(with_details(reading, data=data), notes=("one line twice",)))
    assert "3,168 lines read, 3,160 used; of them 320 sentences were made" in text
    assert "Left out, 7 lines: no pronoun." in text
    assert "Left out, 1 line: no opposite." in text
    assert "The source has 1,660 with men, 1,500 with women; the sentences 160 with men, 160 with women." in text
    assert "type1: 1 with men, 2 with women." in text
    assert "Labels of occupations come from: labour statistics." in text
    assert "Note: one line twice." in text


def test_the_sentences_that_lean_most_are_quoted(reading):
    most = max(reading.items, key=lambda item: item.value).label
    loudest = reading.details.sentences[most][0]
    assert f"{loudest.lean:+.2f}  {loudest.sentence}" in shown(reading)


def test_words_and_groups_of_any_kind_are_text_and_whole_in_a_narrow_terminal(reading):
    groups = ("words for [red] people", "women")
    items = [
        Item(f"[bold]{item.label}", item.unit, groups[0], item.value, {**item.columns, "published_group": groups[0]})
        for item in reading.items
    ]
    counts = dict.fromkeys(groups, 1)
    data = dataclasses.replace(reading.details.data, by_kind={}, by_group=counts, in_source=counts)
    text = shown(with_details(with_items(reading, items), groups=groups, data=data), width=80)
    assert "[bold]" in text
    assert "[red]" in text
    assert "…" not in text


def test_the_command_shows_the_reading_and_then_its_page(capsys):
    with small_forests():
        probe("cabm", f"hf:{reference_model(0.9)}", method="equal", no_cache=True)
    text = capsys.readouterr().out
    assert text.index("as published") < text.index("Does the score hold up?")
    assert "The headline is weighed by equal (repaired) and equal (published)." in text


def test_weights_of_the_users_own_are_a_row_like_any_other():
    text = shown(measured("0.5,0.3,0.2"))
    assert "The headline is weighed by given (repaired) and given (published)." in text
    assert line(text, "given") == "given 0.50 0.30 0.20 0.50 0.30 0.20"
    names = [each.split()[0] for each in text.splitlines() if each.split()[:1] in (["pca"], ["equal"], ["given"])]
    assert names == ["pca", "equal", "given"]


def test_the_command_takes_weights_of_the_users_own(capsys):
    with small_forests():
        probe("cabm", f"hf:{reference_model(0.9)}", method="0.5,0.3,0.2", no_cache=True)
    assert "weighed by given (repaired) and given (published)" in capsys.readouterr().out
