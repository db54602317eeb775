"""The error of programs that take too much real time."""

from __future__ import annotations

import pickle
from pathlib import Path as FilePath

from farpath.lab.exec.program_run import WallTimeoutError


def test_a_worker_can_send_it_whole() -> None:
    error = WallTimeoutError("no end within `wall_timeout=5s`", FilePath("results/kept"), 3.5)
    sent = pickle.loads(pickle.dumps(error))
    assert isinstance(sent, WallTimeoutError)
    assert (sent.text, sent.output, sent.took_s) == (error.text, FilePath("results/kept"), 3.5)
