"""Campaigns on this machine: what a run says is in its log."""

from __future__ import annotations

import logging
import os
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.runs import campaign


def test_a_run_and_its_programs_say_everything_in_its_log(
    tmp_path: FilePath, capfd: pytest.CaptureFixture[str]
) -> None:
    def make() -> None:
        os.system("echo a program")
        logging.getLogger("farpath.lab").warning("a message")
        raise LabFailedError("the guest hangs", "the console's end")

    log = tmp_path / "run.log"
    with pytest.raises(LabFailedError), campaign.said_in(log):
        make()
    assert log.read_text().splitlines() == [
        "a program",
        "a message",
        "farpath: the guest hangs",
        "  | the console's end",
    ]
    os.system("echo afterwards")
    assert capfd.readouterr().out == "afterwards\n"
