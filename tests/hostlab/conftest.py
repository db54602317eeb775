"""The host lab for tests: in a QEMU machine with Debian's stock kernel, booted once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from farpath.lab import qemu
from farpath.lab.qemu import Machine, Speed

#: 500 million instructions a second. The lab's traffic at 10 Mbit/s keeps the machine busy
#: for a thirtieth of the time.
SPEED = Speed(cores=2, instruction_ns=2)
#: All tests of a file together, in real time, on a host that is busy with other things.
LIMIT_S = 2700


def made_of(stacks: bool) -> qemu.Parts:
    """A machine's parts; HOST_LAB_ROOT is another root for it, a directory or an image."""
    root = os.environ.get("HOST_LAB_ROOT")
    return qemu.parts(Path(root).resolve() if root else None, stacks)


@pytest.fixture(scope="package")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The machine, with the stacks of its own kernel."""
    with Machine(made_of(False), tmp_path_factory.mktemp("jobs"), SPEED, LIMIT_S) as machine:
        yield machine
