from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from tests.views.made import EVIL
from tiltmeter.views.report.templating import environment


def test_what_comes_from_a_file_is_text_and_what_a_template_names_must_be_there():
    template = environment().from_string("<p>{{ said }}</p>")
    assert template.render(said=EVIL).startswith("<p>&lt;script&gt;")
    with pytest.raises(UndefinedError, match="said"):
        template.render()


def test_the_templates_of_the_report_are_found():
    assert {"report.html", "parts.html", "page.css"} <= set(environment().list_templates())
