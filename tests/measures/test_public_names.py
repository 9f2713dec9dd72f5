"""``cabm`` and ``ceat`` are functions, though the folders that hold them have the same names."""

from __future__ import annotations

import subprocess
import sys

import pytest

ORDERS = [
    "from tiltmeter.measures import cabm, ceat",
    "import tiltmeter.measures.cabm.weighting; from tiltmeter.measures import cabm, ceat",
    "import tiltmeter.measures.ceat; import tiltmeter.measures.cabm; from tiltmeter.measures import cabm, ceat",
    "from tiltmeter.measures.cabm.cabm import categories; from tiltmeter.measures import cabm, ceat",
    "import tiltmeter.readings; from tiltmeter.measures.cabm import weighting; "
    "from tiltmeter.measures import cabm, ceat",
    "import tiltmeter, importlib; cabm, ceat = tiltmeter.measures.cabm, tiltmeter.measures.ceat; "
    "importlib.import_module('tiltmeter.measures.cabm.weighting'); assert tiltmeter.measures.cabm is cabm",
]


@pytest.mark.parametrize("order", ORDERS)
def test_the_functions_are_found_in_every_order_of_imports(order: str) -> None:
    check = "assert callable(cabm) and callable(ceat), (cabm, ceat); assert cabm([[1, 0, 0]], [1, 0, 0]).scores[0] == 1"
    ran = subprocess.run([sys.executable, "-c", f"{order}; {check}"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
