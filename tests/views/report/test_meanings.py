from __future__ import annotations

import dataclasses

from tests.views.made import reading, share
from tiltmeter.views.report.meanings import meanings, shared_caveats


def test_each_kind_of_probe_is_explained_once():
    later = reading(id="c", probe="future", effect=share(0.6))
    bare = dataclasses.replace(later, about=dataclasses.replace(later.about, summary=""))
    found = meanings([reading(id="a"), reading(id="b"), bare])
    assert [(each.probe, each.titles) for each in found] == [
        ("weat", ("Title of a", "Title of b")),
        ("future", ("Title of c",)),
    ]
    assert (found[0].summary, found[0].idea) == ("Summary of weat", "Words should be level.")
    assert found[1].summary == "future"
    assert found[1].better == ("share to men: nearer to 0.5 is better",)
    assert shared_caveats(found) == ("Mind this.",)
    assert shared_caveats(found[:1]) == ()
