"""A stranger finds an idea by its name: rooms are small, and no name stands for two things."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import tiltmeter

ROOT = Path(tiltmeter.__file__).parent
MODULES = [path for path in ROOT.rglob("*.py") if path.name != "__init__.py"]
#: One measure and one data set per file, however many there are.
LONG_LISTS = {"measures", "stimuli/datasets"}
#: What a measure gives, and the same as readings store it.
ONE_IDEA = {"NeutralOffset"}


def test_no_folder_holds_more_modules_than_a_glance_takes_in():
    sizes = Counter(path.parent.relative_to(ROOT).as_posix() for path in MODULES)
    assert {folder: n for folder, n in sizes.items() if n > 16}.keys() <= LONG_LISTS


def test_every_class_has_a_name_of_its_own():
    bodies = (ast.parse(path.read_text(encoding="utf-8")).body for path in MODULES)
    names = Counter(node.name for body in bodies for node in body if isinstance(node, ast.ClassDef))
    assert {name for name, n in names.items() if n > 1} == ONE_IDEA
