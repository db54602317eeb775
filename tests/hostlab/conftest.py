"""The host lab for tests: in a QEMU machine with Debian's stock kernel, booted once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostlab.machine import PROJECT, Machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs the machine."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.hostlab)


def _output(*command: str) -> Path:
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The machine; HOST_LAB_ROOT is another root for it, a directory or an image."""
    given = os.environ.get("HOST_LAB_ROOT")
    root = Path(given).resolve() if given else _output("images/qemu/root")
    sender = _output("images/rootfs", "sender")
    machine = Machine(root, tmp_path_factory.mktemp("jobs"), sender)
    try:
        yield machine
    finally:
        machine.close()
