"""What neutral GloVe minimises: pure functions of arrays, in the words of the papers.

GloVe (Pennington, Socher and Manning 2014, EMNLP) fits vectors w of words and c of contexts to counts X:

    J_G = 1/2 Σ_ij f(X_ij) (w_i·c_j + a_i + b_j - ln X_ij)²,   f(x) = min(1, (x / x_max)^α)

Neutral GloVe (Zhao, Zhou, Li, Wang and Chang 2018, EMNLP) reserves the last dimensions, w = [w_n; w_g], for what says a
group, and adds two terms over both matrices:

    J_D = 1/2 Σ_seeds |w_g - β_k|²     a word that says group k stands at the corner β_k in the reserved dimensions
    J_E = 1/2 Σ_others |V w_n|²        every other word is orthogonal to the directions V in which the groups differ

For two groups β is +1 and -1, as in the paper; for more groups the corners of a regular simplex, which needs one
dimension less than there are groups. Unlike there, V is orthonormal, so that the term does not fade as the groups come
closer, and spans how the groups differ among the words, among the contexts, and in their sums, which are the vectors
that training gives. V is taken for fixed within a step, as in the paper. And w_g counts in a product only where one of
the two words is a seed: it would otherwise serve as one more dimension for all pairs, and becomes that of frequency
before it becomes that of the group (on 6 million words of film reviews "movie" stood furthest on the side of men).

J_D and J_E are quadratic, so that their proximal step (what minimises the term + |w' - w|² / 2λ) has a closed form. It
is taken for every word sixteen times in an iteration, after steps of AdaGrad on J_G.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tiltmeter.measures.geometry import unit
from tiltmeter.statistics.groups import Floats

Matrix = NDArray[np.float32]
#: Directions in which groups differ by less than this share of the largest are rounding.
_ROUNDING = 1e-6


def weights(counts: Floats, *, x_max: float, alpha: float) -> Floats:
    """f(X): rare pairs count less, and frequent ones no more than at ``x_max``.

    >>> weights(np.array([0.5, 100.0, 900.0]), x_max=100.0, alpha=0.75).round(3).tolist()
    [0.019, 1.0, 1.0]
    """
    f: Floats = np.minimum(1.0, (counts / x_max) ** alpha)
    return f


def corners(groups: int) -> Floats:
    """β: as many points as groups in one dimension less, all at length 1 and equally far from each other.

    >>> corners(2).tolist()
    [[1.0], [-1.0]]
    >>> (corners(3) @ corners(3).T).round(3).tolist()
    [[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5], [-0.5, -0.5, 1.0]]
    """
    places = np.zeros((groups, groups - 1))
    for place in range(groups - 1):
        places[place, place] = np.sqrt(1 - (places[place] ** 2).sum())
        # What every later corner must have here for the cosine with this one to be -1 / (groups - 1).
        rest = -1 / (groups - 1) - places[place + 1 :, :place] @ places[place, :place]
        places[place + 1 :, place] = rest / places[place, place]
    return places


def group_directions(words: Sequence[Floats], contexts: Sequence[Floats]) -> Floats:
    """V: an orthonormal basis of how groups differ, of the neutral parts of the words of each group.

    >>> one, two = np.array([[2.0, 0.0, 1.0]]), np.array([[-2.0, 0.0, 1.0]])
    >>> np.abs(group_directions([one, two], [one, two])).round(3).tolist()
    [[1.0, 0.0, 0.0]]
    """
    apart = []
    for side in (words, contexts, [unit(one + two) for one, two in zip(words, contexts, strict=True)]):
        means = np.stack([members.mean(axis=0) for members in side])
        differences = means - means.mean(axis=0)
        apart.append(differences / max(float(np.linalg.norm(differences)), 1e-12))
    _, sizes, axes = np.linalg.svd(np.concatenate(apart), full_matrices=False)
    kept: Floats = axes[sizes > _ROUNDING * max(1.0, float(sizes[0]))]
    return kept
