"""Cleaning: what dead runs left goes, and what a host lab changed is given back."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path as FilePath

import pytest

from farpath.base import locks
from farpath.base.errors import MachineLacksError
from farpath.lab import cleanup, guest_code, host_kernel
from farpath.lab import cleanup as cleaning
from farpath.lab.guest_code import write_code
from farpath.spec.protocol import CODE_DIR
from tests.support.leftovers import killed_maker


@pytest.fixture(autouse=True)
def own_place_for_temporary_files(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cleaning looks nowhere else."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))


def test_shared_directories_are_known_by_the_guests_code(out: FilePath) -> None:
    dead, alive, other = (out / f"farpath-{name}" for name in ("dead1234", "alive123", "other_12"))
    for directory in (dead, alive):
        directory.mkdir()
        write_code(directory, None)
    (other / "farpath" / "guest").mkdir(parents=True)
    with locks.hold_directory(alive):
        assert cleanup.remove_stale_shares(out) == [dead]
    assert sorted(out.iterdir()) == [alive, other]


def test_a_directory_whose_maker_was_killed_while_it_compiled_the_code_is_removed(
    out: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = out / "farpath-dead1234"
    begun.mkdir()

    def killed(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(guest_code, "_compiled_archive", killed)
    with pytest.raises(KeyboardInterrupt):
        write_code(begun, FilePath("/"))
    assert cleanup.remove_stale_shares(out) == [begun]


def test_what_is_merely_called_like_a_leftover_stays(out: FilePath) -> None:
    mine = [out / ".rustup.lock", out / ".partial-thoughts", out / "farpath-my-study"]
    mine[0].write_text("")
    outside = out.parent / "outside"
    for directory in (*mine[1:], outside):
        directory.mkdir()
        write_code(directory, None)
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
