"""An audit of three readings, and the same with markup wherever a user may write."""

from __future__ import annotations

import dataclasses

from tests.views.made import EVIL, audit, cloze, d, reading
from tiltmeter.readings import Poles, Skipped

AUDIT = audit(
    reading("own:one", "career", d(0.9), published=d(0.8, p=0.0001), repair="Words are the unit."),
    reading("own:one", "science", d(-0.2, p=0.4)),
    cloze("noun", 0.5, 0.1, model="hf:two"),
    skipped=(Skipped("hf:two", "career", "needs vectors of words"),),
)
SPOILT = dataclasses.replace(
    AUDIT,
    suite=EVIL,
    readings=tuple(
        dataclasses.replace(
            r,
            title=f"{EVIL} 100% a_b {{x}} | `c` {r.id}",
            poles=Poles(EVIL, EVIL),
            finding=EVIL,
            about=dataclasses.replace(r.about, summary=EVIL, caveats=(EVIL,)),
        )
        for r in AUDIT.readings
    ),
)
