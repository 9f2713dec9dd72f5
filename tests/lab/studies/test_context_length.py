"""The context-length study: when an effect counts as stable, and the command from text to chart."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.lab.studies.study_reading import study_reading
from tests.mined_folder import GROUPS, write_mined
from tests.reference import reference_model
from tiltmeter.cli.lab import lab_app as app
from tiltmeter.errors import BadInput
from tiltmeter.lab.studies.context_length import context_length, order, stable_from
from tiltmeter.measures import DrawnEffects
from tiltmeter.readings import Audit, D, Details, Estimate, Reading
from tiltmeter.readings.details.ceat import CeatDetails, PublishedPooling, RepairedPooling
from tiltmeter.readings.details.sentences import LpbsDetails, MeanAssociation
from tiltmeter.readings.studies import LengthPoint
from tiltmeter.statistics import Interval, Mean

WIDE = 0.5


def point(length: str, effect: float, reach: float = WIDE) -> LengthPoint:
    return LengthPoint(
        length, effect, Interval(effect - reach, effect + reach, 0.95, "given"), 0.2, effect, 0.01, 10, 100
    )


def reading(
    length: str, effect: float, *, model: str = "own:one", probe: str = "ceat", published: bool = True, words: int = 10
) -> Reading:
    details: Details | None = None
    if probe == "ceat":
        drawn, nothing = DrawnEffects(0, 0, 0, 0, 0), PublishedPooling(0, 0, 0, 0)
        details = CeatDetails(length, nothing, RepairedPooling(0, 0), 1, "fixed", False, drawn, {}, "en", "")
    elif probe == "lpbs":
        interval = Interval(0, 0, 0.95, "given")
        nothing = MeanAssociation(0, 0, 0, 1)
        structures = dict.fromkeys([length] if length else ["S1", "S2"], nothing)
        details = LpbsDetails(Mean(0, interval, 1, True, 0, 1, 1), 0, 0, 0, {}, structures)
    return study_reading(
        probe=probe,
        model=model,
        effect=Estimate("effect size d", effect, D, Interval(effect - WIDE, effect + WIDE, 0.95, "given"), 0.3),
        published=Estimate("combined effect size", effect + 0.01, D, None, 0.001) if published else None,
        n_items=100,
        n_units=words,
        details=details,
    )


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ({"5": 1.0, "9": 0.45, "25": 0.4, "75": 0.3}, "9"),
        ({"5": 0.31, "9": 1.0, "25": 0.4, "75": 0.3}, "25"),  # near at first, but not from there on
        ({"5": 0.2, "9": 0.3, "25": 0.25, "75": 0.3}, "5"),
        ({"5": 1.0, "9": 0.9, "25": 0.8, "75": 0.3}, None),  # the longest alone shows nothing
        ({"9": 0.3}, None),
    ],
)
def test_the_effect_is_stable_from_the_length_after_which_it_stays_where_it_ends(effects, expected) -> None:
    assert stable_from([point(length, effect) for length, effect in effects.items()]) == expected


def test_a_wide_interval_alone_does_not_make_an_effect_stable_nor_a_small_difference_a_sure_one() -> None:
    assert stable_from([point("9", 0.9, 2.0), point("25", 0.4, 2.0)]) is None
    assert stable_from([point("9", 0.45, 0.01), point("25", 0.4, 0.01)]) is None
    assert stable_from([point("9", 0.45, 0.1), point("25", 0.4, 0.1)]) == "9"


def test_a_sentence_has_no_place_among_numbers_of_words() -> None:
    assert stable_from([point("sentence", 5.0), point("9", 0.4), point(">75", 0.4)]) == "9"
    assert sorted(["100", ">75", "75", "9"], key=order) == ["9", "75", ">75", "100"]


def test_readings_become_a_curve_for_each_model_and_probe_in_order_of_length() -> None:
    found = context_length(
        [
            reading("", 9.0),
            reading("25", 0.30),
            reading("9", 0.35),
            reading(">75", 0.32),
            reading("9", 1.0, model="own:two"),
            reading("25", 0.1, model="own:two"),
            reading("", 0.5, probe="lpbs", published=False),
            reading("S2", 0.5, probe="lpbs", published=False),
            reading("S1", 0.6, probe="lpbs", published=False),
            reading("1", 0.6, probe="weat", published=False),
        ]
    )
    assert [(curve.model, curve.probe) for curve in found.curves] == [
        ("own:one", "ceat"),
        ("own:two", "ceat"),
        ("own:one", "lpbs"),
    ]
    one, two, lpbs = found.curves
    assert [each.length for each in one.points] == ["9", "25", ">75"]
    assert [each.length for each in lpbs.points] == ["S1", "S2"]
    assert (one.stable_from, two.stable_from, lpbs.stable_from) == ("9", None, "S1")
    assert "from 9 on it is stable" in one.plain_words
    assert "not stable within the lengths tried" in two.plain_words
    assert "from 0.30 to 0.35" in one.plain_words
    assert json.loads(json.dumps(found.to_dict()))["curves"][0]["stable_from"] == "9"


def test_layers_of_one_model_share_what_it_expects():
    layers = ("hf:one?layer=4", "hf:one?layer=8")
    readings = [reading("9", 0.1, model=model) for model in layers]
    readings += [reading(name, 0.2, model=model, probe="lpbs") for model in layers for name in ("S1", "S2")]
    found = [(curve.model, curve.probe, len(curve.points)) for curve in context_length(readings).curves]
    assert found == [("hf:one?layer=4", "ceat", 1), ("hf:one?layer=8", "ceat", 1), ("hf:one?layer=4", "lpbs", 2)]


def test_lengths_with_different_words_are_said_to_be_so() -> None:
    (curve,) = context_length([reading("9", 0.3), reading("25", 0.3, words=4)]).curves
    assert "Not every length has the same words (4 to 10)" in curve.plain_words
    (same,) = context_length([reading("9", 0.3), reading("25", 0.3)]).curves
    assert "same words" not in same.plain_words


@pytest.fixture
def traits(tmp_path: Path) -> Path:
    """Few sentences, so that the log-probability bias takes no time."""
    file = tmp_path / "traits.yaml"
    file.write_text(
        """
