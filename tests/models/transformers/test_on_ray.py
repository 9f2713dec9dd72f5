"""Vectors computed on a Ray cluster are those of this machine, to the last bit, whoever dies on the way."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("ray", reason="extra ray is not installed")

#: Ray wants a process of its own: it changes signals, and leaves threads behind.
SCRIPT = textwrap.dedent(
    """
    import os, signal, sys, threading, time
    import numpy as np
    from tiltmeter.models.transformers.on_ray import on_ray
    from tiltmeter.models import Span, load
    texts = [f"The {word} number {n} came to work and said hello to all {n % 7} of them." for n in range(300)
             for word in ("cook", "nurse")]
    spans = [Span(text, 4, text.index(" number")) for text in texts]
    here = load("bundled:minilm").embed_spans(spans)

    def kill_one():
        import psutil
        for _ in range(600):
            workers = [process for process in psutil.Process().children(recursive=True)
                       if "ray::_run_task" in " ".join(process.as_dict(["cmdline"])["cmdline"] or ())]
            if workers:
                workers[0].send_signal(signal.SIGKILL)
                print("killed", flush=True)
                return
            time.sleep(0.02)

    with on_ray(workers=2):
        threading.Thread(target=kill_one, daemon=True).start()
        there = load("bundled:minilm").embed_spans(spans)
    print("same", np.array_equal(here, there), len(spans), flush=True)
    """
)


def test_a_cluster_gives_the_same_bits_even_where_a_worker_is_killed(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=600, check=False)
    assert "same True 600" in ran.stdout, ran.stderr[-2000:]
    assert "killed" in ran.stdout
