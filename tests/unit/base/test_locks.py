"""Leftovers: what dead runs left goes, what living runs hold stays."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path as FilePath

import pytest

from farpath.base import locks
from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.project import PROJECT
from farpath.lab import cleanup, host_kernel
from farpath.lab import cleanup as cleaning
from farpath.spec.protocol import CODE_DIR

#: A maker of a record that is killed while it works.
MAKER = """
import os, signal, sys
from pathlib import Path
from farpath.base import locks
with locks.fresh_partial(Path(sys.argv[1])) as partial:
    (partial / "flows.parquet").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def own_place_for_temporary_files(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cleaning looks nowhere else."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))


@pytest.fixture
def out(tmp_path: FilePath) -> FilePath:
    """A place for records."""
    place = tmp_path / "results"
    place.mkdir()
    return place


def killed_maker(out: FilePath) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAKER, str(out)],
        env={"PYTHONPATH": str(PROJECT)},
        check=False,
    )
    assert done.returncode == -9


def test_a_killed_makers_record_is_removed_and_a_living_ones_is_not(out: FilePath) -> None:
    killed_maker(out)
    (left,) = out.iterdir()
    with locks.fresh_partial(out) as alive:
        assert locks.remove_stale_partials(out) == [left]
        assert list(out.iterdir()) == [alive]


def test_a_record_in_the_making_is_gone_after_it(out: FilePath) -> None:
    with locks.fresh_partial(out) as partial:
        (partial / "file").write_text("x")
    assert list(out.iterdir()) == []


def test_a_partial_that_became_the_record_stays(out: FilePath) -> None:
    with locks.fresh_partial(out) as partial:
        partial.rename(out / "record")
    assert (out / "record").is_dir()


def test_shared_directories_are_known_by_the_guests_code(out: FilePath) -> None:
    dead, alive, other = (out / f"farpath-{name}" for name in ("dead1234", "alive123", "other_12"))
    for place in (dead, alive):
        (place / CODE_DIR / cleanup.GUEST).mkdir(parents=True)
    (other / "farpath" / "guest").mkdir(parents=True)
    with locks.hold_directory(alive):
        assert cleanup.remove_stale_shares(out) == [dead]
    assert sorted(out.iterdir()) == [alive, other]


def test_a_lock_opened_before_its_holder_removes_it_is_held_by_one(
    out: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, flock = out / ".record-0123456789.lock", fcntl.flock
    with ExitStack() as first:
        first.enter_context(locks.exclusive_lock(lock, "works"))

        def released_before(handle: int, operation: int) -> None:
            """The second has opened the file; now the first removes it and lets go."""
            first.close()
            flock(handle, operation)

        monkeypatch.setattr(fcntl, "flock", released_before)
        with (
            locks.exclusive_lock(lock, "works"),
            pytest.raises(BadInputError, match="works already"),
            locks.exclusive_lock(lock, "works"),
        ):
            pass
    assert not lock.exists()


def test_a_lock_taken_while_it_is_swept_is_held_by_one(
    out: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, unlink = out / ".record-0123456789.lock", FilePath.unlink
    lock.touch()
    with ExitStack() as holders:

        def taken_before(place: FilePath, missing_ok: bool = False) -> None:
            """Whoever sweeps has seen that nobody holds it; now somebody tries to."""
            monkeypatch.setattr(FilePath, "unlink", unlink)
            with suppress(BadInputError):
                holders.enter_context(locks.exclusive_lock(lock, "works"))
                count.append("during")
            place.unlink(missing_ok)

        count: list[str] = []
        monkeypatch.setattr(FilePath, "unlink", taken_before)
        locks.remove_stale_locks(out)
        with suppress(BadInputError):
            holders.enter_context(locks.exclusive_lock(lock, "works"))
            count.append("after")
        assert len(count) == 1


def test_a_lock_that_somebody_else_put_in_the_place_of_ones_own_stays(out: FilePath) -> None:
    lock = out / ".record-0123456789.lock"
    with locks.exclusive_lock(lock, "works"):
        lock.unlink()
        lock.write_text("another's")
    assert lock.read_text() == "another's"


def test_a_half_made_record_is_held_while_it_is_removed(
    out: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_maker(out)
    free: list[bool] = []
    monkeypatch.setattr(locks.shutil, "rmtree", lambda place, **_: free.append(is_free(place)))
    locks.remove_stale_partials(out)
    assert free == [False]


def is_free(place: FilePath) -> bool:
    """Whether a lock of a file or directory is to be had."""
    handle = os.open(place, os.O_RDONLY)
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(handle)
        return True
    os.close(handle)
    return False


def test_a_fifo_in_the_place_of_a_lock_is_refused_and_nobody_waits_for_it(out: FilePath) -> None:
    lock = out / ".record-0123456789.lock"
    os.mkfifo(lock)
    assert locks.remove_stale_locks(out) == [lock]
    os.mkfifo(lock)
    with pytest.raises(BadInputError, match="no regular file"), locks.exclusive_lock(lock, "works"):
        pass


def test_what_is_merely_called_like_a_leftover_stays(out: FilePath) -> None:
    mine = [out / ".rustup.lock", out / ".partial-thoughts", out / "farpath-my-study"]
    mine[0].write_text("")
    for place in mine[1:]:
        (place / CODE_DIR / cleanup.GUEST).mkdir(parents=True)
    outside = out.parent / "outside"
    (outside / CODE_DIR / cleanup.GUEST).mkdir(parents=True)
    links = [out / ".partial-123-abcd1234", out / "farpath-abcd1234"]
    for link in links:
        link.symlink_to(outside)
    assert locks.remove_stale_locks(out) == []
    assert locks.remove_stale_partials(out) == []
    assert cleanup.remove_stale_shares(out) == []
    assert sorted(out.iterdir()) == sorted([*mine, *links])
    assert (outside / CODE_DIR).exists()


def test_cleaning_says_what_it_removed(out: FilePath) -> None:
    killed_maker(out)
    (out / ".cern-htcp-10s-2004-seed1-virtual-0123456789.lock").write_text("123")
    record = out / "record"
    record.mkdir()
    done = cleaning.clean(out)
    assert [sentence.startswith(f"removed {out}/.") for sentence in done] == [True, True]
    assert list(out.iterdir()) == [record]


def test_cleaning_gives_back_what_a_killed_host_lab_changed(
    out: FilePath, kernel: dict[str, FilePath], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    state = host_kernel.KernelState(out / host_kernel.STATE_FILE)
    state.set({"net.ipv4.tcp_mem": "4 5 6"})
    assert cleaning.clean(out) == ["net.ipv4.tcp_mem is 1 2 3 again"]
    assert kernel["net.ipv4.tcp_mem"].read_text() == "1 2 3\n"
    assert not state.file.exists()


def test_only_root_can_give_settings_back(out: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    host_kernel.KernelState(out / host_kernel.STATE_FILE).save()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MachineLacksError, match="only root"):
        cleaning.clean(out)


def test_cleaning_a_place_that_is_not_there_does_nothing(out: FilePath) -> None:
    assert cleaning.clean(out / "none") == []
