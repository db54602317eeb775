"""The machine: what it lacks is named with the remedy, cores are not shared in haste."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path as FilePath
from types import SimpleNamespace

import pytest

from farpath.base.errors import MachineLacksError
from farpath.lab import machine

MIB = 1 << 20


class FileSystems:
    """A machine whose file systems are made up, each by free bytes and noexec."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free_bytes: dict[str, int] = {}
        self.noexec: set[str] = set()
        monkeypatch.setattr(os, "statvfs", self._statvfs)

    def _statvfs(self, directory: object) -> SimpleNamespace:
        name = str(directory)
        free = self.free_bytes.get(name, 1 << 40)
        flag = os.ST_NOEXEC if name in self.noexec else 0
        return SimpleNamespace(f_flag=flag, f_frsize=1, f_bavail=free, f_bfree=free, f_blocks=free)


@pytest.fixture
def file_systems(monkeypatch: pytest.MonkeyPatch) -> FileSystems:
    monkeypatch.delenv("TMPDIR", raising=False)
    return FileSystems(monkeypatch)


def test_the_guests_memory_lies_in_shared_memory_if_it_can(file_systems: FileSystems) -> None:
    assert machine.memory_directory(768 * MIB) == FilePath("/dev/shm")


def test_the_directory_named_by_tmpdir_comes_first(
    file_systems: FileSystems, monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert machine.memory_directory(768 * MIB) == tmp_path


def test_a_place_mounted_noexec_or_too_small_is_passed_over(file_systems: FileSystems) -> None:
    file_systems.noexec = {"/dev/shm"}
    assert machine.memory_directory(768 * MIB) == FilePath("/tmp")
    file_systems.noexec, file_systems.free_bytes = set(), {"/dev/shm": 767 * MIB}
    assert machine.memory_directory(768 * MIB) == FilePath("/tmp")


def test_without_any_place_each_ones_lack_is_named_with_the_remedy(
    file_systems: FileSystems, monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    file_systems.noexec = {"/dev/shm"}
    file_systems.free_bytes = {"/tmp": 64 * MIB}
    with pytest.raises(MachineLacksError) as caught:
        machine.memory_directory(768 * MIB)
    message = caught.value.message
    assert f"{tmp_path}/none is not a writable directory" in message
    assert "/dev/shm is mounted noexec" in message
    assert "/tmp has 64 MiB free of 768" in message
    assert "set TMPDIR to a directory with 768 MiB free" in message
    assert "\n" not in message


def test_a_shared_directory_is_fresh_each_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    one, other = machine.share_directory(), machine.share_directory()
    for share in (one, other):
        machine.make_share(share)
    assert sorted(tmp_path.iterdir()) == sorted([one, other])


def test_without_a_place_for_a_shared_directory_tmpdir_is_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "none"))
    with pytest.raises(MachineLacksError, match=r"no directory for a run's files.*set TMPDIR"):
        machine.make_share(machine.share_directory())


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath) -> tuple[int, int]:
    """A machine of two cores on which nothing runs: of numbers that no other process has."""
    cores = (2 * os.getpid(), 2 * os.getpid() + 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(cores))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(machine, "LOOK_S", 0.0)
    monkeypatch.setattr(machine, "_busy_ticks", dict)
    return cores


