"""What came of mitigation as one HTML file that needs nothing else, and no script."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from tiltmeter.readings.mitigation import Mitigation
from tiltmeter.views.charts.mitigation import mitigation_figures
from tiltmeter.views.environment import environment
from tiltmeter.views.report.report import shown_figure

#: What the page is called in its folder.
PAGE = "mitigation.html"


def render_mitigation(result: Mitigation) -> str:
    """The page as HTML."""
    return environment().get_template(PAGE).render(**mitigation_context(result), version=version("tiltmeter"))


def mitigation_context(result: Mitigation) -> dict[str, Any]:
    """What templates that show it take."""
    return {"result": result, "figures": [shown_figure(figure) for figure in mitigation_figures(result)]}
