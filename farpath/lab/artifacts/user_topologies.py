"""Own topologies: reads the Mininet topology in a user's file, with the lab's own Mininet.

The file is run, as Mininet would run it, in a process of its own. ``docs/how-to/own-topologies.md``
explains it.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, MachineLacksError, on_one_line
from farpath.base.project import BUILD
from farpath.lab.artifacts import lab_wheel
from farpath.lab.artifacts.images import REMEDY
from farpath.planning.user_topology import UserText, is_user_topology, network_of, split_text
from farpath.spec.user_network import UserNetwork
from farpath.tools.commands import note

#: Where the lab's root file system has Mininet.
PACKAGE = FilePath("rootfs/usr/lib/python3/dist-packages/mininet")
READER = FilePath(__file__).with_name("topo_reader.py")
#: Real seconds that a file may take to make its topology.
MOST_S = 30.0
#: Most characters of a file's last output in a message.
MOST_LETTERS = 300
LOG = logging.getLogger(__name__)


def user_network(text: str, build: FilePath = BUILD) -> UserNetwork | None:
    """Return the network that a text names by a file; None if it names another topology.

    Parts of the file that have no effect here are named in a warning. Raises BadInputError for a
    file that cannot be read or mapped, and MachineLacksError if the lab's root file system, which
    has Mininet, is not built.
    """
    if not is_user_topology(text):
        return None
    named = split_text(text)
    file = FilePath(os.path.abspath(named.file))
    if not file.is_file():
        raise BadInputError(
            option="topology",
            given=text,
            problem=f"there is no file {named.file}",
            remedy="give one with a class derived from Mininet's Topo",
        )
    package = lab_wheel.part(build, "lab") / PACKAGE
    if not package.is_dir():
        raise MachineLacksError(
            "`topology` is a file, which the lab's Mininet reads, and the lab is not built: "
            f"{REMEDY}"
        )
    description = _read(package, file, named)
    if error := description.get("error"):
        raise BadInputError(option="topology", problem=f"{named.file} {on_one_line(error)}")

    def warn(words: str) -> None:
        LOG.warning("topology %s: %s", named.file, on_one_line(words))

    for words in description["notes"]:
        warn(words)
    return network_of(description, warn)


def _read(package: FilePath, file: FilePath, named: UserText) -> dict[str, Any]:
    """Run the reader and return the topology that it prints, or ``error``."""
    orders = {
        "package": str(package),
        "file": str(file),
        "selection": named.selection,
        "arguments": None if named.arguments is None else list(named.arguments),
        "most_s": MOST_S,
    }
    # Isolated, so that neither the environment nor this directory changes the imports; and without
    # compiled files, since the lab's root is not to be changed
    command = [sys.executable, "-I", "-B", str(READER), json.dumps(orders)]
    note(command)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=2 * MOST_S)
        result: dict[str, Any] = json.loads(printed)
    except (subprocess.TimeoutExpired, ValueError):
        # The file has ended the reader, or keeps it
        result = {"answer": None, "said": "", "status": process.poll(), "is_late": False}
    finally:
        # Processes of a file that has ended the reader are in its session
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if result["is_late"]:
        raise BadInputError(
            option="topology",
            problem=f"{file} has made no topology within {MOST_S:g} s",
            remedy=f"let it do nothing but define one{_last_words(result)}",
        )
    description: dict[str, Any] | None = result["answer"]
    if description is None:
        raise BadInputError(
            option="topology",
            problem=f"the process that ran {file} ended with status {result['status']} "
            f"before it had made a topology{_last_words(result)}",
        )
    if "error" in description:
        description["error"] += _last_words(result)
    return description


def _last_words(result: Mapping[str, Any]) -> str:
    """Return the last line that a file printed, for the end of a message."""
    lines = [line.strip() for line in str(result["said"]).splitlines() if line.strip()]
    return f"; it printed: {on_one_line(lines[-1])[-MOST_LETTERS:]}" if lines else ""
