"""A hundred models on a cluster, simulated from what the stages of an audit cost here.

    python benchmarks/cluster.py                          # costs of the sample models, then 100 models on 1 to 16 nodes
    python benchmarks/cluster.py --models 100 --nodes 16 --cpus 8 --times-larger 60     # models of 8 B instead of 135 M
    python benchmarks/cluster.py --workers 2              # and: local against two Ray workers on this machine, measured

Costs are seconds of one CPU, cold: to load a model, to answer all that the suite asks of it, to store the answers, and
to read each probe. The simulation hands them out as ``tiltmeter audit --engine ray`` does: an actor with one CPU loads
a model, answers, and goes; the machine that audits stores the answers of all, one after another; then the probes are
read, each as a task of its own. It leaves out the network, the start of workers and copies of weights to the nodes.
"""

from __future__ import annotations

import argparse
import dataclasses
import filecmp
import heapq
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from tiltmeter.errors import TiltmeterError
from tiltmeter.models import CachedModel, VectorStore, load
from tiltmeter.run.audit import default_models
from tiltmeter.run.probe import inputs_of, plan, side_vectors
from tiltmeter.run.suite import load_suite


@dataclasses.dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of one CPU that the stages of one model take, in the order in which they come."""

    name: str
    loading: float
    answering: float
    storing: float
    reading: tuple[float, ...]
    answers: int

    @property
    def total(self) -> float:
        return self.loading + self.answering + self.storing + sum(self.reading)

    def larger(self, times: float) -> Costs:
        """A model with so many times the weights: it loads and answers in so many times the time."""
        return dataclasses.replace(self, loading=self.loading * times, answering=self.answering * times)


def measure(spec: str, suite: str) -> Costs:
    """What the stages of an audit of one model take here, on one thread."""
    chosen = load_suite(suite)
    with tempfile.TemporaryDirectory() as folder, VectorStore(Path(folder)) as store:
        model = CachedModel(load(spec))
        planned, _ = plan(model, chosen.probes)
        inputs = inputs_of(planned)
        start = time.process_time()
        for question, some in inputs.items():
            model.answers(question, some[:1])
        loading = time.process_time() - start
        start = time.process_time()
        answers = {question: model.answers(question, some) for question, some in inputs.items()}
        answering = time.process_time() - start
        start = time.process_time()
        for question, of_question in answers.items():
            vectors = [getattr(answer, "to_row", lambda answer=answer: answer)() for answer in of_question.values()]
            store.put(model.identity, question, list(of_question), vectors)
        storing = time.process_time() - start
        sides = side_vectors(planned, store, None)
        reading = []
        for each in planned:
            start = time.process_time()
            try:
                each.probe.read(model.identity, each.asked, answers, each.vectors(sides))
            except TiltmeterError:
                continue
            reading.append(time.process_time() - start)
    return Costs(spec, loading, answering, storing, tuple(reading), sum(map(len, inputs.values())))


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """A simulated audit: seconds by the clock, and the part of them that CPUs and the storing machine were busy."""

    seconds: float
    busy: float
    storing: float


def simulate(models: Sequence[Costs], *, nodes: int, cpus: int) -> Run:
    """Actors in the order of the models, then probes in that of the stored answers: each where a CPU is free first."""
    free = [0.0] * (nodes * cpus)  # when each CPU has nothing to do
    stored, end = 0.0, 0.0
    events: list[tuple[float, int, float]] = []  # when a job can start, its place, its length
    answered = []
    for place, model in enumerate(models):
        start = heapq.heappop(free)
        done = start + model.loading + model.answering
        heapq.heappush(free, done)
        answered.append((done, place))
    for done, place in sorted(answered):
        stored = max(stored, done) + models[place].storing
        events += [(stored, place, seconds) for seconds in models[place].reading]
        end = max(end, stored)
    for ready, _, seconds in sorted(events):
        done = max(ready, heapq.heappop(free)) + seconds
        heapq.heappush(free, done)
        end = max(end, done)
    work = sum(model.total - model.storing for model in models)
    return Run(end, work / (end * nodes * cpus), sum(model.storing for model in models) / end)


def report(kinds: Sequence[Costs], *, models: int, nodes: int, cpus: int, larger: float) -> None:
    print("| model | loading | answering | storing | reading, all probes | longest probe | answers |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for one in kinds:
        print(
            f"| {one.name} | {one.loading:.1f} s | {one.answering:.1f} s | {one.storing:.2f} s | "
            f"{sum(one.reading):.1f} s | {max(one.reading, default=0):.1f} s | {one.answers:,} |"
        )
    mixed = [one.larger(larger) for one in islice(cycle(kinds), models)]
    total = sum(one.total for one in mixed)
    parts = {
        "loading": sum(one.loading for one in mixed),
        "answering": sum(one.answering for one in mixed),
        "storing": sum(one.storing for one in mixed),
        "reading": sum(sum(one.reading) for one in mixed),
    }
    shares = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in parts.items())
    print(f"\n{models} models, these in turn, {larger:g} x as large: {total:,.0f} s of one CPU ({shares}).")
    longest = max(mixed, key=lambda one: one.loading + one.answering)
    print(
        f"No cluster is quicker than its longest model ({longest.name}: {longest.loading + longest.answering:,.0f} s) "
        f"or than all storing, which is one machine's ({parts['storing']:,.1f} s).\n"
    )
    print(f"| nodes of {cpus} CPUs | seconds | speed-up over one CPU | over one node | CPUs busy | storing busy |")
    print("| --- | --- | --- | --- | --- | --- |")
    node = simulate(mixed, nodes=1, cpus=cpus).seconds
    for n in [n for n in (1, 2, 4, 8, 16, 32) if n < nodes] + [nodes]:
        run = simulate(mixed, nodes=n, cpus=cpus)
        print(
            f"| {n} | {run.seconds:,.0f} | {total / run.seconds:.0f} x | {node / run.seconds:.1f} x | {run.busy:.0%} | "
            f"{run.storing:.0%} |"
        )


def on_this_machine(specs: Sequence[str], workers: int) -> None:
    """The same audit locally and on so many Ray workers, each from nothing; whether what they wrote is the same."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = []
        for engine in (["local"], ["ray", "--workers", str(workers)]):
            place = Path(folder) / engine[0]
            environment = {**os.environ, "TILTMETER_CACHE": f"{place}-cache"}
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "tiltmeter", "audit", *specs, "--out", place, "--engine", *engine],
                env=environment, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            seconds.append(time.perf_counter() - start)
        # The manifest and the report hold times.
        timed = {"audit.json", "audit.html"}
        files = sorted(f.relative_to(place) for f in place.rglob("*") if f.is_file() and f.name not in timed)
        _, differ, missing = filecmp.cmpfiles(Path(folder) / "local", place, list(map(str, files)), shallow=False)
    print(
        f"\nOn this machine: local {seconds[0]:.0f} s, {workers} Ray workers {seconds[1]:.0f} s; of {len(files)} "
        f"files of readings {len(differ) + len(missing)} differ."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", help="models whose costs are measured; by default the sample models")
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--cpus", type=int, default=8, help="of a node")
    parser.add_argument("--times-larger", type=float, default=1.0)
    parser.add_argument("--suite", default="default")
    parser.add_argument("--workers", type=int, help="of Ray on this machine, measured against the local run")
    options = parser.parse_args()
    specs = options.specs or default_models()
    if not options.workers:
        kinds = [measure(spec, options.suite) for spec in specs]
        for larger in dict.fromkeys((1.0, options.times_larger)):
            report(kinds, models=options.models, nodes=options.nodes, cpus=options.cpus, larger=larger)
    else:
        on_this_machine(specs, options.workers)


if __name__ == "__main__":
    main()
