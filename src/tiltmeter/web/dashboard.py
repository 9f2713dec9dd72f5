"""What all pages share: the folder, the models on offer, the running audits, and the templates."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from importlib.util import find_spec
from typing import Annotated, Any
from urllib.parse import parse_qs, quote, urlencode

from fastapi import Depends, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse
from jinja2 import Environment

from tiltmeter import __version__
from tiltmeter.errors import BadInput
from tiltmeter.run.suite import suite_summaries
from tiltmeter.views.environment import environment
from tiltmeter.web.jobs import Job, Jobs
from tiltmeter.web.listing import VERDICTS, Filters, key_of
from tiltmeter.web.offer import Lexicons, Offer, Offered
from tiltmeter.web.security import DashboardSettings, is_loopback
from tiltmeter.web.shelf import Shelf, Shown

_MOST_FIELDS, _MOST_MODELS = 500, 60
_KEPT_CHARTS = 200
#: A text in an address.
Text = Annotated[str, Query(max_length=500)]


class FigureCache:
    """Drawn charts, by what they were drawn from."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[Hashable, list[dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, draw: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """The charts of a key, drawn if they are not here yet."""
        # One at a time: the renderer takes all cores it finds, and whoever asks for the same chart finds it done.
        with self._lock:
            if key not in self._drawn:
                # Altair looks at pandas where somebody imports it, and would meet it half imported in another thread.
                if find_spec("pandas"):
                    importlib.import_module("pandas")
                self._drawn[key] = draw()
                while len(self._drawn) > _KEPT_CHARTS:
                    self._drawn.popitem(last=False)
            self._drawn.move_to_end(key)
            return self._drawn[key]


@dataclasses.dataclass(frozen=True, slots=True)
class Dashboard:
    """The state behind the pages."""

    settings: DashboardSettings
    shelf: Shelf
    offer: Offer
    lexicons: Lexicons
    jobs: Jobs
    figures: FigureCache

    @classmethod
    def of(cls, settings: DashboardSettings) -> Dashboard:
        shelf = Shelf(settings.folder)
        offer = Offer(settings.models, allow_paid=settings.allow_paid)
        jobs = Jobs(shelf.place, allow_paid=settings.allow_paid)
        return cls(settings, shelf, offer, Lexicons(), jobs, FigureCache())

    def offered(self, shown: Shown | None = None) -> list[Offered]:
        """The models that may be asked here."""
        return self.offer.models(self._audited(shown))

    def check_model(self, spec: str) -> str:
        return self.offer.check(spec, self._audited(None))

    @property
    def any_model(self) -> bool:
        """Whether any model may be audited: a spec can name any file here, and other machines must not choose one."""
        return is_loopback(self.settings.host)

    def suites(self) -> dict[str, str]:
        """The suites that come with tiltmeter, and YAML files in the folder, each with what it holds."""
        shipped = {
            suite["suite"]: f"{suite['probes']} probe{'s' * (suite['probes'] != 1)}: {suite['description']}"
            for suite in suite_summaries()
        }
        files = (path for path in sorted(self.shelf.folder.glob("*.y*ml")) if path.is_file() and not path.is_symlink())
        return shipped | {path.name: "a file in the folder" for path in files if path.suffix in (".yaml", ".yml")}

    def start_audit(self, name: str, models: list[str], suite: str) -> Job:
        """Start an audit with a suite that is on offer."""
        if suite not in self.suites():
            raise BadInput("that suite is not available: choose one from the list")
        if len(models) > _MOST_MODELS:
            raise BadInput(f"{len(models)} models are too many for one audit here: choose at most {_MOST_MODELS}")
        place = str(self.shelf.folder / suite) if suite.endswith((".yaml", ".yml")) else suite
        shown = self.shelf.look()
        if any(stored.name == name for stored in shown.audits):
            raise BadInput(f"there is an audit '{name}' already: give this one another name")
        check = self.offer.check_typed if self.any_model else self.offer.check
        specs = [self.offer.whole(check(spec, self._audited(shown))) for spec in dict.fromkeys(models)]
        job = self.jobs.start(name, specs, place)
        self.shelf.add(job.folder)
        return job

    def _audited(self, shown: Shown | None) -> list[str]:
        return [model for stored in (shown or self.shelf.look()).audits for model in stored.audit.models]


def dashboard_of(request: Request) -> Dashboard:
    dashboard: Dashboard = request.app.state.dashboard
    return dashboard


def filters_of(
    q: Text = "", audit: Text = "", model: Text = "", probe: Text = "", dimension: Text = "", verdict: Text = ""
) -> Filters:
    """The filters that an address asks for."""
    return Filters(q, audit, model, probe, dimension, verdict)


async def form_of(request: Request) -> dict[str, list[str]]:
    """The fields of a form. Read here, because no form of ours has need of a library for it."""
    try:
        return parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise BadInput("the form could not be read: fill it in on the page") from None


class EscapedJson(JSONResponse):
    """JSON in ASCII: the name of a folder may hold what is not UTF-8, and so may the reading of a model in it."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


Board = Annotated[Dashboard, Depends(dashboard_of)]
AskedFilters = Annotated[Filters, Depends(filters_of)]
Form = Annotated[dict[str, list[str]], Depends(form_of)]


@functools.cache
def templates() -> Environment:
    """The pages' templates and the report's."""
    pages = environment("tiltmeter.web")
    pages.globals.update(version=__version__, key_of=key_of, link=link, VERDICTS=list(VERDICTS))
    pages.filters["path"] = lambda text: quote(str(text), safe="")
    return pages


def link(path: str, **query: Any) -> str:
    """An address with the parts of a query that are not empty.

    >>> link("/", q="he & she", model="")
    '/?q=he+%26+she'
    """
    filled = {key: value for key, value in query.items() if value not in ("", None, [])}
    # The name of a model may be no UTF-8.
    return f"{path}?{urlencode(filled, doseq=True, errors='surrogateescape')}" if filled else path


def page(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template as the answer."""
    html = templates().get_template(template).render(values)
    # The name of a folder may be no UTF-8; it is shown with an escape.
    return HTMLResponse(html.encode(errors="backslashreplace"), status_code=status)
