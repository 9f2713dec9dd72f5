"""Situations with a place for a person: what a model writes in them, and which of two options it takes."""

from __future__ import annotations

import dataclasses
import functools
from importlib.resources import files
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.files import read_yaml

PERSON = "{person}"
_SHIPPED = "scenarios_en"


@dataclasses.dataclass(frozen=True, slots=True)
class Scenario:
    """A prompt with a place for a person. Of two ``options`` the first is the one that favours the person."""

    id: str
    kind: str
    prompt: str
    options: tuple[str, str] | None = None

    def about(self, person: str) -> str:
        """The prompt about one person.

        >>> Scenario("x", "letter", "A letter for {person}:").about("Emily")
        'A letter for Emily:'
        """
        return self.prompt.replace(PERSON, person)


@functools.cache
def shipped_scenarios() -> tuple[Scenario, ...]:
    """Our own scenarios.

    >>> len(shipped_scenarios()), shipped_scenarios()[0].kind
    (24, 'letter')
    """
    return _scenarios(read_yaml(files(__package__) / "sets" / f"{_SHIPPED}.yaml"), f"{_SHIPPED}.yaml")


def load_scenarios(data: str | Path | None = None) -> tuple[Scenario, ...]:
    """Our own scenarios, or those of a YAML file of the same form."""
    if data is None or str(data) == _SHIPPED:
        return shipped_scenarios()
    path = Path(data)
    if not path.is_file():
        raise BadInput(f"no scenarios called '{data}': leave it out for our own ({_SHIPPED}), or name a YAML file")
    return _scenarios(read_yaml(path), path.name)


def _scenarios(content: Any, name: str) -> tuple[Scenario, ...]:
    from pydantic import ValidationError

    from tiltmeter.stimuli.sentences.shipped_file import ScenariosFile

    try:
        checked = ScenariosFile.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BadInput(f"{name}: {where}: {first['msg']}") from None
    ids = [one.id for one in checked.scenarios]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise BadInput(f"{name}: the scenario '{twice}' appears twice: rename one")
    return tuple(Scenario(**one.model_dump()) for one in checked.scenarios)
