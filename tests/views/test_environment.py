"""What makes pages of templates."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from tests.views.made import EVIL
from tiltmeter.readings import STATES
from tiltmeter.views.environment import environment, verdict_mark


def test_what_comes_from_a_file_is_text_and_what_a_template_names_must_be_there():
    template = environment().from_string("<p>{{ said }}</p>")
    assert template.render(said=EVIL).startswith("<p>&lt;script&gt;")
    with pytest.raises(UndefinedError, match="said"):
        template.render()


def test_the_templates_of_the_report_are_found():
    assert {"report.html", "parts.html", "page.css"} <= set(environment().list_templates())


def test_every_verdict_is_named_and_its_sign_is_not_read_aloud():
    for state in STATES:
        assert verdict_mark(state).endswith(f"</span>{state}</b>")
        assert 'aria-hidden="true"' in verdict_mark(state)
    assert 'class="state does-not-work"' in verdict_mark("does not work")
