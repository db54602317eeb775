"""One guest per site: the same packets on one core and on two, and failures that name a site."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import LabFailedError
from farpath.lab import machine, uml
from farpath.lab.artifacts.images import find_images
from farpath.lab.run import run
from farpath.lab.watchdog import Patience
from farpath.metrics.run import summarise
from farpath.record.record import Record, load_record
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL
from tests.support.command_line import Farpath
from tests.support.networks import short_plan
from tests.support.processes import busy_loops

FAR = {"rtt": "40ms", "rate": "50Mbit", "buffer": "250kB", "stack": "reno+htcp"}


@contextmanager
def cores(allowed: Sequence[int]) -> Iterator[None]:
    """Allow this process and what it starts these cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, allowed)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def record_of(plan: Plan, out: FilePath) -> Record:
    """The record of a fresh run."""
    return load_record(run(plan, out, force=True, watch=lambda _event: None).directory)


def test_one_core_two_cores_busy_cores_and_runs_at_once_give_the_same_packets_and_a_seed_others(
    tmp_path: FilePath,
) -> None:
    words = {**FAR, "loss": "1e-4", "background": "20%", "region": "5s"}
    plan = short_plan(**words)
    every = sorted(os.sched_getaffinity(0))
    two = record_of(plan, tmp_path / "two").fingerprint
    with cores(every[:1]):
        one = record_of(plan, tmp_path / "one").fingerprint
    with busy_loops(len(every)), ThreadPoolExecutor(2) as pool:
        plans = (plan, short_plan(**words, seed="2"))
        loaded, other = pool.map(record_of, plans, (tmp_path / "busy", tmp_path / "other"))
    assert [one, loaded.fingerprint] == [two, two]
    assert other.fingerprint != two


@pytest.mark.parametrize("stack", ["cubic", "udt"])
def test_two_guests_show_the_physics_of_one(tmp_path: FilePath, stack: str) -> None:
    words = {**FAR, "stack": stack, "region": "20s", "schedule": "together"}
    far = record_of(short_plan(**words), tmp_path / "far")
    near = record_of(short_plan(**words).in_one_guest(), tmp_path / "near")
    one, two = (summarise(record.samples, record.plan) for record in (near, far))
    print(f"{stack}: {one.mean_bps:.0f} and {two.mean_bps:.0f} bit/s")
    assert two.mean_bps == pytest.approx(one.mean_bps, rel=0.01)
    assert two.base_rtt_ms == pytest.approx(one.base_rtt_ms, abs=2e-3)


def guests_of_this_process() -> list[int]:
    """The guests' kernels that this process has started, in the order of their sites."""
    children = []
    for thread in FilePath("/proc/self/task").iterdir():
        children += [int(pid) for pid in (thread / "children").read_text().split()]
    commands = {pid: FilePath(f"/proc/{pid}/cmdline").read_text() for pid in children}
    guests = [pid for pid, command in commands.items() if "rootfstype=hostfs" in command]
    return sorted(guests, key=lambda pid: "LAB_SITE" in commands[pid])


@pytest.mark.parametrize(("site", "host"), [(0, "sender"), (1, "receiver")])
def test_a_site_that_stands_still_is_named_although_the_other_waits_too(
    tmp_path: FilePath, site: int, host: str
) -> None:
    def stop_one(event: dict[str, Any]) -> None:
        if event["event"] == "progress":
            os.kill(guests_of_this_process()[site], signal.SIGSTOP)

    patience = dataclasses.replace(Patience(), real_s=3.0)
    log = tmp_path / "console.log"
    stopped = uml.play(short_plan(**FAR), find_images(), log, stop_one, patience)
    with pytest.raises(LabFailedError, match=f"the lab hangs at the site of {host}"), stopped:
        pass
    titles = {line.partition(": ")[0] for line in log.read_text().splitlines()}
    assert titles == {"site of sender", "site of receiver"}


def test_too_little_memory_for_all_sites_is_refused_before_any_boots(tmp_path: FilePath) -> None:
    plan = short_plan(**FAR)
    settings = dataclasses.replace(plan.settings, memory_bytes=1 << 42, lab=VIRTUAL)
    with pytest.raises(Exception, match=r"the lab may need 8388608"):
        record_of(dataclasses.replace(plan, settings=settings), tmp_path)


def test_a_run_beside_others_that_hold_all_cores_says_that_it_shares_them(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    options = ("run", "--rtt=10ms", "--rate=10Mbit", "--time=5s", "--force", f"--out={tmp_path}")
    with machine.reserved_cores(machine.available_cores()):
        ended = farpath(*options)
    assert ended.status == 0
    assert "other runs are under way, so this one is slower: it has 1 of" in ended.err
    assert ended.out.rstrip().endswith("the lab's start included, beside other runs on its cores")
