"""What other packages add through entry points: kinds of probes and kinds of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Self, TypeVar

from tiltmeter.errors import BadInput

T = TypeVar("T")


class Registry(dict[str, T]):
    """Things by name: our own, and those that installed packages register under an entry point group.

    An entry point's value is a thing, a sequence of them, or a function that returns either. A thing is called by its
    own ``name`` where it has one, else as its entry point. Packages are looked at only when a name is asked for that is
    not ours, or ``complete`` is called: that takes a tenth of a second.

    >>> Registry("tiltmeter.nothing", int, {"one": 1})["one"]
    1
    """

    def __init__(self, group: str, form: type[T], ours: Mapping[str, T]) -> None:
        super().__init__(ours)
        self._group, self._form = group, form
        self._packages = dict.fromkeys(ours, "tiltmeter")
        self._complete = False

    def __missing__(self, name: str) -> T:
        if name not in self.complete():
            raise KeyError(name)
        return self[name]

    def complete(self) -> Self:
        """Everything there is, other packages' things among it."""
        for entry in () if self._complete else entry_points(group=self._group):
            package = entry.dist.name if entry.dist else entry.value
            for name, thing in self._loaded(entry, package):
                if name in self:
                    raise BadInput(
                        f"the packages {self._packages[name]} and {package} both give '{name}' ({self._group}): "
                        f"uninstall {package}, or ask its authors for another name"
                    )
                self[name], self._packages[name] = thing, package
        self._complete = True
        return self

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
