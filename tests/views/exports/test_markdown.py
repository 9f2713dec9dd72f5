from __future__ import annotations

import itertools

from markdown_it import MarkdownIt

from tests.views.exports.audits import AUDIT, SPOILT
from tiltmeter.views.exports import to_markdown
from tiltmeter.views.exports.model_card import to_model_cards


def test_markdown_has_a_heading_per_model_and_a_row_per_reading():
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(AUDIT))
    headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings[:5] == ["How far does it lean?", "Verdict", "Look at first", "own:one", "hf:two"]
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    text = to_markdown(AUDIT)
    for each in AUDIT.readings:
        assert each.plain_words in text
    assert "As published: 0.8000, p 0.0001. Words are the unit." in text
    assert "career on hf:two: needs vectors of words" in text
    assert "$ tiltmeter audit own:one hf:two --suite default --seed 0 --permutations 10000" in text


def test_nothing_a_user_wrote_is_markup_in_markdown():
    cards = (card.partition("\n---\n")[2] for card in to_model_cards(SPOILT).values())
    for text in (to_markdown(SPOILT), *cards):
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        inline = [child for token in tokens for child in (token.children or [])]
        assert not [t for t in [*tokens, *inline] if t.type in ("html_block", "html_inline", "link_open", "em_open")]
        rows = [i for i, token in enumerate(tokens) if token.type == "tr_open"]
        assert rows
        assert any("<script>alert('a')</script>" in child.content for child in inline)


def test_markdown_begins_with_the_grid_and_its_tables_have_verdicts_and_both_p_values():
    lines = to_markdown(AUDIT).splitlines()
    grid = lines[lines.index("| dimension | own:one | hf:two |") :]
    assert grid[2] == "| gender | ● clear 1 of 2: men → career | = level 1 of 1 |"
    science = next(line for line in lines if line.startswith("| Title of science |"))
    assert science == (
        "| Title of science | gender | ○ undecided | women → career, men → family | -0.20 \\[-0.50, 0.10\\] | "
        "effect size d | 0.40 | 0.40 |"
    )
