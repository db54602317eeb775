"""Mininet's command line in the lab, from a file and on a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT
from tests.support.processes import completed, interruptible

COMMAND = [sys.executable, "-m", "farpath", "shell", "--rtt=50ms", "--rate=100Mbit"]
EXEC = [sys.executable, "-m", "farpath", "exec", "--rtt=50ms", "--rate=100Mbit"]
PROMPT = b"mininet> "
INTERRUPT, END_OF_FILE = b"\x03", b"\x04"
LIMIT_S = 300.0


def environment(state: FilePath) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT), "XDG_STATE_HOME": str(state), "TERM": "dumb"}


class Terminal:
    """A shell on a terminal of the test's own."""

    def __init__(self, state: FilePath, command: Sequence[str] = COMMAND) -> None:
        self.own, theirs = pty.openpty()
        self.process = subprocess.Popen(
            interruptible(command),
            cwd=state,
            env=environment(state),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(os.ttyname(theirs), os.O_RDWR)),
        )
        os.close(theirs)

    def read_until(self, mark: bytes) -> bytes:
        """What it prints up to and with a mark."""
        said, end_s = b"", time.monotonic() + LIMIT_S
        while mark not in said:
            assert select.select([self.own], [], [], end_s - time.monotonic())[0], said
            said += os.read(self.own, 65_536)
        return said

    def write(self, text: bytes) -> None:
        os.write(self.own, text)

    def interrupt_line(self) -> None:
        """Press Ctrl-C at the prompt until it says something.

        Python does not see a signal that arrives between the prompt and its wait for a key
        (Modules/readline.c checks for signals if one ends that wait).
        """
        self.write(INTERRUPT)
        while not select.select([self.own], [], [], 1.0)[0]:
            self.write(INTERRUPT)


@contextmanager
def terminal_with_shell(state: FilePath, command: Sequence[str] = COMMAND) -> Iterator[Terminal]:
    """A shell on a terminal; it ends with the block, whatever the block found."""
    terminal = Terminal(state, command)
    try:
        yield terminal
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.own)


def test_lines_of_a_file_run_in_order_and_the_clock_stands_between_them(tmp_path: FilePath) -> None:
    lines = (
        "nodes\nsender ping -c2 receiver\nsender date +%s.%N\nsender date +%s.%N\n"
        "sh tc qdisc show dev s2-eth2\nnonsense\npy 1 / 0\n"
    )
    ended = completed(COMMAND, input=lines, cwd=tmp_path, env=environment(tmp_path), check=True)
    said = ended.stdout
    assert re.search(r"available nodes are: *\npinger receiver s1 s2 s3 sender\n", said)
    assert said.count("ttl=64 time=50.0 ms") == 2
    first_s, second_s = (float(text) for text in re.findall(r"^\d{10}\.\d{9}$", said, re.M))
    assert 0 < second_s - first_s < 1e-3
    assert "qdisc bottleneck 1: root" in said
    assert "Unknown command: nonsense" in said
    assert "division by zero" in said
    assert not list((tmp_path / "results").iterdir())


def test_on_a_terminal_ctrl_c_interrupts_a_command_and_ctrl_d_ends(tmp_path: FilePath) -> None:
    with terminal_with_shell(tmp_path) as terminal:
        terminal.read_until(PROMPT)
        terminal.write(b"half a li")
        terminal.read_until(b"half a li")
        terminal.interrupt_line()
        terminal.read_until(PROMPT)
        terminal.write(b"sender ping -i 10 receiver\n")
        terminal.read_until(b"icmp_seq=3")
        terminal.write(INTERRUPT)
        assert b"ping statistics" in terminal.read_until(PROMPT)
        terminal.write(b"sender hostname -I\n")
        assert b"10.0.0." in terminal.read_until(PROMPT)
        terminal.write(END_OF_FILE)
        assert terminal.process.wait(LIMIT_S) == 0
    history = (tmp_path / "farpath" / "shell-history").read_text()
    assert "sender hostname -I" in history


def test_an_end_of_a_path_has_a_shell_that_keeps_its_state_beside_servers(
    tmp_path: FilePath,
) -> None:
    (tmp_path / "page").write_bytes(bytes(100_000))
    lines = (
        "cd /tmp; number=5\nif\necho $number $PWD $(hostname)\nfalse\necho status $?\n"
        "curl -4 -s -o got -w 'took %{time_total}\\n' http://server/page; wc -c got\n"
        "sleep 100 & echo begun\ndate +%s; sleep 10; date +%s\nkill $! && echo killed\nexit 7\n"
    )
    server = f"{sys.executable} -m http.server 80"
    command = [*EXEC, "--shell=sender", f"--server={server}"]
    ended = completed(command, input=lines, cwd=tmp_path, env=environment(tmp_path))
    assert ended.returncode == 7, ended.stderr
    mistake, *said = ended.stdout.splitlines()
    assert "yntax error" in mistake
    took_s = float(said[2].removeprefix("took "))
    # A connection, the request, and the page in a window that grows
    assert 0.1 < took_s < 0.4
    first_s, second_s = map(int, said[5:7])
    assert second_s - first_s == 10
    expected = ["5 /tmp sender", "status 1", said[2], "100000 got", "begun"]
    assert said == [*expected, str(first_s), str(second_s), "killed"]
    # What a server says is there too, and no record is left
    assert '"GET /page' in ended.stderr
    assert not list((tmp_path / "results").iterdir())


def test_ctrl_c_interrupts_a_line_of_the_shell_of_an_end_and_not_the_shell(
    tmp_path: FilePath,
) -> None:
    with terminal_with_shell(tmp_path, [*EXEC, "--root=lab", "--shell=receiver"]) as terminal:
        terminal.read_until(b"receiver> ")
        terminal.write(b"ping -i 10 client\n")
        terminal.read_until(b"icmp_seq=3")
        terminal.write(INTERRUPT)
        assert b"ping statistics" in terminal.read_until(b"receiver> ")
        terminal.write(END_OF_FILE)
        assert terminal.process.wait(LIMIT_S) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no client is given"),
        (["--shell=here"], "it must be one of sender, receiver"),
        (["--shell=sender", "true"], "there is a client beside it"),
        (["--shell=sender", "--seeds=2"], "there are 2 paths"),
        (["--shell=sender", "--drop=packets:1"], "begin with a client"),
        (["--shell=sender", "--json"], "it leaves no record"),
    ],
)
def test_what_a_shell_of_an_end_cannot_have_is_refused_in_a_line(
    tmp_path: FilePath, words: list[str], message: str
) -> None:
    done = completed([*EXEC, *words], cwd=tmp_path, env=environment(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[-1]
