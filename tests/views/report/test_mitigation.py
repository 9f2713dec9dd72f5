from __future__ import annotations

from tests.views.mitigated import over_splits, result
from tiltmeter.views.report.mitigation import render_mitigation


def test_the_page_says_which_method_to_take_and_shows_everything_behind_it():
    page = render_mitigation(result())
    assert "Take leace: of 1 readings on unseen words or sentences 1 lean less" in page
    assert "not measured: no words are left" in page
    assert "no: measured on 7 fitting words" in page
    assert "hidden (guessing 50%)" in page
    assert "kept 97.5% [95.0%, 100.0%]" in page
    assert "tiltmeter mitigate x" in page
    assert page.count("<svg") == 2


def test_what_comes_from_a_result_is_escaped_and_nothing_is_loaded():
    page = render_mitigation(result())
    assert "Career &lt;b&gt;" in page
    assert "<b> (held-out" not in page
    assert "<script" not in page
    assert "default-src 'none'" in page


def test_the_page_shows_every_split_of_the_words():
    page = render_mitigation(over_splits())
    assert "Perhaps take hard" in page
    assert "Over all splits of the words" in page
    for said in ("30%-33%", "yes in 1, no in 1", "small and open: the same with other splits"):
        assert said in page, said
    assert "Over all splits" not in render_mitigation(result())
