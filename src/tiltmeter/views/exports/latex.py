"""Tables for a paper: tests down and models across, with stars for the verdicts; rules as booktabs draws them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from tiltmeter.readings import Audit, State
from tiltmeter.views.rows import ReadingRow, reading_rows
from tiltmeter.views.summary import dimension_of

_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': r"\textquotedbl{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "…": r"\dots{}",
    "→": r"$\rightarrow$", "×": r"$\times$", "±": r"$\pm$", "−": r"$-$", "≥": r"$\geq$", "≤": r"$\leq$",
    "“": "``", "”": "''", "’": "'", "‘": "`", "–": "--", "—": "---",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}  # fmt: skip
_HEAD = r"""% Needs \usepackage{booktabs} and \usepackage[T1]{fontenc}; made for two-column pages.
% With words in other scripts than Latin: XeLaTeX or LuaLaTeX, and a font that has them."""
#: What stands behind a number; the legend says the same in words.
STARS: Mapping[State, str] = {
    "clear": r"$^{**}$",
    "suggestive": r"$^{*}$",
    "undecided": "",
    "level": r"$^{=}$",
    "untested": r"$^{?}$",
    "works": r"$^{+}$",
    "does not work": r"$^{-}$",
}
_LEGEND = (
    r"$^{**}$ clear (significant after Holm's correction for the bias tests of its model), $^{*}$ suggestive "
    r"($p \leq .05$ on its own), no mark: undecided, $^{=}$ level (the whole interval lies within the smallest effect "
    r"that matters), $^{?}$ without a test. Controls, which should lean: $^{+}$ works, $^{-}$ does not work."
)
T = TypeVar("T")
#: What fits a page.
_MOST_ROWS, _MOST_MODELS = 42, 6


def to_latex(audit: Audit) -> str:
    """Tests down and models across, with stars; then for an appendix every reading with its interval and p-values."""
    rows = reading_rows(audit.readings)
    models = [name for name in audit.models if any(row.reading.model == name for row in rows)]
    tests = list(dict.fromkeys((row.title, row.reading.effect.scale.name) for row in rows))
    overview = [
        _overview(rows, across, down) for across in _parts(models, _MOST_MODELS) for down in _parts(tests, _MOST_ROWS)
    ]
    by_model = ([row for row in rows if row.reading.model == model] for model in models)
    details = [_details(part) for mine in by_model for part in _parts(mine, _MOST_ROWS)]
    numbered = (table.replace("NUMBER", str(n)) for n, table in enumerate([*overview, *details], 1))
    return "\n\n".join([_HEAD, *numbered]) + "\n"


def latex(text: str) -> str:
    r"""A text that LaTeX prints as it is, on one line.

    >>> print(latex("50% of a_b {x} \\ → y"))
    50\% of a\_b \{x\} \textbackslash{} $\rightarrow$ y
    """
    kept = "".join(c for c in " ".join(text.split()) if unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return re.sub("|".join(map(re.escape, _SPECIAL)), lambda match: _SPECIAL[match[0]], kept)


def _parts(things: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """What fits a page, one after the other."""
    return (things[start : start + most] for start in range(0, len(things), most))


def _overview(rows: Sequence[ReadingRow], models: Sequence[str], tests: Sequence[tuple[str, str]]) -> str:
    cells = {(row.title, row.reading.effect.scale.name, row.reading.model): row for row in rows}
    lines = [
        " & ".join([_wrapped(title), scale, *(_starred(cells.get((title, scale, name))) for name in models)])
        for title, scale in tests
    ]
    width = f"{0.5 / len(models):.3f}"
    heads = (rf"\parbox[b]{{{width}\textwidth}}{{\raggedleft {_breakable(name)}}}" for name in models)
    caption = f"Leans of {len(models)} {'model' if len(models) == 1 else 'models'} by test. {_LEGEND}"
    return _table(caption, rf"p{{.28\textwidth}}l{'r' * len(models)}", " & ".join(["test", "scale", *heads]), lines)


def _wrapped(title: str) -> str:
    return rf"\raggedright {latex(title)}"


def _breakable(name: str) -> str:
    """The name of a model, which may be broken after a sign."""
    return r"\allowbreak{}".join(latex(part) for part in re.findall(r"[^:/_-]*[:/_-]?", name) if part)


def _starred(row: ReadingRow | None) -> str:
    return "--" if row is None else f"{_number(row.reading.effect.value)}{STARS[row.verdict.state]}"


def _details(rows: Sequence[ReadingRow]) -> str:
    head = r"test & dimension & verdict & value & 95\% interval & $p$ & $p$ (Holm) & published"
    caption = (
        f"Readings of {latex(rows[0].reading.model)}. $p$ (Holm) is corrected for the bias tests of this model; "
        "published is the value as the literature computes it."
    )
    return _table(caption, r"p{.23\textwidth}llrrrrr", head, map(_row, rows))


def _row(row: ReadingRow) -> str:
    effect, published = row.reading.effect, row.reading.published
    dimension = "control" if row.reading.control else dimension_of(row.reading)
    words = [_wrapped(row.title), latex(dimension), row.verdict.state]
    # A cell that begins with a bracket would be taken for an option of the row before it.
    ci = f"{{}}[{_number(effect.ci.low)}, {_number(effect.ci.high)}]" if effect.ci else "--"
    p_values = ["--" if text is None else f"${text}$" for text in (row.raw_p, row.p)]
    numbers = [_number(effect.value), ci, *p_values, _number(published.value) if published else "--"]
    return " & ".join([*words, *numbers])


def _number(value: float) -> str:
    """A number with a minus sign as TeX sets it.

    >>> _number(-0.5), _number(0.5)
    ('$-$0.50', '0.50')
    """
    return f"{value:.2f}".replace("-", "$-$")


def _table(caption: str, columns: str, head: str, lines: Iterable[str]) -> str:
    """A table across both columns of a page."""
    return "\n".join(
        (
            *(r"\begin{table*}[tp]", rf"\caption{{{caption}}}\label{{tab:tiltmeter-NUMBER}}"),
            r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
            *(rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\toprule", rf"{head} \\", r"\midrule"),
            *(rf"{line} \\" for line in lines),
            *(r"\bottomrule", r"\end{tabular}", r"\end{table*}"),
        )
    )
