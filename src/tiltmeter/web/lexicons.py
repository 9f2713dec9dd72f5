"""Word lists to explore with: those that come along, and lexicons a reader has handed over, which stay in memory."""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from pathlib import Path

import yaml

from tiltmeter.errors import BadInput
from tiltmeter.stimuli import Group, Lexicon, lexicon_names, load_lexicon
from tiltmeter.stimuli.lexicon.yaml_form import read_lexicon
from tiltmeter.web.shelf import NotHere

#: Lexicons that are kept, and how deep one may be nested; no real one is deeper than six.
_KEPT, _DEEPEST = 8, 12
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Lexicons:
    """Groups of words by address, such as ``gender.male_terms``."""

    def __init__(self) -> None:
        self._own: OrderedDict[str, Lexicon] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, content: bytes) -> Lexicon:
        """Check a lexicon in YAML and keep it under its name, as ``own_NAME``."""
        _check(content)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "your file"
            path.write_bytes(content)
            found = read_lexicon(path)
        with self._lock:
            self._own[f"own_{found.name}"] = found
            while len(self._own) > _KEPT:
                self._own.popitem(last=False)
        return found

    def groups(self) -> dict[str, Group]:
        """All groups of words: a reader's own first."""
        with self._lock:
            own = list(self._own.items())
        found = [(name, lexicon) for name, lexicon in reversed(own)]
        found += [(name, load_lexicon(name)) for name in lexicon_names()]
        return {f"{name}.{key}": group for name, lexicon in found for key, group in lexicon.groups.items()}

    def group(self, address: str) -> Group:
        found = self.groups().get(address)
        if found is None:
            raise NotHere("there is no such group of words")
        return found


def _check(content: bytes) -> None:
    """A few letters of YAML can stand for gigabytes, by aliases and by nesting; no lexicon needs either."""
    depth = 0
    try:
        for event in yaml.parse(content.decode("utf-8-sig"), Loader=_LOADER):
            if isinstance(event, yaml.AliasEvent):
                raise BadInput("your file: aliases (*name) are not taken: write the words out")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise BadInput("your file is nested too deeply for a lexicon")
    except UnicodeDecodeError as error:
        raise BadInput(f"your file: not UTF-8 at byte {error.start}: save it as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        raise BadInput(f"your file: {line}broken YAML: {getattr(error, 'problem', None) or 'no YAML'}") from None
