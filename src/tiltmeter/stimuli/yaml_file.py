"""YAML files, read so that nothing in them is lost without a word."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.files import read_text

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path | Traversable) -> Any:
    """The content of a YAML file, in which no key may be there twice."""
    text = read_text(path)
    try:
        _reject_repeated_keys(yaml.compose(text, Loader=_LOADER))
        return yaml.load(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise BadInput(f"{path.name}: {line}broken YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{path.name}: broken YAML: {' '.join(str(error).split())}") from None


def _reject_repeated_keys(root: yaml.Node | None) -> None:
    """A YAML reader keeps the last of two equal keys: a group would vanish without a word."""
    waiting, seen = [root] if root else [], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias may point back at its own parent
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                if str(key.value) in keys:
                    raise yaml.MarkedYAMLError(problem=f"'{key.value}' is there twice", problem_mark=key.start_mark)
                keys.add(str(key.value))
                waiting.append(value)
