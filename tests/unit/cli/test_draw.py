"""farpath draw: a picture or text of a run."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import pytest

from tests.support.command_line import Farpath


def test_a_drawing_is_a_file_or_text_and_takes_the_options_of_a_run(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    file = tmp_path / "lot.png"
    ended = farpath("draw", "--topology=parking-lot:2", "--rtt=50ms", f"--out={file}")
    assert ended.status == 0
    assert file.read_bytes().startswith(b"\x89PNG")
    ended = farpath("draw", "--rtt", "50ms", "--senders=rtt=60ms", "--text", "--schedule=together")
    assert "s3 -> s1: delay 5 ms" in ended.out
    assert "sender2 -> receiver, RTT 60 ms" in ended.out


def test_an_rtt_alone_draws_the_path_that_has_it(farpath: Farpath) -> None:
    assert "path cern" in farpath("draw", "--text", "--rtt=164ms").out
    assert "path custom" in farpath("draw", "--text", "--rtt=164ms", "--rate=100Mbit").out


def test_an_image_that_a_run_could_not_read_is_refused_without_being_unpacked(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    os.mkfifo(tmp_path / "fifo.tar")
    for name in (tmp_path / "fifo.tar", tmp_path / "none.tar", "/dev/zero"):
        ended = farpath("draw", "--rtt=50ms", f"--sender-image={name}", "--text")
        assert (ended.status, ended.out) == (2, "")
        assert f"--sender-image: '{name}' is no directory or file" in ended.err
    ended = farpath("draw", "--rtt=50ms", f"--sender-image=none={tmp_path}", "--text")
    assert (ended.status, ended.out) == (2, "")
    assert "there is no host 'none'" in ended.err
    assert farpath("draw", "--rtt=50ms", f"--sender-image={tmp_path}", "--text").status == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rtt=50"], "--rtt is '50'"),
        (["--colour=red"], "No such option: --colour"),
        (["--delay=5ms"], "No such option: --delay; write --rtt=100ms"),
        (["--rtt=50ms", "--record=results/none"], "a record has its own options; leave out --rtt"),
        (["--rtt=50ms", "--out=lot.pdf"], "it must end with .png or .svg"),
    ],
)
def test_a_drawing_of_nothing_is_refused(
    farpath: Farpath, options: list[str], message: str
) -> None:
    ended = farpath("draw", *options)
    assert ended.status == 2
    assert message in ended.err
    assert len(ended.err.strip().splitlines()) == 1
