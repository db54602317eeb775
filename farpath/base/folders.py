"""Folders: modules of one name, which mechanisms and programs have in their folders."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import ModuleType


def modules_of(package: str, name: str) -> list[ModuleType]:
    """Return the modules of a name in the folders of a package, in the order of the folders.

    A folder need not have one. Raises what the import of a module raises.
    """
    places = importlib.import_module(package).__path__
    folders = sorted(folder.name for folder in pkgutil.iter_modules(places) if folder.ispkg)
    modules = (f"{package}.{folder}.{name}" for folder in folders)
    return [importlib.import_module(one) for one in modules if importlib.util.find_spec(one)]
