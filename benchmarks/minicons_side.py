"""minicons' side of the comparison: runs inside the environment that holds minicons, answers as JSON.

Started by benchmarks/language_peers.py; the only file of this project that imports minicons. Standard input: a JSON
list of jobs, each with the kind of model (causal or masked), its folder, the texts, and how many of them are given to
minicons at a time. The answer to each: the log-probabilities of the tokens of every text, and the seconds it took.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

warnings.simplefilter("ignore")  # its imports warn; nothing of it concerns the numbers

from minicons import scorer  # noqa: E402


def main() -> None:
    json.dump([answer(job) for job in json.load(sys.stdin)], sys.stdout)


def answer(job: dict[str, Any]) -> dict[str, Any]:
    texts, batch = job["texts"], job["batch"]
    masked = job["kind"] == "masked"
    model = (scorer.MaskedLMScorer if masked else scorer.IncrementalLMScorer)(job["folder"], "cpu")
    options = {"PLL_metric": "original"} if masked else {}
    model.token_score(texts[:1], **options)  # what the first call sets up is not timed
    start = time.perf_counter()
    found = [
        row
        for first in range(0, len(texts), batch)
        for row in model.token_score(texts[first : first + batch], **options)
    ]
    seconds = time.perf_counter() - start
    # Nothing stands before the first token, which minicons gives a zero.
    return {"logprobs": [[pair[1] for pair in row[0 if masked else 1 :]] for row in found], "seconds": seconds}


if __name__ == "__main__":
    main()
