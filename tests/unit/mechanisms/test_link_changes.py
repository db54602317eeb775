"""Changes of links in a run: a change that was late, missing or another fails the run."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.mechanisms.changes.carried import check_carried, link_changes
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan

PLAN = RunRequest(
    rtt="50ms", rate="80Mbit,2s:16Mbit", buffer="1MB", stack="cubic", time="5s"
).plan()
PORT = "s2-eth2"


def _link(rate_bps: int = 16_000_000, limit_bytes: int = 1_000_000) -> dict[str, Any]:
    options = {"rate_bps": rate_bps, "limit_bytes": limit_bytes}
    return {"kind": "bottleneck", "handle": "1:", "root": True, "options": options}


def _answer(raw: FilePath, *changes: tuple[float, dict[str, Any]]) -> None:
    lines = [f"{done_s:.9f} {json.dumps([qdisc])}\n" for done_s, qdisc in changes]
    (raw / f"changes-{PORT}.txt").write_text("".join(lines))


def test_changes_come_with_their_times_and_what_was_read_back(tmp_path: FilePath) -> None:
    _answer(tmp_path, (2.00001, _link()))
    change = {"port": PORT, "at_s": 2.0, "done_s": 2.00001, "rate_bps": 16_000_000}
    assert link_changes(tmp_path, PLAN) == {"link_changes": [change]}


@pytest.mark.parametrize(
    ("done_s", "qdisc", "difference"),
    [
        (2.00001, _link(rate_bps=8_000_000), "rate_bps is 8000000, not 16000000"),
        (2.00001, _link(limit_bytes=5), "limit_bytes is 5, not 1000000"),
        (2.01, _link(), "it was made at 2.010000000 s"),
        (1.99, _link(), "it was made at 1.990000000 s"),
    ],
)
def test_a_change_that_is_not_as_planned_fails_the_run(
    tmp_path: FilePath, done_s: float, qdisc: dict[str, Any], difference: str
) -> None:
    _answer(tmp_path, (done_s, qdisc))
    with pytest.raises(CheckFailedError, match=f"change of {PORT} at 2 s.*{difference}"):
        link_changes(tmp_path, PLAN)


def test_a_missing_change_fails_the_run(tmp_path: FilePath) -> None:
    with pytest.raises(LabFailedError, match=r"the lab left no changes-s2-eth2\.txt"):
        link_changes(tmp_path, PLAN)
    _answer(tmp_path)
    with pytest.raises(CheckFailedError, match="s2-eth2 changed 0 times in the run, not 1"):
        link_changes(tmp_path, PLAN)


def test_a_plan_without_changes_has_no_entry(tmp_path: FilePath) -> None:
    plan = RunRequest(rtt="50ms", rate="80Mbit", stack="cubic", time="5s").plan()
    assert link_changes(tmp_path, plan) == {}
    check_carried(tmp_path, plan)


def _samples(raw: FilePath, *sent: tuple[float, int, int]) -> None:
    lines = []
    for t_s, sent_bytes, packets in sent:
        root = {"root": True, "backlog": 0, "qlen": 0, "drops": 0, "bytes": sent_bytes}
        lines.append(f"{t_s:.6f} {json.dumps([{**root, 'packets': packets}])}\n")
    (raw / "queue.txt").write_text("".join(lines))


def test_a_bottleneck_carries_no_more_than_the_integral_of_its_rate(tmp_path: FilePath) -> None:
    # 10 MB in a second before the change, 2 MB behind it
    _samples(tmp_path, (1.0, 0, 0), (2.0, 10_000_000, 0), (3.0, 12_000_000, 0))
    check_carried(tmp_path, PLAN)
    _samples(tmp_path, (1.0, 0, 0), (2.0, 10_000_000, 0), (3.0, 12_020_000, 0))
    with pytest.raises(CheckFailedError, match="carried 2,020,000 bytes from 2 to 3 s"):
        check_carried(tmp_path, PLAN)


def _traced(tmp_path: FilePath) -> Plan:
    file = tmp_path / "mine.down"
    file.write_text("".join(f"{ms}\n" for ms in range(1, 101)))
    return RunRequest(rtt="50ms", rate=f"trace:{file}", stack="cubic", time="5s").plan()


def test_a_trace_delivers_no_more_than_its_opportunities(tmp_path: FilePath) -> None:
    # A sample may come just behind what its moment delivers, so that both ends may count
    plan = _traced(tmp_path)
    _samples(tmp_path, (1.0, 0, 0), (2.0, 1000 * 1514, 1000))
    check_carried(tmp_path, plan)
    _samples(tmp_path, (1.0, 0, 0), (2.0, 1003 * 1514, 1003))
    with pytest.raises(CheckFailedError, match="its trace has 1,001 opportunities of 1500 bytes"):
        check_carried(tmp_path, plan)


def test_changes_after_the_end_of_a_client_were_not_made_and_are_not_missed(
    tmp_path: FilePath,
) -> None:
    _answer(tmp_path)
    assert link_changes(tmp_path, PLAN, ended_s=1.9) == {}
    # At the moment of the end a change may have been made or not
    assert link_changes(tmp_path, PLAN, ended_s=2.00005) == {}
    with pytest.raises(CheckFailedError, match="s2-eth2 changed 0 times in the run, not 1"):
        link_changes(tmp_path, PLAN, ended_s=2.1)
    _answer(tmp_path, (2.00001, _link()))
    assert len(link_changes(tmp_path, PLAN, ended_s=2.1)["link_changes"]) == 1
    with pytest.raises(CheckFailedError, match="s2-eth2 changed 1 times in the run, not 0"):
        link_changes(tmp_path, PLAN, ended_s=1.9)
