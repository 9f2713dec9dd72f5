from __future__ import annotations

import itertools

from markdown_it import MarkdownIt

from tests.views.exports.audits import AUDIT, SPOILT
from tiltmeter.views.exports import to_markdown, to_model_card


def test_markdown_has_a_heading_per_model_and_a_row_per_reading():
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(AUDIT))
    headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings[:4] == ["How far does it lean?", "Verdict", "own:one", "hf:two"]
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    text = to_markdown(AUDIT)
    for each in AUDIT.readings:
        assert each.plain_words in text
    assert "As published: 0.8000, p 0.0001. Words are the unit." in text
    assert "career on hf:two: needs vectors of words" in text
    assert "$ tiltmeter audit own:one hf:two --suite default --seed 0 --permutations 10000" in text


def test_nothing_a_user_wrote_is_markup_in_markdown():
    for text in (to_markdown(SPOILT), to_model_card(SPOILT).partition("\n---\n")[2]):
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        inline = [child for token in tokens for child in (token.children or [])]
        assert not [t for t in [*tokens, *inline] if t.type in ("html_block", "html_inline", "link_open", "em_open")]
        rows = [i for i, token in enumerate(tokens) if token.type == "tr_open"]
        assert rows
        assert any("<script>alert('a')</script>" in child.content for child in inline)
