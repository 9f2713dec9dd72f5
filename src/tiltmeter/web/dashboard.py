"""What all pages share: the folder, the models on offer, the running audits, and the templates."""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any
from urllib.parse import parse_qs, quote, urlencode

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment

from tiltmeter import __version__
from tiltmeter.errors import BadInput
from tiltmeter.views.report.templating import environment
from tiltmeter.web.drawing import Drawings
from tiltmeter.web.entries import key_of
from tiltmeter.web.jobs import Jobs
from tiltmeter.web.lexicons import Lexicons
from tiltmeter.web.offered import Offer, Offered
from tiltmeter.web.settings import Settings
from tiltmeter.web.shelf import Shelf, Shown

_MOST_FIELDS = 500


@dataclasses.dataclass(frozen=True, slots=True)
class Dashboard:
    """The state behind the pages."""

    settings: Settings
    shelf: Shelf
    offer: Offer
    lexicons: Lexicons
    jobs: Jobs
    drawings: Drawings

    @classmethod
    def of(cls, settings: Settings) -> Dashboard:
        shelf = Shelf(settings.folder)
        offer = Offer(settings.models, allow_paid=settings.allow_paid)
        return cls(settings, shelf, offer, Lexicons(), Jobs(shelf.folder), Drawings())

    def offered(self, shown: Shown | None = None) -> list[Offered]:
        """The models that may be asked here."""
        return self.offer.models(self._audited(shown))

    def check_model(self, spec: str) -> str:
        return self.offer.check(spec, self._audited(None))

    def _audited(self, shown: Shown | None) -> list[str]:
        return [model for stored in (shown or self.shelf.look()).audits for model in stored.audit.models]


def dashboard_of(request: Request) -> Dashboard:
    found: Dashboard = request.app.state.dashboard
    return found


async def form_of(request: Request) -> dict[str, list[str]]:
    """The fields of a form. Read here, because no form of ours has need of a library for it."""
    try:
        return parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise BadInput("the form could not be read: fill it in on the page") from None


Board = Annotated[Dashboard, Depends(dashboard_of)]
Form = Annotated[dict[str, list[str]], Depends(form_of)]


@functools.cache
def templates() -> Environment:
    """The pages' templates and the report's."""
    made = environment("tiltmeter.web")
    made.globals.update(version=__version__, key_of=key_of, link=link)
    made.filters["path"] = lambda text: quote(str(text), safe="")
    return made


def link(path: str, **query: Any) -> str:
    """An address with the parts of a query that are not empty.

    >>> link("/", q="he & she", model="")
    '/?q=he+%26+she'
    """
    given = {key: value for key, value in query.items() if value not in ("", None, [])}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def page(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template as the answer."""
    html = templates().get_template(template).render(values)
    # The name of a folder may be no UTF-8; it is shown with an escape.
    return HTMLResponse(html.encode(errors="backslashreplace"), status_code=status)
