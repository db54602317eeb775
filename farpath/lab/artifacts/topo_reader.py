"""Prints a Mininet topology of a user's file as JSON; runs in a process of its own.

Arguments, as a JSON object: ``package``, the directory of the package ``mininet``; ``file``;
``selection``, the topology's name with its arguments as Mininet's ``--topo`` takes them
(``tree,2,bw=10``), or nothing; ``arguments``, those of the file itself, or null; ``most_s``, real
seconds that it may take. The answer is what ``watched`` returns, with ``hosts``, ``switches``,
``links`` and ``notes`` as its answer, or ``error``.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

#: The name under which the user's file is imported; its package is the file's folder.
USER_PACKAGE = "user_folder"
USER_MODULE = f"{USER_PACKAGE}.topology"
MAIN = "__main__"
#: Types of an option that JSON holds as they are.
PLAIN = (str, bool, int, float, type(None))
#: Messages of Python 3 about a file for Python 2: its syntax, and names and modules that are gone.
OLD_SYNTAX = re.compile(
    r"Missing parentheses in call to|multiple exception types must be parenthesized|leading zeros"
    r"|inconsistent use of tabs|invalid (decimal|hexadecimal) literal"
)
OLD_WORDS = re.compile(
    r"name '(xrange|raw_input|unicode|long|basestring|reduce|unichr|file|execfile)' is not defined"
    r"|has no attribute '(iteritems|itervalues|iterkeys|has_key)'"
    r"|No module named '(ConfigParser|Queue|urllib2|StringIO|cPickle|commands|httplib|urlparse"
    r"|Tkinter|thread|SocketServer|SimpleHTTPServer|BaseHTTPServer|__builtin__)'"
)
OLD_LINE = re.compile(
    r"^\s*(print\s+[\"'\w]|print\s*$|raise \w+, |exec [\"'])|except .*, \w+:|<>", re.MULTILINE
)
OLD_MININET = re.compile(r"has no attribute '(add)_(host|switch|link)'")
READS_ARGUMENTS = re.compile(r"sys\.argv|ArgumentParser|OptionParser|\bclick\b|\bgetopt\b")
MISSING_ARGUMENT = re.compile(r"missing \d+ required .*argument")


class TopologyError(Exception):
    """The file holds no topology of that name, or several and none is named."""


class Started(BaseException):
    """A script starts a network, and a class next to it was asked for."""


@dataclass(frozen=True)
class Orders:
    """The request: the arguments of this program."""

    package: Path
    file: Path
    selection: str
    arguments: list[str] | None

    @property
    def name(self) -> str:
        """The name of the topology in the file, or nothing."""
        return self.selection.partition(",")[0]


def import_package(name: str, directory: Path) -> None:
    """Import a package from its directory, whatever other files are there."""
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


def load_user_package(folder: Path) -> None:
    """Make the file's folder a package, so that relative imports in it find its neighbours."""
    package = ModuleType(USER_PACKAGE)
    package.__path__ = [str(folder)]
    sys.modules[USER_PACKAGE] = package


def run_as_script(file: Path) -> ModuleType:
    """Run a file as ``python3 FILE`` does, with its main part, and return its module."""
    module = ModuleType(MAIN)
    module.__file__, module.__package__ = str(file), USER_PACKAGE
    sys.modules[MAIN] = module
    exec(compile(file.read_bytes(), str(file), "exec", dont_inherit=True), module.__dict__)
    return module


def classes(module: Any) -> dict[str, Callable[..., Any]]:
    """Return the classes of a file that are topologies, by their names."""
    from mininet.topo import Topo

    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, Topo)
        and value.__module__ in (USER_MODULE, MAIN)
    }


