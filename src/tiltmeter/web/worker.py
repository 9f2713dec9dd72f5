"""The process of one audit that was started in the browser.

It reads from standard input what to run, one JSON object, and writes its steps to standard output, one JSON object per
line: ``phase``, ``model``, ``probe``, ``done``, ``total``, ``message``. The last step is ``finished`` or ``error``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import traceback
from pathlib import Path

from tiltmeter.errors import TiltmeterError
from tiltmeter.files import locked
from tiltmeter.progress import ERROR, REPORT, Listener, Step, listening
from tiltmeter.readings import Audit

#: What the process is told to run.
Order = dict[str, object]
_FAULT = "this is a fault in tiltmeter, not yours: see the terminal in which the dashboard runs"
_STOPPED = 130


def main() -> int:
    """Run the audit; exit code 0 if it has results, 2 if it has none, 70 after a fault of tiltmeter."""
    signal.signal(signal.SIGTERM, _stop)
    order = json.load(sys.stdin)
    steps = os.dup(1)
    # Whatever a library prints is no step.
    os.dup2(2, 1)

    def tell(step: Step) -> None:
        # One write for one line: steps may come from several threads.
        os.write(steps, json.dumps(dataclasses.asdict(step)).encode() + b"\n")

    try:
        with listening(tell):
            result = _run(order, tell)
    except TiltmeterError as error:
        tell(Step(ERROR, message=" ".join(str(error).split())))
        return 2
    except KeyboardInterrupt:
        return _STOPPED
    except OSError as error:
        tell(Step(ERROR, message=f"the system refused ({error.strerror or error}): check the space and the folder"))
        return 2
    except Exception as error:  # whatever else is wrong is ours, and must not end without a word
        traceback.print_exc()
        tell(Step(ERROR, message=f"{_FAULT} ({type(error).__name__})"))
        return 70
    tell(Step("finished", message=f"readings: {len(result.readings)}, models: {len(result.models)}"))
    return 0


def _stop(*_: object) -> None:
    """The way Ctrl-C stops a command: half-written files are removed."""
    raise KeyboardInterrupt


def _run(order: Order, tell: Listener) -> Audit:
    from tiltmeter.models.api import Budget
    from tiltmeter.run.audit import audit

    out, budget = Path(str(order["out"])), order["budget"]
    with locked(out):
        result = audit(
            order["models"],
            suite=str(order["suite"]),
            out=out,
            budget=Budget.parse(str(budget)) if budget else None,
            announce=lambda line: tell(Step("costs", message=line)),
        )
        tell(Step(REPORT))
        result.report(out)
    return result


if __name__ == "__main__":
    sys.exit(main())
