"""A tc that stays open: it carries out lines and answers at once, without a new process each."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from farpath.guest.network import network_namespace


class TcProcess:
    """A ``tc -batch`` for one port, with statistics and output in JSON.

    ``options``: further options of tc, as ``-r`` for limits as they were set. ``host_pid``: a
    process in the namespace of the host whose port it is; None for a switch's.
    """

    def __init__(self, port: str, host_pid: int | None = None, options: Sequence[str] = ()) -> None:
        self.port = port
        with network_namespace(host_pid):
            self.process = subprocess.Popen(
                ["stdbuf", "-oL", "tc", *options, "-s", "-j", "-batch", "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )

    def show(self, *lines: str) -> bytes:
        """Carry out lines, and return the line that shows the port's qdiscs afterwards.

        It is empty if tc has ended, as it does at a line that it cannot carry out.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        text = "".join(f"{line}\n" for line in (*lines, f"qdisc show dev {self.port}"))
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def close(self) -> None:
        """End tc."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
