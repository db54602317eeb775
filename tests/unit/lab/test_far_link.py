"""The memory of far links: room for what may be on its way."""

from __future__ import annotations

import os
from errno import EACCES
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import MachineLacksError
from farpath.lab import far_link
from farpath.planning.request import RunRequest
from topologies import lay_out


def test_datagrams_have_room_that_no_window_bounds() -> None:
    slow, fast = (
        far_link.slot_bytes(
            RunRequest(rtt="10s", rate="10Mbit", stack=f"udp:size=1472,rate={rate_bps}").plan(),
            window_s=0.6,
        )
        for rate_bps in (10_000_000, 10_000_000_000)
    )
    assert fast - slow >= 4 * 10_000_000_000 * 0.6 / 8 - 4 * 10_000_000 * 0.6 / 8


def test_a_machine_that_makes_no_memory_without_a_name_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    def refuse(_name: str, _flags: int) -> int:
        raise OSError(EACCES, os.strerror(EACCES))

    monkeypatch.setattr(os, "memfd_create", refuse)
    plan = RunRequest(rtt="50ms").plan()
    with (
        pytest.raises(MachineLacksError, match=r"memfd_create\(2\) says Permission denied; allow"),
        far_link.shared_memory(plan, lay_out(plan), tmp_path),
    ):
        pass