def make(module: Any, text: str) -> Any:
    """Make the topology that a text names; without a text the only one of the file.

    A file's topologies are the entries of ``topos``, as ``mn --custom`` has them, and its classes.
    """
    from mininet.util import splitArgs

    name, args, kwargs = splitArgs(text)
    topos: dict[str, Callable[..., Any]] = dict(getattr(module, "topos", {}))
    known = {**classes(module), **topos}
    foremost = topos or known
    if not name and len(foremost) == 1:
        ((name, found),) = foremost.items()
    elif name in known:
        found = known[name]
    elif name:
        has = f"it has {', '.join(known)}" if known else "it has no class derived from Topo"
        raise TopologyError(f"has no topology {name}: {has}")
    elif known:
        names = ", ".join(known)
        raise TopologyError(
            f"does not say which topology is meant: it has {names}; name one, as in "
            f"{Path(module.__file__).name}:{next(iter(known))}"
        )
    else:
        raise TopologyError(
            "has neither a class derived from Mininet's Topo nor a main part that starts a "
            "Mininet()"
        )
    try:
        topo = found(*args, **kwargs)
    except TypeError as error:
        if MISSING_ARGUMENT.search(str(error)) and not lines_of(error, module.__file__):
            raise TopologyError(missing_arguments(module.__file__, name, text, error)) from error
        raise
    if not topo.nodes():
        raise TopologyError(
            f"makes nothing in {name}: Mininet calls build(), and it adds no node; call the method "
            "that adds them from build(), or name a function that returns the network in topos"
        )
    return topo


def missing_arguments(file: str, name: str, text: str, error: TypeError) -> str:
    """Say how a topology gets the arguments that it lacks."""
    lacking = re.findall(r"'(\w+)'", str(error).partition("missing")[2])
    given = text or name
    values = "".join(f",{one}=..." for one in lacking)
    return (
        f"has a topology {name} that needs {' and '.join(lacking)}: give a value of each, as in "
        f"{Path(file).name}:{given}{values}"
    )


def plain(value: Any) -> Any:
    """Return an option as JSON holds it; classes by their names, other objects as text."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if inspect.isclass(value):
        return {"class": value.__name__}
    return {"object": repr(value)}


def described(topo: Any, recorder: Any) -> dict[str, Any]:
    """Return a topology's nodes and links, in Mininet's order, with all their options."""

    def options(info: dict[str, Any]) -> Any:
        return plain(recorder.unwrapped(info))

    return {
        "hosts": {name: options(topo.nodeInfo(name)) for name in topo.hosts()},
        "switches": {name: options(topo.nodeInfo(name)) for name in topo.switches()},
        "links": [options(info) for _, _, info in topo.links(sort=True, withInfo=True)],
    }


def lines_of(error: BaseException, file: Path | str) -> list[int]:
    """Return the lines of the user's file that an error passed."""
    frames = traceback.extract_tb(error.__traceback__)
    return [one.lineno for one in frames if one.filename == str(file) and one.lineno is not None]


def place_of(error: BaseException, file: Path) -> str:
    """Return the last line of the user's file that an error passed, as ``, line 3``."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f", line {error.lineno}"
    lines = lines_of(error, file)
    return f", line {lines[-1]}" if lines else ""


def advice_on(error: BaseException, file: Path) -> str:
    """Return the remedy for an error of a user's file; empty if it is obvious."""
    text = str(error)
    is_old = OLD_WORDS.search(text)
    if isinstance(error, SyntaxError):
        source = file.read_text(errors="replace")
        is_old = OLD_SYNTAX.search(text) or OLD_LINE.search(source)
    if is_old:
        # lib2to3 left Python's library in 3.13
        known = importlib.util.find_spec("lib2to3")
        command = f"{sys.executable} -m lib2to3" if known else "2to3"
        tabs = "expand -i -t 8 for its tabs, then " if isinstance(error, TabError) else ""
        return f"; this is Python 2: convert a copy of it ({tabs}{command} -w COPY.py)"
    if isinstance(error, ModuleNotFoundError) and error.name:
        name = error.name.partition(".")[0]
        if name == "mininet":
            return "; it is read with the lab's Mininet, which has no such module"
        for above in list(file.parents)[1:4]:
            place = above / error.name.replace(".", "/")
            if place.with_suffix(".py").is_file() or any(place.glob("*.py")):
                return f"; it is in {above}: lay a link to {name} there beside the file"
        if name in sys.modules:
            folders = [Path(one).resolve() for one in getattr(sys.modules[name], "__path__", [])]
            remedy = "lacks it: if that is a submodule, run git submodule update --init"
            return f"; {folders[0]} {remedy}" if folders else ""
        return (
            f"; install it for the Python that reads the file ({sys.executable} -m pip install "
            f"{name}), or lay {name}.py beside it"
        )
    if match := OLD_MININET.search(text):
        return f"; Mininet before 2.0 had {match[1]}_{match[2]}: write add{match[2].title()}"
    if isinstance(error, FileNotFoundError):
        return f"; the file is run in its own folder, {file.parent}"
    if isinstance(error, SystemExit) and READS_ARGUMENTS.search(file.read_text(errors="replace")):
        return f"; give its arguments behind --, as in './{file.name} -- --name=value'"
    return ""


