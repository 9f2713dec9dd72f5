"""Work on several models at a time: training them, and asking them."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from typing import TypeVar

from tiltmeter.lab.reference.recipe import TrainingRecipe
from tiltmeter.lab.reference.reference import Reference, is_trained, reader_folder, reference_folder
from tiltmeter.models.transformers.threads import usable_cpus
from tiltmeter.progress import progress_bar

T = TypeVar("T")


def train_all(wanted: Sequence[tuple[Reference, TrainingRecipe]], *, progress: bool | None = None) -> None:
    """Those that are not in the cache yet, one on each CPU, since a model learns on one thread; the readers first."""
    missing = [(which, recipe) for which, recipe in wanted if not is_trained(which.name, recipe=recipe)]
    readers = dict.fromkeys((recipe, which.seed) for which, recipe in missing)
    first = [partial(reader_folder, recipe, seed) for recipe, seed in readers]
    then = [partial(reference_folder, which.name, recipe=recipe) for which, recipe in missing]
    with progress_bar("training reference models (once)", len(first) + len(then), show=progress) as advance:
        side_by_side(first, lambda: advance(1))
        side_by_side(then, lambda: advance(1))


def side_by_side(tasks: Sequence[Callable[[], T]], done: Callable[[], None]) -> list[T]:
    """What the tasks return, in their order; one runs on each CPU. ``done`` is called after each of them."""
    workers = min(usable_cpus(), len(tasks))
    if workers < 2:
        results = []
        for task in tasks:
            results.append(task())
            done()
        return results
    # Spawned, because threads of torch do not survive a fork.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(task) for task in tasks]
        for future in as_completed(futures):
            future.result()
            done()
        return [future.result() for future in futures]
