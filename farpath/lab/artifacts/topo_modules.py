"""Stand-ins for modules that a script colours its words or draws with, where they are missing.

No network depends on them. Every other missing module is an error.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

#: Modules that show something to a user.
SHOWING = frozenset({"colorama", "matplotlib", "plotly", "pylab", "seaborn", "termcolor"})


class Shown:
    """An attribute of such a module: it can be called, and its attributes and items are itself."""

    def __call__(self, *args: Any, **_options: Any) -> Any:
        """Return the text to be shown, unchanged."""
        return args[0] if args and isinstance(args[0], str) else self

    def __getattr__(self, name: str) -> Shown:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, _item: object) -> Shown:
        return self

    def __setitem__(self, _item: object, _value: object) -> None:
        pass

    def __str__(self) -> str:
        return ""


class ShowingModule(ModuleType):
    """A stand-in for a module; what is imported from it is ``Shown``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Shown()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds these modules after all other finders have failed. ``found``: their names."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the specification of a stand-in; None for any other module."""
        name = fullname.partition(".")[0]
        # No stand-in for a part of a module that is installed
        if name not in SHOWING or (name != fullname and name not in self.found):
            return None
        if name == fullname:
            self.found.append(name)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return a stand-in."""
        return ShowingModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing."""


def install() -> Finder:
    """Make these modules importable; return the finder, which notes the missing ones."""
    finder = Finder()
    sys.meta_path.append(finder)
    return finder
