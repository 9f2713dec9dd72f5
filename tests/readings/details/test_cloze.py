"""Details of cloze cells as an earlier version wrote them."""

from __future__ import annotations

from tiltmeter.measures import ClozeStep
from tiltmeter.readings import Details
from tiltmeter.readings.details.cloze import ChatChoices, ClozeDetails

NUMBERS = {
    "to_1": 0.25,
    "to_2": 0.75,
    "kl": 0.1,
    "human_match": None,
    "ties": 0,
    "low": 0.2,
    "high": 0.4,
    "p_value": 0.03,
}
CELL = {"variant": "all", "context": "noun", "form": "last", "groups": ["men", "women"], "rows": 4, "warnings": ["a"]}


def read(values: dict[str, object]) -> ClozeDetails:
    details = Details.from_dict({"kind": "cloze", **ClozeDetails.from_schema_1(values)})
    assert isinstance(details, ClozeDetails)
    assert Details.from_dict(details.to_dict()) == details
    return details


def test_what_was_called_corrected_is_the_repaired_form() -> None:
    step = {"share_1": 0.25, "human_match": None, "kl": 0.1}
    details = read(
        {
            **CELL,
            "published": {**NUMBERS, "to_1": 0.1, "weat": 0.4},
            "corrected": NUMBERS,
            "steps": [{"name": "as published", **step}, {"name": "corrected", **step}],
            "contexts_without_vector": ["zqx"],
            "cps": {"to_1": None, "ties": 4},
            "amplification": {"mean": 0.5, "contexts": 2},
        }
    )
    assert (details.published.to_1, details.published.weat) == (0.1, 0.4)
    assert (details.repaired.to_1, details.repaired.weat) == (0.25, None)
    assert details.steps[1] == ClozeStep("repaired", 0.25, None, 0.1)
    assert (details.cps.ties, details.amplification.contexts) == (4, 2)
    assert details.groups == ("men", "women")


def test_the_choices_of_a_chat_model_are_read() -> None:
    details = read({**CELL, "form": "choice", "refused": 1, "turned_with_order": 2, "human_match": 0.5})
    assert details.choices == ChatChoices(1, 2, 0.5)
    assert details.published is details.repaired is None
