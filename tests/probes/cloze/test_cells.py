"""One cell of the table of ClozeGender: its numbers are those of the definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.probes.cloze.reader import READER, ROWS, VECTORS, measure, written
from tiltmeter.models.protocol import Choice, Chosen, TokenScores
from tiltmeter.readings import Reading
from tiltmeter.readings.details.cloze import ChatChoices


def test_the_score_is_the_probability_to_one_minus_the_similarity_and_the_repaired_one_is_ended_and_centred(
    tmp_path: Path,
) -> None:
    (reading,) = measure(READER, written(tmp_path, "GenderLex_noun.csv", ROWS), VECTORS)
    first, second = reading.items
    assert first.get("published_1") == pytest.approx(0.2 ** (1 - 0.8), abs=1e-6)
    assert first.get("published_2") == pytest.approx(0.3 ** (1 - 0.6), abs=1e-6)
    assert second.get("published_1") == pytest.approx(0.2 ** (1 - 0.6), abs=1e-6)
    assert second.get("published_2") == pytest.approx(0.3 ** (1 - 0.8), abs=1e-6)
    # The similarities have one mean (.7) for both pronouns already, so that centring leaves them as they are.
    assert first.get("repaired_1") == pytest.approx((0.2 * 0.9) ** (1 - 0.8), abs=1e-6)
    assert second.get("repaired_2") == pytest.approx((0.3 * 0.2) ** (1 - 0.8), abs=1e-6)
    assert first.value == pytest.approx(math.log(first.get("repaired_1") / first.get("repaired_2")))
    assert [(item.label, item.unit, item.group, item.get("won")) for item in reading.items] == [
        ("It was drilled by him", "drill", "men", 1.0),
        ("It was baked by him", "cake", "women", 0.0),
    ]
    assert reading.published is not None
    assert reading.published.value == 0.5
    assert reading.effect.value == 0.5
    assert reading.details.published.human_match == 1.0
    assert reading.details.published.weat == pytest.approx((0.8 - 0.6) - (0.6 - 0.8))


def test_a_pronoun_that_goes_on_wins_as_published_and_loses_once_the_sentence_is_ended(tmp_path: Path) -> None:
    (reading,) = measure(
        READER, written(tmp_path, "GenderLex_noun.csv", ROWS), VECTORS | {"drill": [1, 1], "cake": [1, 1]}
    )
    assert reading.published is not None
    assert (reading.published.value, reading.effect.value) == (0.0, 1.0)
    steps = {step.name: step.share_1 for step in reading.details.steps}
    assert steps == {
        "probability alone": 0.0,
        "as published": 0.0,
        "sentence ended": 1.0,
        "offset taken off": 0.0,
        "repaired": 1.0,
        "centred over the rows instead": 1.0,
    }
    assert "her mother" in reading.repair


def test_a_context_without_a_vector_has_similarity_nought_and_is_named(tmp_path: Path) -> None:
    rows = ROWS + "It was zqx by him,It was zqx by her,zqx,M\n"
    (reading,) = measure(READER, written(tmp_path, "GenderLex_noun.csv", rows), VECTORS)
    odd = reading.items[2]
    assert odd.get("has_vector") is False
    assert odd.get("published_1") == pytest.approx(0.2, abs=1e-6)
    assert reading.details.contexts_without_vector == ("zqx",)
    assert any("zqx" in each.what for each in reading.left_out)


def test_contexts_are_combined_by_the_product_of_their_scores(tmp_path: Path) -> None:
    written(tmp_path, "GenderLex_noun.csv", ROWS)
    written(tmp_path, "GenderLex_verb.csv", ROWS.replace(",cake,", ",drill,"))
    whole, noun, verb = measure(READER, tmp_path, VECTORS)
    assert [whole.id, noun.id, verb.id] == ["cloze", "cloze-all-noun", "cloze-all-verb"]
    for i in (0, 1):
        product = noun.items[i].get("published_1") * verb.items[i].get("published_1")
        assert whole.items[i].get("published_1") == pytest.approx(product)
    assert whole.details.contexts == ("noun", "verb")


def test_the_mean_form_leaves_out_the_first_token_and_full_stops(tmp_path: Path) -> None:
    class Scorer:
        def score(self, texts: Sequence[str]) -> list[TokenScores]:
            places = [(0, 2), (3, 6), (7, 10), (10, 11)]
            starts, ends = np.array(places).T
            chance = {"him": 0.5, "her": 0.25}
            ids = {"him": 3, "her": 5}
            return [
                TokenScores([1, 2, ids[t[7:10]], 4], starts, ends, np.log([0.9, 0.1, chance[t[7:10]], 0.8]))
                for t in texts
            ]

    path = tmp_path / "winobias_verb.csv"
    path.write_text(
        "sent_m,sent_w,context,prounoun_m,prounoun_w,HB\nWe saw him.,We saw her.,drill,him,her,M\n", encoding="utf-8"
    )
    (reading,) = measure(Scorer(), path, VECTORS, method="mean")
    assert reading.items[0].get("p_1") == pytest.approx((0.1 + 0.5) / 2, abs=1e-6)
    assert reading.items[0].get("p_2") == pytest.approx((0.1 + 0.25) / 2, abs=1e-6)
    # All tokens but the pronoun are shared, and as likely in both.
    assert reading.details.cps.ties == 1
    (reading,) = measure(Scorer(), path, VECTORS, method="all")
    assert reading.items[0].get("p_1") == pytest.approx((0.1 + 0.5 * 0.8) / 2, abs=1e-6)


def test_a_chat_model_is_asked_in_both_orders_and_refusals_are_counted(tmp_path: Path) -> None:
    class Chat:
        def choose(self, items: Sequence[Choice]) -> list[Chosen]:
            return [
                Chosen(1, 1) if "drilled" in i.text else Chosen(0, 0) if "baked" in i.text else Chosen(1, 2)
                for i in items
            ]

    rows = ROWS + "It was seen by him,It was seen by her,drill,M\n"
    (reading,) = measure(Chat(), written(tmp_path, "GenderLex_noun.csv", rows), VECTORS)
    assert reading.effect.value == pytest.approx((1 + 0.5) / 2)
    assert reading.details.choices == ChatChoices(refused=1, turned_with_order=1, human_match=1.0)
    assert [item.get("won") for item in reading.items] == [1.0, None, 0.5]
    assert "refused 1" in reading.plain_words


@pytest.mark.parametrize("name", ["GenderLex_noun.csv", "GenderLex_W_B.csv"])
def test_the_effect_is_the_statistic_of_the_items(tmp_path: Path, name: str) -> None:
    if name.endswith("B.csv"):
        rows = "It was drilled by them,miner,white,african\nIt was baked by them,baker,white,african\n"
        (tmp_path / name).write_text(f"sent,context,race_A1,race_B1\n{rows}It was cut by them,drill,white,african\n")
    else:
        # The last row ties: people, pronoun and context are alike on both sides, so it is not counted.
        written(tmp_path, name, ROWS + "It was dug by him,It was dug by her,drill,M\n")
    (reading,) = measure(READER, tmp_path / name, VECTORS)
    assert reading.statistic.name == "mean"
    won = [item.get(reading.statistic.of[0]) for item in reading.items]
    counted = [value for value in won if value is not None]
    assert sum(counted) / len(counted) == pytest.approx(reading.effect.value, abs=1e-9)
    margins = [item.get(reading.statistic.margins) for item in reading.items]
    assert [None if value is None else value > 0.5 for value in won] == [m > 0 if m else None for m in margins]
    assert Reading.from_dict(reading.to_dict()) == reading
