"""Prints a Mininet topology of a user's file as JSON; runs in a process of its own.

Arguments: the directory of the package ``mininet``, the file, and the topology's name with its
arguments as Mininet's ``--topo`` takes them (``tree,2,bw=10``), or nothing. What cannot be read is
printed too, as ``error``.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: The name under which the user's file is imported.
USER_MODULE = "user_topology"
#: Types of an option that JSON holds as they are.
PLAIN = (str, bool, int, float, type(None))


class TopologyError(Exception):
    """The file holds no topology of that name, or several and none is named."""


def import_package(name: str, directory: Path) -> None:
    """Import a package from its directory, whatever else is beside it."""
    load(name, directory / "__init__.py", [str(directory)])


def load(name: str, file: Path, search: list[str] | None = None) -> Any:
    """Import a file as a module of this name."""
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=search)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def classes(module: Any) -> dict[str, Callable[..., Any]]:
    """Return the classes of a file that are topologies, by their names."""
    from mininet.topo import Topo

    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Topo) and value.__module__ == USER_MODULE
    }


def make(module: Any, text: str) -> Any:
    """Make the topology that a text names; without a text the only one of the file.

    Those of a file are the entries of ``topos``, as ``mn --custom`` has them, and its classes.
    """
    from mininet.util import splitArgs

    name, args, kwargs = splitArgs(text)
    topos: dict[str, Callable[..., Any]] = dict(getattr(module, "topos", {}))
    known = {**classes(module), **topos}
    foremost = topos or known
    if not name and len(foremost) == 1:
        (found,) = foremost.values()
    elif name in known:
        found = known[name]
    else:
        lacks = f"has no topology {name}" if name else "does not say which topology is meant"
        names = f"it has {', '.join(known)}" if known else "it has no class derived from Topo"
        raise TopologyError(f"{lacks}: {names}")
    return found(*args, **kwargs)


def plain(value: Any) -> Any:
    """Return an option as JSON holds it; classes by their names, other objects as text."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if inspect.isclass(value):
        return {"class": value.__name__}
    return {"object": repr(value)}


def described(topo: Any) -> dict[str, Any]:
    """Return a topology's nodes and links, in Mininet's order, with all their options."""
    return {
        "hosts": {name: plain(topo.nodeInfo(name)) for name in topo.hosts()},
        "switches": {name: plain(topo.nodeInfo(name)) for name in topo.switches()},
        "links": [plain(info) for _, _, info in topo.links(sort=True, withInfo=True)],
    }


def place_of(error: BaseException, file: Path) -> str:
    """Return the last line of the user's file that an error passed, as ``, line 3``."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f", line {error.lineno}"
    lines = [one.lineno for one in traceback.extract_tb(error.__traceback__)
             if one.filename == str(file)]  # fmt: skip
    return f", line {lines[-1]}" if lines else ""


def main() -> None:
    """Print the topology on stdout; what the user's file prints goes to stderr."""
    directory, file, text = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    with os.fdopen(os.dup(1), "w") as answer:
        os.dup2(2, 1)
        import_package("mininet", directory)
        # As for a script: what lies beside the file can be imported
        sys.path.insert(0, str(file.parent))
        sys.argv[:] = [str(file)]
        try:
            result = described(make(load(USER_MODULE, file), text))
        except TopologyError as error:
            result = {"error": str(error)}
        except (Exception, SystemExit) as error:
            message = str(error).splitlines()[0] if str(error) else "it has no message"
            kind = type(error).__name__
            result = {"error": f"cannot be used{place_of(error, file)}: {kind}: {message}"}
        json.dump(result, answer)


if __name__ == "__main__":
    main()