def test_the_idlest_core_is_taken_first(
    two_cores: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    idle, busy = two_cores
    looks = iter([{idle: 100, busy: 100}, {idle: 101, busy: 110}])
    monkeypatch.setattr(machine, "_busy_ticks", lambda: next(looks))
    with machine.reserved_cores(1) as [core]:
        assert core == idle


def test_two_runs_get_different_cores_and_a_third_shares(two_cores: tuple[int, int]) -> None:
    with (
        machine.reserved_cores(1) as [first],
        machine.reserved_cores(1) as [second],
        machine.reserved_cores(1) as [third],
    ):
        assert {first, second} == set(two_cores)
        assert third in two_cores


@pytest.mark.usefixtures("two_cores")
def test_the_runs_beside_a_run_are_those_that_hold_a_core_of_its_own() -> None:
    with machine.reserved_cores(1) as first, machine.reserved_cores(1) as second:
        assert (machine.runs_beside(first), machine.runs_beside(second)) == (0, 0)
        with machine.reserved_cores(1) as third:
            others = first if first == third else second
            assert (machine.runs_beside(third), machine.runs_beside(others)) == (1, 1)
        assert machine.runs_beside(first) == 0


@pytest.mark.usefixtures("two_cores")
def test_a_core_is_free_again_when_its_run_ends_even_badly() -> None:
    with machine.reserved_cores(1) as [first]:
        pass
    with pytest.raises(ValueError, match="run failed"), machine.reserved_cores(1) as [again]:
        raise ValueError("run failed")
    with machine.reserved_cores(1) as [last]:
        assert first == again == last


def test_runs_that_are_limited_to_one_core_get_different_ones(
    two_cores: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = set(two_cores)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(allowed))

    def allow(_pid: int, cores: Iterable[int]) -> None:
        allowed.clear()
        allowed.update(cores)

    monkeypatch.setattr(os, "sched_setaffinity", allow)
    with machine.limited_cores(1), machine.reserved_cores(2) as first:
        assert set(first) == allowed
        # Another process may use both cores again
        allow(0, two_cores)
        with machine.limited_cores(1), machine.reserved_cores(2) as second:
            assert {*first, *second} == set(two_cores)
    assert allowed == set(two_cores)


@pytest.mark.usefixtures("two_cores")
def test_too_many_runs_are_refused_with_their_number() -> None:
    with ExitStack() as runs:
        for _ in range(32):
            runs.enter_context(machine.reserved_cores(1))
        with pytest.raises(MachineLacksError, match="32 runs are under way"):
            runs.enter_context(machine.reserved_cores(1))


def test_this_kind_of_machine_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(shutil, "which", lambda tool: f"/usr/bin/{tool}")
    machine.check_machine()


@pytest.mark.parametrize(("system", "processor"), [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_another_kind_of_machine_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, system: str, processor: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    with pytest.raises(MachineLacksError, match=f"{system} on {processor}.*Linux on x86_64"):
        machine.check_machine()


@pytest.mark.parametrize("missing", sorted(machine.TOOLS))
def test_a_missing_tool_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == missing else tool)
    with pytest.raises(MachineLacksError, match=f"{missing} is missing: install .*util-linux"):
        machine.check_machine()


def test_the_processor_has_a_frequency_or_does_not_tell() -> None:
    mhz = machine.cpu_mhz()
    assert mhz is None or 100 < mhz < 10_000


def test_the_processor_has_a_name() -> None:
    assert machine.cpu_model().strip()


def test_a_lab_that_may_need_more_memory_than_is_free_is_refused_before_it_boots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine.check_memory(1, "a flow")
    monkeypatch.setattr(machine, "available_bytes", lambda: 4096 * MIB)
    machine.check_memory(4096 * MIB, "a flow")
    with pytest.raises(MachineLacksError) as caught:
        machine.check_memory(8192 * MIB, "100 flows with windows of 16 MiB")
    assert "4096 MiB of memory free and the lab may need 8192: 100 flows" in caught.value.message
    assert "take fewer flows" in caught.value.message


@pytest.mark.parametrize(
    ("name", "limits", "command"),
    [
        ("RLIMIT_NOFILE", (64, 64), "ulimit -n"),
        ("RLIMIT_AS", (500_000 << 10, -1), "ulimit -v"),
        ("RLIMIT_FSIZE", (512, -1), "ulimit -f"),
        ("RLIMIT_CPU", (2, -1), "ulimit -t"),
    ],
)
def test_a_limit_under_which_a_guest_would_wait_for_ever_is_refused(
    name: str, limits: tuple[int, int], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    enough = dict.fromkeys(machine.LEAST_LIMITS, (-1, -1)) | {"RLIMIT_NOFILE": (64, 1024)}
    found = enough | {name: limits}
    by_number = {getattr(resource, one): both for one, both in found.items()}
    monkeypatch.setattr(resource, "getrlimit", by_number.__getitem__)
    with pytest.raises(MachineLacksError, match=command):
        machine.check_limits()


def test_a_low_soft_limit_of_files_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        resource,
        "getrlimit",
        lambda number: (64, -1) if number == resource.RLIMIT_NOFILE else (-1, -1),
    )
    machine.check_limits()
