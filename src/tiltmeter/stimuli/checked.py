"""YAML of a user's, checked against a pydantic model; what is wrong is said in one line that names the entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from tiltmeter.errors import BadInput, unknown

Shape = TypeVar("Shape", bound=BaseModel)

#: What an entry of a list is about, so that it can be named.
_NAMES = ("word", "occupation", "topic", "text")
_PLAIN = {"missing": "is missing", "model_type": "should be a mapping"}


def check(source: str, raw: Any, shape: type[Shape]) -> Shape:
    """What a file says in the form of a model; ``source`` is how the file is called in a complaint.

    >>> class Lamp(BaseModel, extra="forbid"):
    ...     colour: str
    >>> check("lamp.yaml", {"color": "red"}, Lamp)
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: lamp.yaml: unknown key 'color': did you mean 'colour'?
    """
    try:
        return shape.model_validate(raw)
    except ValidationError as error:
        raise BadInput(f"{source}: {_complaint(error, raw, shape)}") from None


def _complaint(error: ValidationError, raw: Any, shape: type[BaseModel]) -> str:
    complaints = error.errors()
    # A misspelt key is also missing under its right name; the misspelling is the more useful thing to say.
    first = next((one for one in complaints if one["type"] == "extra_forbidden"), complaints[0])
    place = list(_places(first["loc"], raw))
    if first["type"] == "extra_forbidden":
        *above, key = place
        return ": ".join([*above, str(unknown("key", key, _keys(shape, first["loc"][:-1])))])
    if first["type"] == "missing" and isinstance(first["loc"][-1], int):
        return f"{': '.join(place[:-1])}: needs two words"
    if first["type"] == "string_type" and isinstance(first["input"], bool | int | float):
        message = f"{first['input']!r} is not text to YAML: put it in quotes"
    elif first["type"] == "value_error":
        message = str(first["ctx"]["error"])
    else:
        message = _PLAIN.get(first["type"], first["msg"])
        place = place or ["the file"]
    return ": ".join([*place, message])


def _places(steps: Sequence[int | str], raw: Any) -> Iterator[str]:
    """Keys by their name, an entry of a list by what it is about, or else by its number."""
    for step in steps:
        try:
            raw = raw[step]
        except (KeyError, IndexError, TypeError):
            raw = None
        names = (raw.get(key) for key in _NAMES) if isinstance(raw, dict) else (raw,)
        by_name = (f"'{name}'" for name in names if isinstance(name, str))
        yield next(by_name, f"entry {step + 1}") if isinstance(step, int) else step


def _keys(shape: Any, steps: Sequence[int | str]) -> list[str]:
    """The keys that the model at a place has."""
    for step in steps:
        # Of a list or a mapping, what its entries are; of a model, what the field is.
        shape = shape.model_fields[step].annotation if hasattr(shape, "model_fields") else get_args(shape)[-1]
    return [field.alias or name for name, field in shape.model_fields.items()]
