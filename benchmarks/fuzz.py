"""Does every bad input end in one clear line? Run: python benchmarks/fuzz.py --inputs 10000 --seed 1

Makes good inputs bad in seeded ways (vector files, YAML, JSON, checkpoints, results, corpora, command lines, requests
to the dashboard, answers of servers) and puts them to tiltmeter. An input must end in success, or in a TiltmeterError,
which is one line and exit code 2. A finding is anything else: another exception, exit code 1 or 70, a 500 of the
dashboard, the death of the process, more than 20 seconds of a processor, more than 1.5 GB. ``--only N`` repeats one
input of a seed.
"""

from __future__ import annotations

import argparse
import gc
import os
import select
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import fuzz_inputs

SECONDS, MEMORY = 20.0, 1536 << 20
#: So many times as long may pass on a clock: other processes may have the machine, or an input may wait for nothing.
_PATIENCE = 6
_PAGE = os.sysconf("SC_PAGE_SIZE")
#: Inputs put to one process, so that what one leaves behind does not add up.
_EACH = 500


def run(seed: int, numbers: list[int], *, seconds: float = SECONDS) -> dict[int, str]:
    """What escaped, by the number of the input."""
    findings: dict[int, str] = {}
    waiting = list(numbers)
    while waiting:
        known = set(findings)
        done = _worker(seed, waiting[:_EACH], findings, seconds)
        waiting = waiting[done:]
        for number in sorted(findings.keys() - known):
            kind = fuzz_inputs.ORDER[number % len(fuzz_inputs.ORDER)]
            print(f"--- {kind}: --seed {seed} --only {number}\n{findings[number]}", flush=True)
        print(f"{len(numbers) - len(waiting):,} inputs, {len(findings)} findings", file=sys.stderr, flush=True)
    return findings


def _worker(seed: int, numbers: list[int], findings: dict[int, str], seconds: float) -> int:
    """Put inputs to a process of their own; how many of them it came through, or was ended by."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _work(seed, numbers, writing)
    os.close(writing)
    done, reason = 0, ""
    began, spent = time.monotonic(), _processor_seconds(pid)
    with os.fdopen(reading, "rb") as results:
        while not reason:
            if select.select([results], [], [], 0.1)[0]:
                line = results.readline()
                if not line:
                    break
                if length := int(line):
                    findings[numbers[done]] = results.read(length).decode(errors="replace")
                done, began, spent = done + 1, time.monotonic(), _processor_seconds(pid)
            elif _processor_seconds(pid) - spent > seconds or time.monotonic() - began > seconds * _PATIENCE:
                reason = f"no end after {seconds:.0f} s"
            elif _memory(pid) > MEMORY:
                reason = f"more than {MEMORY >> 20} MB"
        if reason:
            os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if done < len(numbers):
        findings[numbers[done]] = reason or f"the process ended ({status})"
        done += 1
    return done


def _work(seed: int, numbers: list[int], writing: int) -> None:
    with os.fdopen(writing, "wb", buffering=0) as results:
        for number in numbers:
            found = (fuzz_inputs.run_input(seed, number) or "").encode(errors="replace")
            results.write(b"%d\n%b" % (len(found), found))
    os._exit(0)


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0.0


def _memory(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one input")
    parser.add_argument("--kind", choices=sorted(fuzz_inputs.KINDS), help="inputs of one kind alone")
    chosen = parser.parse_args()
    numbers = [chosen.only] if chosen.only is not None else list(range(chosen.inputs))
    if chosen.kind:
        numbers = [n for n in numbers if fuzz_inputs.ORDER[n % len(fuzz_inputs.ORDER)] == chosen.kind]
    with fuzz_inputs.prepared():
        gc.freeze()
        began = time.monotonic()
        findings = run(chosen.seed, numbers)
        spent = time.monotonic() - began
    by_kind = Counter(fuzz_inputs.ORDER[number % len(fuzz_inputs.ORDER)] for number in numbers)
    print(
        f"{len(numbers):,} inputs of {len(by_kind)} kinds, seed {chosen.seed}, {len(numbers) / spent:.0f} a second:",
        end=" ",
    )
    print(f"{len(findings)} findings")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
