"""Bare host: programs of the guest's own in the network namespace of an end host."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from typing import IO

from farpath.guest.network import network_namespace
from farpath.tools.commands import note


class BareHost:
    """An end host without a container: its programs see the guest's files.

    ``pid``: a process in its network namespace.
    """

    title = ""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def start(
        self,
        arguments: list[str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        environment: Mapping[str, str] | None = None,
        written: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a command with its output in the given files; it may write where it likes."""
        note(arguments)
        with network_namespace(self.pid):
            return subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, **(environment or {})},
            )
