"""The machine of the host lab's long cases."""

from __future__ import annotations

import pytest

from farpath.qemu import Machine
from tests.hostlab.runs import load_modules


@pytest.fixture(scope="module", autouse=True)
def _modules(machine: Machine) -> None:
    """What a run loads is loaded before the first test looks for traces."""
    load_modules(machine)
