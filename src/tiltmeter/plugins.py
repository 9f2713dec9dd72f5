"""What other packages add through entry points: kinds of probes and kinds of models."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from tiltmeter.errors import BadInput

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Things by name: our own, then those that installed packages register under an entry point group.

    An entry point's value is a thing, a sequence of them, or a function that returns either. A thing is called by its
    own ``name`` where it has one, else as its entry point. Packages are looked at only when something is asked for that
    is not ours: that takes a tenth of a second.

    >>> Registry("tiltmeter.nothing", int, {"one": 1})["one"]
    1
    """

    def __init__(self, group: str, form: type[T], ours: Mapping[str, T]) -> None:
        self._group, self._form, self._ours = group, form, ours

    def __getitem__(self, name: str) -> T:
        return self._ours[name] if name in self._ours else self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @functools.cached_property
    def _all(self) -> dict[str, T]:
        things, packages = dict(self._ours), dict.fromkeys(self._ours, "tiltmeter")
        for entry in entry_points(group=self._group):
            package = entry.dist.name if entry.dist else entry.value
            for name, thing in self._loaded(entry, package):
                if name in things:
                    raise BadInput(
                        f"the packages {packages[name]} and {package} both give '{name}' ({self._group}): "
                        f"uninstall {package}, or ask its authors for another name"
                    )
                things[name], packages[name] = thing, package
        return things

    def _loaded(self, entry: EntryPoint, package: str) -> Iterator[tuple[str, T]]:
        try:
            value = entry.load()
            if callable(value) and not isinstance(value, self._form):
                value = value()
        except Exception as error:  # whatever is wrong in the code of another package
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise BadInput(
                f"'{entry.name}' ({self._group}) of the package {package} cannot be loaded ({reason}): update or "
                f"uninstall {package}"
            ) from error
        for thing in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(thing, self._form):
                raise BadInput(
                    f"'{entry.name}' ({self._group}) of the package {package} is a {type(thing).__name__}, not a "
                    f"{self._form.__name__}: update or uninstall {package}"
                )
            yield getattr(thing, "name", entry.name), thing