def message_of(error: BaseException, file: Path) -> str:
    """Return the message about an error in a user's file: problem, place and remedy."""
    text = str(error).splitlines()[0] if str(error) else "it has no message"
    if isinstance(error, AssertionError) and (lines := lines_of(error, file)):
        text = linecache.getline(str(file), lines[-1]).strip()
    words = f"{type(error).__name__}: {text}"
    return f"cannot be used{place_of(error, file)}: {words}{advice_on(error, file)}"


def main_part(file: Path) -> bool:
    """Whether a file has a part that runs as a script alone."""
    return MAIN in file.read_text(errors="replace")


def read(
    orders: Orders, recorder: Any, modules: Any, answer: Callable[[dict[str, Any]], None]
) -> None:
    """Run the file and hand over its topology.

    With arguments of its own it runs as a script. Else it is imported, and run as a script if it
    does not say without that which topology is meant.
    """

    def hand_over(topo: Any, notes: list[str]) -> None:
        """End the process with a topology, whatever the file would do after this."""
        missing = [f"{name} is not installed: what it shows is left out" for name in modules.found]
        answer({**described(topo, recorder), "notes": [*notes, *missing]})

    def started(network: Any) -> None:
        if orders.selection:
            raise Started
        source = orders.file.read_text(errors="replace")
        hand_over(network.recorded, recorder.notes_on(network, source))

    def module_of(run: Callable[[], ModuleType]) -> ModuleType | None:
        try:
            return run()
        except Started:
            return sys.modules.get(MAIN if is_script else USER_MODULE)

    recorder.install(started)
    file = orders.file
    is_script = orders.arguments is not None and not orders.selection
    run = (lambda: run_as_script(file)) if is_script else lambda: load(USER_MODULE, file)
    module = module_of(run)
    if not orders.selection:
        recorder.start_last()
    try:
        hand_over(make(module, orders.selection), [])
    except TopologyError as error:
        if orders.selection or is_script or not main_part(file):
            raise
        answer({"error": str(run_main_part(file, recorder, error))})


def run_main_part(file: Path, recorder: Any, error: TopologyError) -> str:
    """Run a file as a script; return its error after the first if it starts no network."""
    try:
        run_as_script(file)
    except (Exception, SystemExit) as second:
        if not (isinstance(second, SystemExit) and not second.code):
            return f"{error}; run as a script, it {message_of(second, file)}"
    recorder.start_last()
    return f"{error}; run as a script, it starts no network"


def work(orders: Orders, answer: Callable[[dict[str, Any]], None]) -> None:
    """Hand over the topology that is asked for, or ``error``."""
    folder = Path(__file__).parent
    import_package("mininet", orders.package)
    recorder = load("topo_recorder", folder / "topo_recorder.py")
    modules = load("topo_modules", folder / "topo_modules.py").install()
    # As for a script: its neighbours can be imported, and opened by their names
    os.chdir(orders.file.parent)
    sys.path.insert(0, str(orders.file.parent))
    load_user_package(orders.file.parent)
    sys.argv[:] = [str(orders.file), *(orders.arguments or [])]
    try:
        read(orders, recorder, modules, answer)
    except TopologyError as error:
        answer({"error": str(error)})
    except (Exception, SystemExit) as error:
        answer({"error": message_of(error, orders.file)})


def main() -> None:
    """Print the answer on stdout."""
    given = json.loads(sys.argv[1])
    watch = load("topo_watch", Path(__file__).with_name("topo_watch.py"))
    orders = Orders(
        Path(given["package"]), Path(given["file"]), given["selection"], given["arguments"]
    )
    json.dump(watch.watched(lambda answer: work(orders, answer), given["most_s"]), sys.stdout)


if __name__ == "__main__":
    main()
