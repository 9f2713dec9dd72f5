"""What all details of readings share, and what reads dataclasses from files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tiltmeter.statistics import plain

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_READERS: dict[type[Any], TypeAdapter[Any]] = {}


def reader_of(kind: type[Any]) -> TypeAdapter[Any]:
    """What reads values of a dataclass from a file; built once, because that takes longer than the reading itself."""
    from pydantic import TypeAdapter

    if kind not in _READERS:
        _READERS[kind] = TypeAdapter(kind)
    return _READERS[kind]


@dataclasses.dataclass(frozen=True, slots=True)
class Details:
    """Base of the details of readings. A subclass names itself: ``class Mine(Details, kind="mine")``.

    Its fields are plain values or frozen dataclasses of them; that is how they are read back from a file. Only a
    subclass that has been imported is known; what another version or package wrote is kept as ``OtherDetails``.
    """

    kind: ClassVar[str] = ""
    known: ClassVar[dict[str, type[Details]]] = {}

    def __init_subclass__(cls, *, kind: str = "", **options: Any) -> None:
        # dataclass(slots=True) makes the class anew, without the keyword: the name is kept then.
        if kind:
            cls.kind = kind
        Details.known[cls.kind] = cls

    def to_dict(self) -> dict[str, Any]:
        """The fields and the name of the kind, as JSON-ready values."""
        return {"kind": self.kind, **plain(self)}

    @classmethod
    def from_schema_1(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields as they stood in a reading of schema 1: the same names, unless a subclass says otherwise."""
        names = {field.name for field in dataclasses.fields(cls)}
        return {name: value for name, value in values.items() if name in names}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Details:
        """The details that ``to_dict`` described."""
        fields = {key: value for key, value in values.items() if key != "kind"}
        found = Details.known.get(str(values["kind"]))
        if found is None:
            return OtherDetails(str(values["kind"]), fields)
        details: Details = reader_of(found).validate_python(fields)
        return details


@dataclasses.dataclass(frozen=True, slots=True)
class OtherDetails(Details, kind="other"):
    """Details of a kind that is not known here; ``name`` is what it calls itself."""

    name: str
    values: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.name, **plain(self.values)}