name: own
language: en
terms: [[he, she]]
traits:
  good: [kind, brave]
  bad: [late, tired]
structures:
  S1: ["{target} was {trait}."]
  S2: ["The nurse said that {target} was {trait}."]
""",
        encoding="utf-8",
    )
    return file


def run(*arguments: str | Path) -> str:
    outcome = CliRunner().invoke(app, ["context-length", *map(str, arguments)], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def test_from_a_text_to_readings_table_and_chart_in_one_command(tmp_path: Path, traits: Path, monkeypatch) -> None:
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))
    words = [word for group in GROUPS.values() for word in group]
    lines = [
        f"in this line of the text the {seen} {word} was seen by someone and nobody else saw it"
        for seen in ("tall", "old", "new", "other")
        for word in words
    ]
    text = tmp_path / "own.txt"
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    arguments = (
        f"hf:{reference_model(0.9)}", "--corpus", text, "--lexicon", ",".join(GROUPS), "--lengths", "3,7,11",
        "--method", "draws=200", "--out", out, "--permutations", "200", "--traits", traits,
        "--layers", "0,1",
    )  # fmt: skip
    shown = run(*arguments)
    assert "Report:" in shown
    values = json.loads((out / "context_length.json").read_text(encoding="utf-8"))
    ceat = [curve for curve in values["curves"] if curve["probe"] == "ceat"]
    assert [[point["length"] for point in curve["points"]] for curve in ceat] == [["3", "7", "11"]] * 2
    assert ceat[0]["model"] != ceat[1]["model"]
    lpbs = [curve for curve in values["curves"] if curve["probe"] == "lpbs"]
    assert [point["length"] for point in lpbs[0]["points"]] == ["S1", "S2"]
    assert (out / "context_length.svg").read_text(encoding="utf-8").startswith("<svg")
    ids = {each.id for each in Audit.load(out).readings}
    assert {"ceat", "ceat-3", "ceat-7", "ceat-11", "lpbs-S2"} <= ids
    twice = Counter(each.id for each in Audit.load(out).readings)  # of the two layers
    assert {name: n for name, n in twice.items() if "lpbs" in name} == {"lpbs": 1, "lpbs-S1": 1, "lpbs-S2": 1}
    assert twice["ceat"] == 2


def test_a_mined_folder_is_measured_as_it_is(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))
    folder = write_mined(tmp_path / "mined", contexts=3)
    arguments = (f"hf:{reference_model(0.9)}", "--mined", folder, "--method", "draws=50", "--permutations", "50")
    values = json.loads(run(*arguments, "--traits", "none", "--out", tmp_path / "out", "--json"))
    (curve,) = values["curves"]
    assert [point["length"] for point in curve["points"]] == ["9", "25"]
    assert curve["points"][0]["contexts"] == 30


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bundled:minilm",), "give either a text to mine with --corpus"),
        (("bundled:minilm", "--corpus", "a.txt", "--mined", "b"), "give either a text to mine with --corpus"),
        (("bundled:minilm", "--corpus", "a.txt"), "say which words to mine"),
        (
            ("bundled:minilm", "--mined", "b", "--lexicon", "gender"),
            "takes two groups of targets and two of attributes",
        ),
        (("bundled:minilm", "--mined", "b", "--layers", "1"), "has no layers to choose from"),
        (("hf:x?layer=2", "--mined", "b", "--layers", "1"), "names a layer of its own"),
        (("hf:x", "--mined", "b", "--layers", "one"), "must be a number"),
        (("bundled:minilm", "--mined", "nowhere"), "no folder nowhere"),
    ],
)
def test_bad_input_is_said_before_anything_is_mined(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        CliRunner().invoke(
            app, ["context-length", *arguments, "--out", str(tmp_path)], catch_exceptions=False, standalone_mode=False
        )
    assert said in str(error.value)
    assert "\n" not in str(error.value)
