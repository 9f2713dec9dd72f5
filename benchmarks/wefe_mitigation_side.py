"""WEFE's and concept-erasure's side of the comparison of methods; runs inside the environment that holds them.

Started by benchmarks/mitigation_peers.py. Arguments: the file to write, and what to time as JSON: words, width.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
import warnings
from typing import Any

warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from concept_erasure import LeaceEraser  # noqa: E402
from gensim.models import KeyedVectors  # noqa: E402
from wefe.debias import repulsion_attraction_neutralization as wefe_ran  # noqa: E402
from wefe.debias.double_hard_debias import DoubleHardDebias  # noqa: E402
from wefe.debias.half_sibling_regression import HalfSiblingRegression  # noqa: E402
from wefe.debias.hard_debias import HardDebias  # noqa: E402
from wefe.debias.multiclass_hard_debias import MulticlassHardDebias  # noqa: E402
from wefe.utils import load_test_model  # noqa: E402
from wefe.word_embedding_model import WordEmbeddingModel  # noqa: E402

PAIRS = [["woman", "man"], ["girl", "boy"], ["she", "he"], ["mother", "father"], ["daughter", "son"], ["gal", "guy"],
         ["female", "male"], ["her", "his"], ["herself", "himself"], ["mary", "john"]]  # fmt: skip
SETS = [["church", "mosque", "synagogue"], ["christian", "muslim", "jew"], ["christianity", "islam", "judaism"]]
TARGETS = ["nurse", "engineer", "doctor", "secretary", "programmer", "teacher", "pilot", "artist"]


def main() -> None:
    path, (words, width) = sys.argv[1], json.loads(sys.argv[2])
    made: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model = load_test_model()
        known = [pair for pair in PAIRS if all(word in model.wv for word in pair)]
        sets = [members for members in SETS if all(word in model.wv for word in members)]
        names = list(model.wv.index_to_key)
        made["vectors"] = model.wv.vectors.copy()
        made["hard"] = HardDebias().fit(model, known).transform(model).wv.vectors
        if sets:
            fitted = MulticlassHardDebias(pca_args={"n_components": 2}).fit(
                model, definitional_sets=sets, equalize_sets=sets
            )
            made["multi_class"] = fitted.transform(model).wv.vectors
        half = HalfSiblingRegression().fit(model, [word for pair in known for word in pair])
        made["hsr"] = half.transform(model).wv.vectors
        double = DoubleHardDebias(incremental_pca=False, n_words=200).fit(
            model, known, bias_representation=["he", "she"]
        )
        changed = double.transform(model).wv
        made["double_hard"] = changed.vectors
        made["double_hard_component"] = np.array([chosen_component(double, model, changed)])
        made["double_hard_words"] = np.array([names.index(word) for word in double.target_words])
        made["ran"] = np.stack([ran(model, known).wv[word] for word in TARGETS])
        put_right()
        made["ran_put_right"] = np.stack([ran(model, known).wv[word] for word in TARGETS])
        rng = np.random.default_rng(0)
        x, z = rng.normal(size=(300, 20)), rng.integers(0, 2, 300)
        x[:, 0] += 2.0 * z
        for name, shrink in (("leace", False), ("leace_shrunk", True)):
            options = {"shrinkage": shrink, "constrain_cov_trace": False}
            eraser = LeaceEraser.fit(torch.tensor(x), torch.tensor(z).double(), **options)
            made[name] = eraser(torch.tensor(x)).numpy()
        made["leace_x"], made["leace_z"] = x, z
        made["seconds"] = np.array([timed(words, width)])
    about = {"names": names, "pairs": known, "sets": sets, "targets": TARGETS}
    np.savez(path, about=np.array(json.dumps(about)), **made)


def ran(model: Any, pairs: list[list[str]]) -> Any:
    third = 1 / 3
    method = wefe_ran.RepulsionAttractionNeutralization(weights=[third, third, third], n_neighbours=50)
    return method.fit(model, pairs).transform(model, target=TARGETS)


def put_right() -> None:
    """WEFE hands w and w' to its loss in the wrong order, and neutralises the product with the direction, not the
    cosine: with both put right it minimises what the paper says."""

    class Loss(wefe_ran.RAN_Loss):  # type: ignore[misc]
        def __init__(self, w: Any, w_b: Any, repulsion_set: Any, bias_direction: Any) -> None:
            torch.nn.Module.__init__(self)
            self.w, self.w_b = w.detach(), w_b
            self.repulsion_set, self.bias_direction = repulsion_set, bias_direction

        def _neutralization(self) -> Any:
            return torch.abs(self.w_b.dot(self.bias_direction) / self.w_b.norm() / self.bias_direction.norm())

    wefe_ran.RAN_Loss = Loss


def chosen_component(method: Any, model: Any, changed: Any) -> int:
    """The component it took, found again from what it made: its choice is by clusters without a seed."""
    word, distances = method.target_words[0], []
    for place in range(method.n_components):
        candidate = method._debias(method._drop_frecuency_features(place, model))[word]
        distances.append(float(np.abs(candidate - changed[word]).max()))
    return int(np.argmin(distances))


def timed(words: int, width: int) -> float:
    """Seconds of CPU for the hard debiasing of so many random vectors; 0 where none are asked for."""
    if not words:
        return 0.0
    names = [f"w{number}" for number in range(words - 20)] + [word for pair in PAIRS for word in pair]
    vectors = KeyedVectors(width)
    vectors.add_vectors(names, np.random.default_rng(0).normal(size=(words, width)).astype(np.float32))
    model = WordEmbeddingModel(vectors, "random")
    start = time.process_time()
    HardDebias().fit(model, PAIRS).transform(model)  # as its documentation calls it
    return time.process_time() - start


if __name__ == "__main__":
    main()
