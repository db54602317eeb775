"""Suite guest: runs the scripts of a suite in a guest of their own, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.lab import machine, process, uml
from farpath.lab.artifacts.images import Images
from farpath.lab.process import Guest
from farpath.lab.watchdog import VirtualClock
from farpath.spec.protocol import PACKETDRILL_DIR

#: Where the suite is in the guest's directory.
SUITE = FilePath("suite")
#: Memory of the guest in bytes.
GUEST_BYTES = 512 << 20


def run_in_guest(
    images: Images,
    log: FilePath,
    fill: Callable[[FilePath], None],
    note: Callable[[Mapping[str, Any]], None],
) -> None:
    """Run the scripts of a directory in a new guest.

    ``fill``: fills the directory, with ``ORDERS`` among its files. ``note``: called with the event
    of each script that has ended. Raises BadInputError and MachineLacksError before the guest
    boots, and LabFailedError if it fails.
    """

    def handle_event(event: dict[str, Any]) -> None:
        if event["event"] == "script":
            note(event)

    machine.check_machine()
    environment = uml.guest_environment(images, 1, GUEST_BYTES)
    with machine.reserved_cores(1) as [core], process.shared_directory(images, None) as share:
        fill(share / PACKETDRILL_DIR)
        command = uml.guest_command(images, core, GUEST_BYTES, ipv6=True)
        clock = VirtualClock(images.linux_elf)
        process.run_guests([Guest(command, environment, clock)], share, log, handle_event)
