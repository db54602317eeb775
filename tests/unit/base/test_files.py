"""Files: what the file system refuses is one line, and nothing that was there is lost."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import (
    apply_umask,
    replace_directory,
    resource_errors,
    user_errors,
    write_bytes,
)


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    former = os.umask(mask)
    try:
        yield
    finally:
        os.umask(former)


def _make(kind: str, file: FilePath) -> None:
    if kind == "FIFO":
        os.mkfifo(file)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(file))
    elif kind == "directory":
        file.mkdir()
    else:
        try:
            os.mknod(file, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root makes devices")


def test_only_what_a_user_can_mend_is_said_to_be_a_files_fault(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="File name too long"), resource_errors():
        (tmp_path / ("n" * 300)).stat()
    with pytest.raises(FileNotFoundError), resource_errors():
        (tmp_path / "none").read_text()
    with pytest.raises(MachineLacksError, match="no space"), resource_errors():
        raise OSError(28, "No space left on device", "/some/file")


def test_a_signal_while_a_file_is_opened_leaves_the_former_file_alone(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.csv").write_text("old")

    def interrupted(file: FilePath, _mode: str) -> None:
        file.touch(exist_ok=False)
        raise KeyboardInterrupt

    monkeypatch.setattr(FilePath, "open", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "table.csv", b"new")
    monkeypatch.undo()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_a_directory_in_the_place_of_a_file_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="cannot be written"):
        write_bytes(FilePath("/"), b"new")
    with pytest.raises(BadInputError, match="cannot be written"):
        write_bytes(tmp_path, b"new")


@pytest.mark.parametrize("kind", ["FIFO", "socket", "directory", "device"])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_regular_file_is_never_replaced_by_one(
    tmp_path: FilePath, kind: str, linked: bool
) -> None:
    there, name = tmp_path / "there", tmp_path / ("link" if linked else "there")
    _make(kind, there)
    if linked:
        name.symlink_to(there)
    mode = there.stat().st_mode
    with pytest.raises(BadInputError, match=f"cannot be written: it is a {kind}") as refused:
        write_bytes(name, b"new")
    assert "\n" not in refused.value.message
    assert (there.stat().st_mode, name.is_symlink()) == (mode, linked)
    assert {file.name for file in tmp_path.iterdir()} == {there.name, name.name}


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/2", "link"])
def test_a_stream_of_a_process_is_no_place_for_a_file(tmp_path: FilePath, name: str) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/stderr")
    with pytest.raises(BadInputError, match="a stream of a process, and results go to stdout"):
        write_bytes(link if name == "link" else FilePath(name), b"new")
    assert link.is_symlink()


def test_a_hyphen_is_no_file_to_write(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInputError, match="'-' is no file: results go to stdout without it"):
        write_bytes(FilePath("-"), b"new")
    with pytest.raises(BadInputError, match="'-' is no file"):
        write_bytes(FilePath("-") / "table.csv", b"new")
    with pytest.raises(BadInputError, match="'-' is no file"), user_errors(FilePath("-")):
        FilePath("-").mkdir()
    assert not list(tmp_path.iterdir())


def test_a_link_to_a_file_is_replaced_and_the_file_stays(tmp_path: FilePath) -> None:
    precious, link = tmp_path / "precious", tmp_path / "table.csv"
    precious.write_text("old")
    link.symlink_to(precious)
    write_bytes(link, b"new")
    assert (link.is_symlink(), link.read_text(), precious.read_text()) == (False, "new", "old")
    dangling = tmp_path / "dangling.csv"
    dangling.symlink_to(tmp_path / "none")
    write_bytes(dangling, b"new")
    assert (dangling.read_text(), (tmp_path / "none").exists()) == ("new", False)


@pytest.mark.parametrize("mask", [0o077, 0o027, 0o022, 0o002])
def test_files_and_records_have_the_mode_that_the_umask_leaves(
    tmp_path: FilePath, mask: int
) -> None:
    record = tmp_path / "record"
    with _umask(mask):
        write_bytes(tmp_path / "folder" / "table.csv", b"new")
        record.mkdir(0o700)
        apply_umask(record)
    modes = {file: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.rglob("*")}
    assert modes == {
        tmp_path / "folder": 0o777 & ~mask,
        tmp_path / "folder" / "table.csv": 0o666 & ~mask,
        record: 0o777 & ~mask,
    }


def test_a_limit_of_file_sizes_is_said_by_its_name(tmp_path: FilePath) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "file").write_bytes(bytes(2000))
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    # As Python's own start does, without which the signal ends the process
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, former[1]))
    try:
        with pytest.raises(MachineLacksError, match=r"raise the limit of file sizes.*ulimit -f"):
            write_bytes(tmp_path / "table.csv", bytes(2000))
        with pytest.raises(MachineLacksError, match="limit of file sizes"), resource_errors():
            (tmp_path / "other").write_bytes(bytes(2000))
        too_large = pytest.raises(MachineLacksError, match=r"cannot be written .*File too large")
        with too_large, resource_errors():
            shutil.copytree(tmp_path / "large", tmp_path / "copy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
        signal.signal(signal.SIGXFSZ, handler)
    assert not (tmp_path / "table.csv").exists()


def test_a_directory_replaces_nothing_but_a_directory(tmp_path: FilePath) -> None:
    fresh, target = tmp_path / "fresh", tmp_path / "site"
    fresh.mkdir()
    os.mkfifo(target)
    with pytest.raises(BadInputError, match="it is a FIFO, which would be replaced"):
        replace_directory(fresh, target)
    assert stat.S_ISFIFO(target.stat().st_mode)


def test_a_directory_that_cannot_take_its_place_leaves_what_was_there(tmp_path: FilePath) -> None:
    directory, fresh = tmp_path / "site", tmp_path / "fresh"
    directory.mkdir()
    (directory / "page").write_text("old")
    (fresh / "replaced").mkdir(parents=True)
    (fresh / "replaced" / "in the way").write_text("")
    with pytest.raises(OSError, match="not empty"):
        replace_directory(fresh, directory)
    assert (directory / "page").read_text() == "old"


def test_a_link_at_a_place_is_replaced_and_what_it_leads_to_stays(tmp_path: FilePath) -> None:
    precious, directory, fresh = tmp_path / "precious", tmp_path / "site", tmp_path / "fresh"
    for folder in (precious, fresh):
        folder.mkdir()
        (folder / "page").write_text(folder.name)
    directory.symlink_to(precious)
    replace_directory(fresh, directory)
    assert (directory / "page").read_text() == "fresh"
    assert sorted(file.name for file in directory.iterdir()) == ["page"]
    assert (precious / "page").read_text() == "precious"
