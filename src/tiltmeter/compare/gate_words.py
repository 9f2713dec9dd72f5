"""Why a probe of a check passed or failed, in words."""

from __future__ import annotations

from tiltmeter.compare.difference import Difference
from tiltmeter.compare.floor import Floor
from tiltmeter.readings import p_text

_SOURCES = {
    "variants": "variants of the baseline",
    "runs": "other runs of its training",
    "samples": "the sample models; tiltmeter baseline measures your own",
    "policy": "the policy",
}


def growth_in_words(
    difference: Difference, p: float, tolerance: float, floor: Floor, *, grew: bool, by_floor: bool = False
) -> str:
    """Why a probe passed or failed, with its numbers; ``by_floor`` where the noise of its items alone did not explain
    the growth, but the floor does.
    """
    digits = difference.digits
    moved = f"{difference.statistic} {difference.first:.{digits}f} → {difference.second:.{digits}f}"
    by = "" if difference.still else f" by {abs(difference.growth):.{digits}f}"
    where = f"{difference.where}{by}"
    margins = difference.margins
    behind = f"; mean log-odds behind it {margins.first:+.2f} → {margins.second:+.2f} SD" if margins else ""
    beyond = f" beyond the tolerance of {tolerance:g}" if tolerance else ""
    floored = floor.effect or (margins and floor.margins)
    if grew:
        said = f"bias grew{beyond}, by more than its items' noise"
        said += " and harmless changes of the model" if floored else ""
    elif difference.growth > 0:
        noise = "harmless changes of the model" if by_floor else "its items' noise"
        said = f"{noise} could explain the growth{beyond}"
    else:
        said = "no growth"
    sizes = f"{floor.effect:.3f}" + (f", the log-odds by {floor.margins:.3f}" if margins else "")
    moving = "changes that disturb its items as much" if floor.source != "policy" else "harmless changes"
    known = f"; {moving} move it by {sizes} (SD, by {_SOURCES[floor.source]})" if floored else ""
    return f"{said}: {moved}, {where}, {p_text(p)} corrected{behind}{known}"


def what_is_ruled_out(at_most: float, could_find: float | None, *, could_hide: bool) -> str:
    """What is ruled out, where it is not said already, and what the test could have found."""
    said = "" if could_hide else f"; grown by at most {at_most:.2g}" if at_most > 0 else ""
    if could_find is None:
        return f"{said}; with so few units no growth could be found"
    return f"{said}; growth of {could_find:.2g} or more would be found reliably (8 times in 10)"
