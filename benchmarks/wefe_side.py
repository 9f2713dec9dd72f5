"""WEFE's side of the comparison: runs inside the environment that holds WEFE, prints its answers as JSON.

Started by benchmarks/peers.py; the only file of this project that imports WEFE. Argument: a JSON list of the
permutation tests to run, [query name, kind of test, iterations] each; ten thousand iterations take minutes.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

warnings.simplefilter("ignore")  # WEFE's own imports warn; nothing of it concerns the numbers

from wefe.datasets import load_weat  # noqa: E402
from wefe.metrics import ECT, MAC, RIPA, RND, WEAT  # noqa: E402
from wefe.query import Query  # noqa: E402
from wefe.utils import load_test_model  # noqa: E402

#: Names of WEFE's own word lists (Caliskan et al. 2017): two targets, two attributes.
LISTED = (
    ("flowers", "insects", "pleasant_5", "unpleasant_5a"),
    ("instruments", "weapons", "pleasant_5", "unpleasant_5a"),
    ("european_american_names_5", "african_american_names_5", "pleasant_5", "unpleasant_5b"),
    ("european_american_names_7", "african_american_names_7", "pleasant_5", "unpleasant_5b"),
    ("european_american_names_7", "african_american_names_7", "pleasant_9", "unpleasant_9"),
    ("male_names", "female_names", "career", "family"),
    ("math", "arts", "male_terms", "female_terms"),
    ("science", "arts_2", "male_terms_2", "female_terms_2"),
    ("mental_disease", "physical_disease", "temporary", "permanent"),
    ("young_people_names", "old_people_names", "pleasant_9", "unpleasant_9"),
    ("female_terms", "male_terms", "family", "career"),
    ("female_terms", "male_terms", "arts", "math"),
    ("female_terms_2", "male_terms_2", "family", "career"),
    ("female_names", "male_names", "career", "family"),
    ("career", "family", "male_terms", "female_terms"),
    ("flowers", "weapons", "pleasant_9", "unpleasant_9"),
)
OWN: dict[str, list[str]] = {
    "care work": ["nurse", "teacher", "librarian", "secretary", "receptionist", "hairdresser"],
    "technical work": ["engineer", "mechanic", "programmer", "electrician", "carpenter", "plumber"],
    "he": ["he", "him", "his", "himself"],
    "she": ["she", "her", "hers", "herself", "woman", "girl"],
    "strong": ["strong", "powerful", "dominant", "bold", "leader", "loud"],
    "weak": ["weak", "timid", "gentle", "quiet", "shy", "fragile"],
}
COMPOSED = (
    ("care work", "technical work", "she", "he"),
    ("he", "she", "strong", "weak"),
    ("she", "he", "care work", "technical work"),
    ("male_names", "female_names", "strong", "weak"),
)


def main() -> None:
    tests = {name: (kind, iterations) for name, kind, iterations in json.loads(sys.argv[1])}
    lists = {**load_weat(), **OWN}
    model = load_test_model()
    answers: list[dict[str, Any]] = []
    for names in (*LISTED, *COMPOSED):
        words = [[word for word in lists[name] if word in model.wv] for name in names]
        answer: dict[str, Any] = {"name": " ".join(names), "sets": words, **numbers(words, model)}
        if answer["name"] in tests:
            answer["test"] = permutation_test(words, model, *tests[answer["name"]])
        answers.append(answer)
    used = {word for answer in answers for words in answer["sets"] for word in words}
    vectors = {word: [float(value) for value in model[word]] for word in sorted(used)}
    json.dump({"queries": answers, "vectors": vectors}, sys.stdout)


def numbers(words: list[list[str]], model: Any) -> dict[str, float | None]:
    """Every metric of WEFE that tiltmeter has too, from its own run_query."""
    both, one = Query(words[:2], words[2:]), Query(words[:2], words[2:3])
    weat = WEAT().run_query(both, model)
    found: dict[str, float | None] = {
        "weat": float(weat["weat"]),
        "effect_size": float(weat["effect_size"]),
        "mac": float(MAC().run_query(both, model)["result"]),
        "rnd_norm": float(RND().run_query(one, model, distance="norm")["result"]),
        "rnd_cos": float(RND().run_query(one, model, distance="cos")["result"]),
        "ect": float(ECT().run_query(one, model)["result"]),
    }
    paired = len(words[0]) == len(words[1])
    found["ripa"] = float(RIPA().run_query(one, model)["result"]) if paired else None
    return found


def permutation_test(words: list[list[str]], model: Any, kind: str, iterations: int) -> dict[str, Any]:
    query = Query(words[:2], words[2:])
    start = time.perf_counter()
    found = WEAT().run_query(
        query, model, calculate_p_value=True, p_value_test_type=kind, p_value_iterations=iterations
    )
    seconds = time.perf_counter() - start
    return {"kind": kind, "iterations": iterations, "p_value": float(found["p_value"]), "seconds": seconds}


if __name__ == "__main__":
    main()
