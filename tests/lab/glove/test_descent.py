from __future__ import annotations

import numpy as np
import pytest

from tests.lab.glove.formulas import neutral_step, pair_loss, seed_step
from tiltmeter.lab.glove.cooccurrence import BLOCKS, ENTRY, block_file
from tiltmeter.lab.glove.descent import Seeds, State, descend
from tiltmeter.lab.glove.loss import corners, weights

SIZE, WIDTH = 40, 6


def written(folder, seed=0):
    """Random counts of all pairs of some words, block by block, and all of them in one list."""
    rng = np.random.default_rng(seed)
    counts = rng.lognormal(1, 1.5, size=(SIZE, SIZE))
    blocks = {}
    for row in range(BLOCKS):
        for column in range(BLOCKS):
            pairs = [(i, j) for i in range(row, SIZE, BLOCKS) for j in range(column, SIZE, BLOCKS)]
            entries = np.array(
                [(i, j, np.log(counts[i, j]), weights(counts[i, j], x_max=100.0, alpha=0.75)) for i, j in pairs], ENTRY
            )
            block_file(folder, row, column).write_bytes(entries.tobytes())
            blocks[row, column] = [(i, j, counts[i, j]) for i, j in pairs]
    return blocks


def run(folder, seeds=Seeds(), *, iterations=2, threads=1, state=None):  # noqa: B008
    state = state or State.drawn(SIZE, WIDTH, seeds, seed=3)
    return descend(
        state, folder, seeds, iterations=iterations, rate=0.05, seed=3, threads=threads,
        keep=lambda _: None, advance=lambda _: None,
    )  # fmt: skip


def by_hand(blocks, iterations):
    """AdaGrad as GloVe's own code does it, with the pure loss, in double precision."""
    state = State.drawn(SIZE, WIDTH, Seeds(), seed=3)
    w, c = (side.astype(float) for side in state.vectors)
    a, b = (side.astype(float) for side in state.biases)
    gw, gc, ga, gb = np.ones_like(w), np.ones_like(c), np.ones_like(a), np.ones_like(b)
    for iteration in range(iterations):
        for shift in np.random.default_rng([3, iteration]).permutation(BLOCKS).tolist():
            for row in range(BLOCKS):
                for i, j, count in blocks[row, (row + shift) % BLOCKS]:
                    _, by_w, by_c, by_bias = pair_loss(w[i], c[j], a[i], b[j], count, x_max=100.0, alpha=0.75)
                    by_w, by_c, by_bias = 0.05 * by_w, 0.05 * by_c, 0.05 * by_bias
                    w[i], c[j] = w[i] - by_w / np.sqrt(gw[i]), c[j] - by_c / np.sqrt(gc[j])
                    a[i], b[j] = a[i] - by_bias / np.sqrt(ga[i]), b[j] - by_bias / np.sqrt(gb[j])
                    gw[i] += by_w**2
                    gc[j] += by_c**2
                    ga[i] += by_bias**2
                    gb[j] += by_bias**2
    return w, c, a, b


def test_the_compiled_loop_is_adagrad_on_the_pure_loss(tmp_path):
    blocks = written(tmp_path)
    state = run(tmp_path)
    w, c, a, b = by_hand(blocks, 2)
    for ours, theirs in zip((*state.vectors, *state.biases), (w, c, a, b), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_the_loss_falls(tmp_path):
    written(tmp_path)
    losses = run(tmp_path, iterations=20).losses
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize(
    "seeds", [Seeds(), Seeds((np.array([1, 2]), np.array([3, 20])), 1.0)], ids=["plain", "neutral"]
)
def test_the_number_of_threads_and_a_stop_in_between_change_no_byte(tmp_path, seeds):
    written(tmp_path)
    whole = run(tmp_path, seeds, iterations=4)
    half = run(tmp_path, seeds, iterations=2, threads=3)
    half.save(tmp_path / "state")
    resumed = run(tmp_path, seeds, iterations=4, threads=2, state=State.load(tmp_path / "state"))
    assert whole.vectors.tobytes() == resumed.vectors.tobytes()
    assert whole.losses == resumed.losses


def test_confining_is_the_two_pure_steps():
    from tiltmeter.lab.glove import kernels

    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(6, 7)).astype(np.float32)
    directions = np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    group_of, points = np.array([-1, 0, 1, 2, -1, -1], np.int32), corners(3)
    after = vectors.copy()
    kernels.confine(after, 0, 1, group_of, points.astype(np.float32), directions.astype(np.float32), np.float32(2.0))
    for word in (0, 4, 5):
        np.testing.assert_allclose(
            after[word, :5], neutral_step(vectors[word, :5], directions, strength=2.0), atol=1e-6
        )
        assert (after[word, 5:] == vectors[word, 5:]).all()
    for word, group in ((1, 0), (2, 1), (3, 2)):
        assert (after[word, :5] == vectors[word, :5]).all()
        np.testing.assert_allclose(
            after[word, 5:], seed_step(vectors[word, 5:], points[group], strength=2.0), atol=1e-6
        )


def test_a_full_disk_leaves_no_half_state(tmp_path):
    from tiltmeter.errors import BadInput

    state = State.drawn(4, 3, Seeds(), seed=0)
    with pytest.raises(BadInput, match="cannot be written"):
        state.save(tmp_path / "no such folder" / "state")
