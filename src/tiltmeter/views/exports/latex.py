"""Tables for a paper: one per model, with rules as booktabs draws them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from tiltmeter.readings import Audit
from tiltmeter.views.rows import ReadingRow, rows_by_model

_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': r"\textquotedbl{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "…": r"\dots{}",
    "→": r"$\rightarrow$", "×": r"$\times$", "±": r"$\pm$", "−": r"$-$", "≥": r"$\geq$", "≤": r"$\leq$",
    "“": "``", "”": "''", "’": "'", "‘": "`", "–": "--", "—": "---",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}  # fmt: skip
_HEAD = r"""% Needs \usepackage{booktabs,longtable,array} and \usepackage[T1]{fontenc}.
% With words in other scripts than Latin: XeLaTeX or LuaLaTeX, and a font that has them."""


def to_latex(audit: Audit) -> str:
    """One long table per model, which may run over several pages."""
    parts = [_table(n, name, rows) for n, (name, rows) in enumerate(rows_by_model(audit).items(), 1) if rows]
    return "\n\n".join([_HEAD, *parts]) + "\n"


def latex(text: str) -> str:
    r"""A text that LaTeX prints as it is, on one line.

    >>> print(latex("50% of a_b {x} \\ → y"))
    50\% of a\_b \{x\} \textbackslash{} $\rightarrow$ y
    """
    kept = "".join(c for c in " ".join(text.split()) if unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return re.sub("|".join(map(re.escape, _SPECIAL)), lambda match: _SPECIAL[match[0]], kept)


def _table(number: int, model: str, rows: Sequence[ReadingRow]) -> str:
    head = r"measured & leans & statistic & value & 95\% interval & $p$ & $p$ (Holm) & published \\"
    caption = (
        f"Readings of {latex(model)}. $p$ (Holm) is corrected for the tests of its model; published is the value "
        "as the literature computes it."
    )
    return "\n".join(
        (
            r"\begin{longtable}{@{}>{\raggedright}p{4.2cm}>{\raggedright}p{3.2cm}>{\raggedright}p{2cm}rrrrr@{}}",
            rf"\caption{{{caption}}}\label{{tab:tiltmeter-{number}}}\\",
            *(r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead"),
            *(r"\bottomrule", r"\endlastfoot", *map(_row, rows), r"\end{longtable}"),
        )
    )


def _row(row: ReadingRow) -> str:
    effect, published = row.reading.effect, row.reading.published
    ci = f"[{effect.ci.low:.2f}, {effect.ci.high:.2f}]" if effect.ci else "--"
    p_values = ["--" if text is None else f"${text}$" for text in (row.raw_p, row.p)]
    words = [latex(row.title), latex(row.leans) or "--", latex(effect.name)]
    # A cell that begins with a bracket would be taken for an option of the row before it.
    numbers = [f"{effect.value:.2f}", f"{{}}{ci}", *p_values, f"{published.value:.2f}" if published else "--"]
    return " & ".join([*words, *numbers]) + r" \\"
