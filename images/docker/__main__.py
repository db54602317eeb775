"""The lab in containers: images/container COMMAND.

  runtime          prints docker or process: how `make experiment` runs the lab here
  base             makes the base image from Debian's packages, without a registry
  machine          writes images/machine, what image builds take of this machine
  build TARGET...  makes images (sender, kernel, lab, notebook) that are not current
  run ARGUMENT...  runs farpath in a container of the image lab, built if need be; records
                   go to OUT; leaves .venv/bin/farpath for the commands that follow
  farpath ARGUMENT...  what that runs: farpath in a container that sees the folder where it
                   is called, and what its arguments name
  notebook         runs JupyterLab in one, until Ctrl-C
  compose WORD...  compose itself, with the project's file
  clean            removes farpath's containers, running or not, and their networks

The containers are what docker-compose.yml says; this program finds compose, builds what is
missing, and makes results belong to the caller. LAB_RUNTIME=docker|process decides instead of
what is found. From the environment too: BASE_IMAGE, KERNEL_VERSION, and of what a run is asked
for: LAB, STACK, TOPOLOGY, RATE, SENDER_IMAGE, OUT, KERNEL_SRC.

It is Python 3.9 and the standard library: no virtual environment is there yet.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

import builds
import engine
import machine
import runs
from messages import Refused, become, say


def _base() -> None:
    engine.needed_compose()
    machine.make_base()


def _build(*targets: str) -> None:
    engine.needed_compose()
    for target in targets:
        builds.build(target)


def _compose(*words: str) -> None:
    become(engine.in_project(engine.needed_compose(), *words))


COMMANDS: dict[str, Callable[..., None]] = {
    "runtime": engine.runtime,
    "base": _base,
    "machine": machine.write_machine,
    "build": _build,
    "run": runs.run,
    "farpath": runs.farpath,
    "notebook": runs.notebook,
    "compose": _compose,
    "clean": runs.clean,
}


def main(command: str = "", *words: str) -> None:
    """Do what a command says; raises Refused."""
    if command not in COMMANDS:
        allowed = "|".join(COMMANDS)
        raise Refused(2, f"'{command}' is no command; allowed: images/container {allowed}")
    COMMANDS[command](*words)


if __name__ == "__main__":
    # What is half made is removed
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        main(*sys.argv[1:])
    except Refused as refused:
        say(str(refused))
        sys.exit(refused.status)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
