"""Folders: modules of one name, which mechanisms and programs have in their folders."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import ModuleType


def modules_of(package: str, name: str, is_optional: bool = False) -> list[ModuleType]:
    """Return the modules of a name in the folders of a package, in the order of the folders.

    ``is_optional``: whether a folder may have none. Raises the errors of their imports.
    """
    places = importlib.import_module(package).__path__
    folders = sorted(folder.name for folder in pkgutil.iter_modules(places) if folder.ispkg)
    modules = (f"{package}.{folder}.{name}" for folder in folders)
    return [
        importlib.import_module(module)
        for module in modules
        if not is_optional or importlib.util.find_spec(module)
    ]
