"""What makes pages of templates: the report's own, and those of packages that share them."""

from __future__ import annotations

import functools

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tiltmeter.readings import STATES, State, p_number
from tiltmeter.views.summary import MARKS


def environment(*packages: str) -> Environment:
    """The templates of these packages and of the views; what a template names must be there."""
    pages = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "tiltmeter.views")]),
        autoescape=True,
        # A template is read once: one that is being replaced while a page is made must not break the page.
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"p_number": p_number, "parted": parted}
    pages.globals |= {"STATES": STATES, "MARKS": MARKS, "verdict_mark": verdict_mark}
    return pages


def parted(text: str) -> tuple[str, str]:
    """The first sentence of a paragraph, which is its headline, and the others.

    >>> parted("A large tilt (d = 1.68). It holds for all words.")
    ('A large tilt (d = 1.68).', 'It holds for all words.')
    """
    first, dot, rest = text.partition(". ")
    return f"{first}{dot.rstrip()}", rest


@functools.cache
def verdict_mark(state: State) -> Markup:
    """A verdict as pages show it: its sign and its name. Made once, because a page has thousands of them."""
    sign = f'<span aria-hidden="true">{MARKS[state]} </span>'
    return Markup(f'<b class="state {state.replace(" ", "-")}">{sign}{state}</b>')
