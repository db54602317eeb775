"""A guest's packets follow from its plan and seed, and not from its work before they start."""

from __future__ import annotations

from pathlib import Path as FilePath
from zipfile import ZipFile

import pytest

from farpath.lab import guest_code
from farpath.lab.artifacts.images import find_images
from farpath.spec.plan import Plan
from farpath.spec.protocol import CODE_DIR, GUEST_CODE
from tests.support.networks import short_plan

from .conftest import RunPlan

MAIN = "farpath/guest/__main__.py"
#: Work of a guest: random numbers and memory, and readings of the clock.
WORK, READINGS = "os.urandom(5000), bytearray(1 << 22)", "[time.monotonic_ns() for _ in range(777)]"
#: Lines of the guest's main program: before the network is built, and behind that.
START, BUILT = "system.start_second()", 'send_event("network-ready")'


@pytest.fixture(scope="module")
def plan() -> Plan:
    """A plan whose packets depend on the kernel's random numbers at both ends of its queue."""
    return short_plan(stack="bbr+cubic", queue="fq_codel", region="5s", background="20%")


@pytest.fixture(scope="module")
def fingerprint(plan: Plan, run_once: RunPlan) -> str:
    """The fingerprint of its run."""
    return run_once(plan).fingerprint


def test_a_guest_gets_its_code_compiled_by_its_own_python(tmp_path: FilePath) -> None:
    root = (find_images().lab / "rootfs").resolve()
    guest_code.write_code(tmp_path, root)
    with ZipFile(tmp_path / CODE_DIR / GUEST_CODE) as archive:
        compiled = [name for name in archive.namelist() if name.endswith(".pyc")]
    assert len(compiled) == len(guest_code.guest_files())


@pytest.mark.parametrize(
    ("place", "more"),
    [(START, f"{READINGS}, {WORK}; {START}"), (BUILT, f"{BUILT}; {WORK}")],
    ids=["before the network", "behind it"],
)
def test_a_guest_that_does_more_before_its_packets_is_the_same_run(
    plan: Plan,
    fingerprint: str,
    place: str,
    more: str,
    run_plan: RunPlan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = guest_code.guest_files

    def files() -> dict[str, bytes]:
        found = plain()
        main = found[MAIN].decode()
        assert main.count(place) == 1
        return {**found, MAIN: main.replace(place, more).encode()}

    monkeypatch.setattr(guest_code, "guest_files", files)
    assert run_plan(plan).fingerprint == fingerprint


def test_a_guest_that_compiles_its_code_itself_is_the_same_run(
    plan: Plan, fingerprint: str, run_plan: RunPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bytes:
        raise PermissionError

    monkeypatch.setattr(guest_code, "_compiled_archive", refuse)
    assert run_plan(plan).fingerprint == fingerprint
