"""``farpath interop`` refuses bad input in one line, before anything boots."""

from __future__ import annotations

import pytest

from tests.support.command_line import Farpath


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["tcp", "--case=handshak"], "there is no such case (did you mean handshake?)"),
        (["tcp", "--case=keyupdate"], "that case is not made here: the keys"),
        (["tcp", "--case=transfercorruption"], "TCP meets TCP alone, and has no damaged packets"),
        (["./no.tar"], "there is no such image"),
        (["tcp", "tcp"], "there are two endpoints tcp; give one of them another name, as in tcp2="),
        (["machine:nothing-there"], "'nothing-there' is no program in PATH"),
        (["machine:"], "give a command"),
        (["x="], "give an image"),
        (["tcp", "--server=quiche"], "there is no such endpoint; the endpoints are tcp"),
    ],
)
def test_bad_input_is_one_line(farpath: Farpath, words: list[str], line: str) -> None:
    ended = farpath("interop", *words)
    assert ended.status == 2
    assert line in ended.err
    assert "Traceback" not in ended.err
