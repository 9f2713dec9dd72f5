"""How templates are filled in: everything that came from a file or a reader is text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(*packages: str) -> Environment:
    """The templates of these packages and of the views; what a template names must be there."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "tiltmeter.views")]),
        autoescape=True,
        # A template is read once: one that is being replaced while a page is made must not break the page.
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
