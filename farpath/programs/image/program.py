"""Image: the program of a user's OCI image, which has iperf3's command line and report.

It may use the kernel's TCP or bring a transport, and need not report retransmissions.
"""

from __future__ import annotations

from farpath.programs import program
from farpath.programs.program import Program
from farpath.spec.stack import IMAGE


class Image(Program):
    """The entry point of a user's image."""

    name = IMAGE
    rank = 40
    transport = program.UNKNOWN


PROGRAM = Image()
