"""The console: every line reaches the log and the reader, and its end has a meaning."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import IO

import pytest

from farpath.base.errors import MachineLacksError
from farpath.lab.console import LINE_LETTERS, TAIL_LINES, Console, GuestEnd, guest_end

#: How a guest that was asked to power off ends.
GOOD_END = b'@farpath {"event": "done"}\nsysrq: Power Off\nreboot: Power down\n'
#: What the lab's kernel prints when its first process dies; no newline ends it.
PANIC = b"Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100"
#: The same when its memory is used up; vm.panic_on_oom is on in every guest.
OUT_OF_MEMORY = b"Kernel panic - not syncing: Out of memory: system-wide panic_on_oom is enabled"

#: Longer than any test waits for what was written.
PAUSE_S = 30.0

Open = Callable[..., tuple[Console, int]]


def known(tail: str) -> GuestEnd:
    """The verdict on a tail that has one."""
    end = guest_end(tail)
    assert end
    return end


@pytest.fixture
def log_file(tmp_path: FilePath) -> FilePath:
    return tmp_path / "console.log"


@pytest.fixture
def open_console(log_file: FilePath) -> Iterator[Open]:
    """A console on a pipe, and the pipe's writing end."""
    files: list[IO[bytes]] = []

    def make() -> tuple[Console, int]:
        reading, writing = os.pipe()
        stream, log = os.fdopen(reading, "rb"), log_file.open("wb")
        files.extend((stream, log))
        return Console(stream, log), writing

    yield make
    for file in files:
        file.close()


def _read(open_console: Open, *chunks: bytes) -> tuple[Console, list[str | None]]:
    """A console that was written to in these chunks and closed, and its lines."""
    console, writing = open_console()
    lines: list[str | None] = []
    reader = console.lines(PAUSE_S)
    for chunk in chunks:
        os.write(writing, chunk)
        if chunk.endswith(b"\n"):
            lines.extend(next(reader) for _ in range(chunk.count(b"\n")))
    os.close(writing)
    lines.extend(reader)
    return console, lines


def test_a_good_end_is_read_to_the_last_line_and_means_nothing_bad(open_console: Open) -> None:
    console, lines = _read(open_console, GOOD_END)
    assert lines == GOOD_END.decode().splitlines()
    assert guest_end(console.tail()) is None


def test_a_panic_is_told_from_its_console(open_console: Open) -> None:
    console, lines = _read(open_console, b'@farpath {"event": "progress", "t_s": 3.0}\n', PANIC)
    assert lines[-1] == PANIC.decode()
    assert known(console.tail()).meaning == "the guest's kernel panicked"


def test_a_panic_for_want_of_memory_is_told_as_want_of_memory(open_console: Open) -> None:
    console, _ = _read(open_console, OUT_OF_MEMORY)
    assert "ran out of memory" in known(console.tail()).meaning


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("check_ptrace : child exited with exitcode 127", "forbids ptrace"),
        ("Checking that ptrace can change system call numbers...failed", "forbids ptrace"),
        ("SECCOMP userspace requested but not functional!", "forbids seccomp"),
        ("/dev/shm must be not mounted noexec", "mounted noexec"),
    ],
)
def test_a_machine_that_refuses_the_guest_is_told(message: str, meaning: str) -> None:
    end = known(f"Core dump limits :\n{message}")
    assert meaning in end.meaning
    assert end.error is MachineLacksError


def test_a_far_link_without_room_is_told_as_too_many_packets() -> None:
    panic = "Kernel panic - not syncing: farlink: far0 has no room for the packets of one window"
    assert "on their way to another site" in known(panic).meaning


def test_a_line_cut_off_by_the_guests_death_is_handed_on(open_console: Open) -> None:
    _, lines = _read(open_console, b'first\n@farpath {"event": "pro')
    assert lines == ["first", '@farpath {"event": "pro']


def test_a_line_in_two_chunks_is_one_line(open_console: Open, log_file: FilePath) -> None:
    whole = "64 µs\r\nnext\n".encode()
    console, writing = open_console()
    os.write(writing, whole[:4])  # in the middle of µ
    reader = console.lines(PAUSE_S)
    os.write(writing, whole[4:])
    os.close(writing)
    assert list(reader) == ["64 µs", "next"]
    assert log_file.read_bytes() == whole


def test_each_line_of_one_of_several_sites_says_which(log_file: FilePath) -> None:
    with log_file.open("wb") as log:
        for site, chunks in (("site of sender", (b"fi", b"rst\nsec")), ("site of receiver", ())):
            reading, writing = os.pipe()
            with os.fdopen(reading, "rb") as stream:
                lines = Console(stream, log, site).lines(PAUSE_S)
                for chunk in (*chunks, b"ond\n", PANIC):
                    os.write(writing, chunk)
                os.close(writing)
                assert list(lines)[-1] == PANIC.decode()
    panic = PANIC.decode()
    assert log_file.read_text().splitlines() == [
        "site of sender: first", "site of sender: second", f"site of sender: {panic}",
        "site of receiver: ond", f"site of receiver: {panic}",
    ]  # fmt: skip


def test_bytes_that_are_no_text_do_not_end_a_run(open_console: Open) -> None:
    _, lines = _read(open_console, b"\xff\xfe\n")
    assert lines == ["\ufffd\ufffd"]


def test_a_console_without_a_word_has_no_lines(open_console: Open, log_file: FilePath) -> None:
    console, lines = _read(open_console)
    assert (lines, console.tail(), log_file.read_bytes()) == ([], "", b"")


def test_the_tail_has_the_beginning_of_a_long_line(open_console: Open) -> None:
    console, (line,) = _read(open_console, b"@farpath " + b"x" * 5000)
    assert line == "@farpath " + "x" * 5000
    assert console.tail() == line[:LINE_LETTERS] + " ..."


def test_the_tail_holds_the_last_lines_only(open_console: Open) -> None:
    console, _ = _read(open_console, b"".join(b"line %d\n" % k for k in range(3 * TAIL_LINES)))
    tail = console.tail().splitlines()
    assert len(tail) == TAIL_LINES
    assert tail[-1] == f"line {3 * TAIL_LINES - 1}"


def test_silence_is_handed_on_as_none_and_what_comes_after_it_too(open_console: Open) -> None:
    console, writing = open_console()
    lines = console.lines(0.01)
    os.write(writing, b"first\n")
    assert [next(lines), next(lines), next(lines)] == ["first", None, None]
    os.write(writing, b"second\n")
    os.close(writing)
    assert list(lines) == ["second"]


def test_the_log_is_complete_even_if_the_reader_raises(
    open_console: Open, log_file: FilePath
) -> None:
    console, writing = open_console()
    os.write(writing, GOOD_END)
    os.close(writing)

    def fail_at_the_first() -> None:
        for line in console.lines(PAUSE_S):
            raise ValueError(line)

    with pytest.raises(ValueError, match="done"):
        fail_at_the_first()
    assert log_file.read_bytes() == GOOD_END


def test_the_log_holds_every_byte_as_it_came(open_console: Open, log_file: FilePath) -> None:
    _read(open_console, b"one\r\n", b"\x1b[35mtwo\xff\n", PANIC)
    assert log_file.read_bytes() == b"one\r\n\x1b[35mtwo\xff\n" + PANIC
