"""Leans planted in a tiny model's writing, and what the probes read. Run: python benchmarks/planted_writing.py

Each model is trained here (lab/reference/writer.py). Counterfactual pairs should read the planted difference of tone,
and BBQ a lean of the same sign that grows with the dose: by likelihood it counts only which answer is the likeliest.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import tiltmeter
from tiltmeter.lab.reference.writer import FIRST, SECOND, PlantedWriter

DOSES = ((-0.6, -1.0), (-0.3, -0.5), (0.0, 0.0), (0.3, 0.5), (0.6, 1.0))


def main() -> None:
    print("planted tone -> read (95% interval), p | planted lean of BBQ -> read by likelihood, p")
    for bbq, tone in DOSES:
        with tempfile.TemporaryDirectory() as place:
            folder = PlantedWriter(bbq=bbq, tone=tone).train(Path(place))
            model = f"hf:{folder}"
            names: dict[str, Any] = {"targets": [list(FIRST), list(SECOND)], "names": 6}
            pairs = tiltmeter.probe(
                "counterfactual", model, data=folder / "scenarios.yaml", samples=6, max_tokens=4, cache=False, **names
            )
            likely = tiltmeter.probe("bbq", model, data=folder / "bbq", cache=False)
        effect = pairs.effect
        assert effect.ci is not None
        print(
            f"{tone:+.1f} -> {effect.value:+.2f} ({effect.ci.low:+.2f} to {effect.ci.high:+.2f}), p = "
            f"{effect.p_value:.3f} | "
            f"{bbq:+.1f} -> {2 * likely.effect.value - 1:+.2f}, p = {likely.effect.p_value:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
