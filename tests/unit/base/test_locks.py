"""Locks: what dead runs left goes, what living runs hold stays."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import ExitStack, suppress
from pathlib import Path as FilePath

import pytest

from farpath.base import locks
from farpath.base.errors import BadInputError
from tests.support.leftovers import killed_maker


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


def test_a_partial_that_a_clean_up_removes_before_it_is_locked_is_made_again(
    out: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = os.mkdir, []

    def swept(directory: FilePath, mode: int) -> None:
        make(directory, mode)
        made.append(directory)
        if len(made) == 1:
            assert locks.remove_stale_partials(out) == made

    monkeypatch.setattr(os, "mkdir", swept)
    with locks.fresh_partial(out) as partial:
        assert [partial] == made[1:] == list(out.iterdir())


def test_a_signal_while_the_directory_is_made_leaves_none(
    out: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir

    def interrupted(directory: FilePath, mode: int) -> None:
        make(directory, mode)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), locks.fresh_partial(out):
        pass
    assert list(out.iterdir()) == []


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
    monkeypatch.setattr(shutil, "rmtree", lambda place, **_: free.append(is_free(place)))
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
    with (
        pytest.raises(BadInputError, match="not a regular file"),
        locks.exclusive_lock(lock, "works"),
    ):
        pass
