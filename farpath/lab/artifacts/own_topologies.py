"""Own topologies: reads the Mininet topology in a user's file, with the lab's own Mininet.

The file is run, as Mininet would run it, in a process of its own. ``docs/own-topologies.md``
explains it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, MachineLacksError, on_one_line
from farpath.base.project import BUILD
from farpath.lab.artifacts.images import REMEDY
from farpath.planning.own_topology import is_own, network_of, split_text
from farpath.spec.own_network import OwnNetwork
from farpath.tools.commands import note

#: Where the lab's root file system has Mininet.
PACKAGE = FilePath("lab/rootfs/usr/lib/python3/dist-packages/mininet")
READER = FilePath(__file__).with_name("topo_reader.py")
#: Real seconds that a file may take to make its topology.
MOST_S = 30.0


def own_network(text: str, build: FilePath = BUILD) -> OwnNetwork | None:
    """Return the network that a text names by a file; None if it names another topology.

    Raises BadInputError for what cannot be read or mapped, and MachineLacksError if the lab's
    root file system, which has Mininet, is not built.
    """
    if not is_own(text):
        return None
    path, selection = split_text(text)
    file = FilePath(os.path.abspath(path))
    if not file.is_file():
        raise BadInputError(
            f"TOPOLOGY is '{text}': there is no file {path}; give one with a class derived from "
            "Mininet's Topo"
        )
    package = build / PACKAGE
    if not package.is_dir():
        raise MachineLacksError(
            f"TOPOLOGY is a file, which the lab's Mininet reads, and the lab is not built: {REMEDY}"
        )
    description = _read(package, file, selection)
    if error := description.get("error"):
        raise BadInputError(f"TOPOLOGY: {path} {on_one_line(error)}")
    return network_of(description)


def _read(package: FilePath, file: FilePath, selection: str) -> dict[str, Any]:
    """Run the reader and return what it prints; what the user's file prints is discarded."""
    # Isolated, so that neither the environment nor this directory changes what is imported; and
    # without compiled files, since the lab's root is not to be changed
    command = [sys.executable, "-I", "-B", str(READER), str(package), str(file), selection]
    note(command)
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=MOST_S,
            check=False,
        )
        description: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise BadInputError(
            f"TOPOLOGY: {file} has made no topology within {MOST_S:g} s: let it do nothing but "
            "define one; what starts a network belongs below if __name__ == '__main__'"
        ) from error
    except ValueError as error:
        raise BadInputError(
            f"TOPOLOGY: the process that ran {file} ended with status {done.returncode} before it "
            "had made a topology"
        ) from error
    return description
