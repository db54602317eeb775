"""The commands in their groups, each known by its name and a line until it is called.

A module of commands has ``add_to(app)``, which adds them to an app of typer. Those of this
package stand in ``COMMANDS``. Each folder of ``FOLDERS`` has a module ``command``, and in its
``__init__`` the same description: ``COMMANDS``, for each name the group and the line.
"""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from farpath.cli.help import with_help

RUN, MANY, PROGRAM = "Run and look", "Many runs", "Your own program"
KERNEL, EXPERIMENTS, MACHINE = "Kernels", "Experiments", "The machine"
#: The groups of ``farpath --help``, in its order.
GROUPS = (RUN, MANY, PROGRAM, KERNEL, EXPERIMENTS, MACHINE)
#: Packages whose folders bring commands of their own.
FOLDERS = ("farpath.uses", "benchmarks")
#: By module of this package: for each command its group and its line.
COMMANDS = {
    "run": {
        "run": (
            RUN,
            "Make a run, by default the test of seven regions, and show the results of its flows.",
        ),
        "show": (
            RUN,
            "Show the results of a record again, without a lab; records of exec too. Draw "
            "captures.",
        ),
    },
    "records": {
        "list": (
            RUN,
            "List records, the latest first: date, path, stacks, throughput, fingerprint.",
        ),
        "compare": (
            RUN,
            "Compare records: their differing settings, a table of results, and all curves "
            "in one page.",
        ),
        "export": (
            RUN,
            "Write records in the format of other programs: CSV tables, Flent's data files, "
            "or JSON.",
        ),
    },
    "draw": {
        "draw": (
            RUN,
            "Draw the hosts, switches and links of a run or a record, or the sites of a file.",
        ),
    },
    "site": {
        "site": (
            RUN,
            "Build a site of static pages from records; it opens offline and needs no server.",
        ),
    },
    "listing": {
        "stacks": (RUN, "List the stacks that a flow can run, with their parameters and defaults."),
        "eras": (
            RUN,
            "List which behaviour of hosts of 2004 is emulated, and which cannot be.",
        ),
        "options": (
            RUN,
            "List the options of a run with their units, ranges, defaults and variables of Make.",
        ),
        "paths": (RUN, "List the named paths."),
    },
    "sweep": {
        "sweep": (
            MANY,
            "Make a run of each combination of values, as in --rtt=20ms,160ms "
            "--stack=cubic,bbr --seeds=3.",
        ),
    },
    "exec": {
        "exec": (
            PROGRAM,
            "Run any program over a path, in virtual time, with a server at its other end.",
        ),
    },
    "up": {
        "up": (
            PROGRAM,
            "Run the services of a compose file over a WAN of sites, with faults, in virtual time.",
        ),
    },
    "shell": {
        "shell": (PROGRAM, "Open Mininet's command line in the lab: sender ping -c3 receiver."),
    },
    "packetdrill": {
        "packetdrill": (
            KERNEL,
            "Run packetdrill's scripts of TCP inside the lab, on the virtual clock.",
        ),
    },
    "selftests": {
        "selftests": (
            KERNEL,
            "Run the kernel's own selftests of MPTCP inside the lab, many times in one guest.",
        ),
    },
    "campaign": {
        "campaign": (
            EXPERIMENTS,
            "Make all runs of an experiment, then its tables, figures, claims and page.",
        ),
        "reference": (
            EXPERIMENTS,
            "Copy an experiment's records, without raw output and pages, into its folder.",
        ),
    },
    "paper": {
        "tables": (
            EXPERIMENTS,
            "Print a table of runs; for records of a study, its own tables.",
        ),
        "claims": (
            EXPERIMENTS,
            "List the claims of studies' documents: whether each holds, and its numbers.",
        ),
    },
    "machine": {
        "preflight": (
            MACHINE,
            "Check whether this machine can run a lab: one line for each requirement, with "
            "its remedy.",
        ),
        "clean": (
            MACHINE,
            "Clean up after killed runs, and restore the kernel settings that they changed.",
        ),
    },
}

#: Environment variable that the Makefile sets, and its value.
CALLER, MAKE = "FARPATH_CALLER", "make"


def called_by_make() -> bool:
    """Whether the Makefile called farpath: options are variables then, in errors too."""
    return os.environ.get(CALLER) == MAKE


class LazyCommand(TyperCommand):
    """A command that is imported when it is called; a list of commands needs its line alone."""

    def __init__(self, name: str, module: str, group: str, line: str) -> None:
        super().__init__(name, help=line, rich_help_panel=group)
        self._module = module

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Return the context of the command itself, of which this one is the stand-in."""
        app = typer.Typer()
        import_module(self._module).add_to(app)
        command = typer.main.get_group(app).commands[self.name or ""]
        assert isinstance(command, TyperCommand)
        return with_help(command).make_context(info_name, args, parent, **extra)


def all_commands() -> Iterator[LazyCommand]:
    """Yield each command, by group; those of folders stand behind this package's."""
    modules = [(f"{__package__}.{module}", commands) for module, commands in COMMANDS.items()]
    for package in FOLDERS:
        places = import_module(package).__path__
        for name in [one.name for one in pkgutil.iter_modules(places) if one.ispkg]:
            folder = f"{package}.{name}"
            modules.append((f"{folder}.command", getattr(import_module(folder), "COMMANDS", {})))
    for group in GROUPS:
        for module, commands in modules:
            for name, (its_group, line) in commands.items():
                if its_group == group:
                    yield LazyCommand(name, module, group, line)
