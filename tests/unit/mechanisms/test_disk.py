"""Disks: what SOURCE and SINK mean, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import CheckFailedError
from farpath.mechanisms.disk.mechanism import check_disks, disk_text, parse_disk
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.spec.disk import Disk
from farpath.spec.plan import Plan
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("text", "option", "disk"),
    [
        ("disk:445MB/s,readahead=2MiB", "source", Disk(3_560_000_000, 2 << 20)),
        ("disk:1.6Gbit", "source", Disk(1_600_000_000, 128 << 10)),
        ("disk:200MB/s,writeback=64MB", "sink", Disk(1_600_000_000, 64_000_000)),
        ("disk:200MB/s", "sink", Disk(1_600_000_000, 0)),
        ("disk:1000001bit,readahead=0", "source", Disk(1_000_001, 0)),
    ],
)
def test_a_disk_is_a_rate_and_a_cache_and_its_text_means_the_same(
    text: str, option: str, disk: Disk
) -> None:
    assert parse_disk(text, option) == disk
    again = disk_text(disk, option)
    assert again is not None
    assert parse_disk(again, option) == disk


@pytest.mark.parametrize(
    "text",
    [
        "200MB/s",
        "disk:",
        "disk:1MB/s,writeback=1MB,writeback=2MB",
        "disk:1MB/s,readahead=1MB",
        "disk:1MB/s,writeback",
        "disk:1MB/s,writeback=-1MB",
        "disk:fast",
    ],
)
def test_what_is_no_disk_is_refused_with_what_is(text: str) -> None:
    with refused("sink"):
        parse_disk(text, "sink")


@pytest.mark.parametrize(
    "options",
    [
        {"stack": "udt"},
        {"stack": "reno+udp"},
        {"lab": "host"},
        {"clock": "cpu"},
        {"reverse": "reno"},
    ],
)
def test_disks_that_no_program_would_use_are_refused(options: dict[str, str]) -> None:
    disks = {"source": "disk:5MB/s", "sink": "disk:5MB/s"}
    with refused("source"):
        RunRequest(rtt="20ms", schedule="together", **disks, **options).plan()


def test_every_host_has_the_disk_of_its_side_and_payload_for_a_disk_is_not_discarded() -> None:
    words = {"rtt": "20ms", "stack": "reno", "schedule": "together"}
    without = RunRequest(**words).plan()
    both = RunRequest(**words, senders="rtt=30ms", source="disk:5MB/s", sink="disk:4MB/s").plan()
    assert without.disks == {}
    assert {host: disk.rate_bps for host, disk in both.disks.items()} == {
        "sender": 40_000_000,
        "sender2": 40_000_000,
        "receiver": 32_000_000,
    }
    read = RunRequest(**words, source="disk:5MB/s").plan()
    discards = [plan.settings.receiver_discards for plan in (without, read, both)]
    assert discards == [True, True, False]
    assert Plan.from_dict(both.as_dict()) == both
    assert plan_identity(read) != plan_identity(without)


def _write_reports(raw_dir: FilePath, flow: str, blocks: int) -> None:
    """What iperf3 reports at both ends of a flow of so many blocks of 128 KiB."""
    row = {"start": 0.0, "end": 1.0, "bytes": blocks * 131_072, "retransmits": 0}
    row |= {"snd_cwnd": 1, "snd_wnd": 1, "rtt": 1}
    for side in ("sender", "receiver"):
        text = json.dumps({"intervals": [{"streams": [row]}]})
        (raw_dir / f"{flow}-{side}.out").write_text(text)


@pytest.mark.parametrize(("blocks", "fits"), [(100, True), (102, True), (97, False), (103, False)])
def test_a_disk_has_the_bytes_of_its_flows(tmp_path: FilePath, blocks: int, fits: bool) -> None:
    plan = RunRequest(rtt="20ms", stack="reno", time="5s", sink="disk:5MB/s").plan()
    _write_reports(tmp_path, "flow1", 100)
    readback = {"after": {"disks": {"receiver": {"moved_bytes": blocks * 131_072}}}}
    if fits:
        check_disks(readback, tmp_path, plan)
    else:
        with pytest.raises(CheckFailedError, match=r"the disk of receiver has .* the flows there"):
            check_disks(readback, tmp_path, plan)
