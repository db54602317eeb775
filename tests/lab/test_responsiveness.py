"""The responsiveness test in the lab, held against ping and against what queues do."""

from __future__ import annotations

import json
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.uses.responsiveness.measure import FOREIGN, HANDSHAKE, Responsiveness
from tests.support.processes import completed

RTT_MS, RATE_MBPS = 40.0, 10.0
OPTIONS = ("--rtt=40ms", "--rate=10Mbit", "--interval=1s", "--timeout=20s", "--json")
#: Payload of a full packet: 1448 bytes of 1514, of which HTTP/2 takes 9 of a frame of 6250.
PAYLOAD_PART = 1448 / 1514 * 6250 / 6259


@dataclass
class Measured:
    found: Responsiveness
    record: FilePath


def measured(out: FilePath, *options: str) -> Measured:
    command = (sys.executable, "-m", "farpath", "responsiveness", *OPTIONS, f"--out={out}")
    ended = completed([*command, *options])
    assert ended.returncode == 0, ended.stderr
    found = Responsiveness.from_dict(json.loads(ended.stdout))
    (record,) = re.findall(r"record (.*), fingerprint \w+", ended.stderr)
    return Measured(found, FilePath(record))


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """A drop-tail buffer of three round trips."""
    return measured(tmp_path_factory.mktemp("deep"), "--buffer=3xBDP")


def test_an_idle_path_has_a_round_trip_of_its_rtt(deep: Measured) -> None:
    assert deep.found.idle.mean == pytest.approx(60_000 / RTT_MS, rel=0.01)


def test_load_fills_the_path(deep: Measured) -> None:
    assert deep.found.goodput_bps == pytest.approx(RATE_MBPS * 1e6 * PAYLOAD_PART, rel=0.05)


def test_new_connections_wait_as_long_as_pings_do(deep: Measured) -> None:
    pings = pd.read_parquet(deep.record / "ping.parquet")
    last_s = deep.found.intervals[-1].end_s
    # The record counts from the client's start, whose idle probes come first
    since_s = pings["t_s"].max() - last_s / 2
    ping_ms = pings.loc[pings["t_s"] >= since_s, "rtt_ms"].mean()
    late = [one for one in deep.found.probes if one.end_s >= last_s / 2 and FOREIGN in one.times_ms]
    probe_ms = statistics.fmean(one.times_ms[HANDSHAKE] for one in late)
    assert probe_ms == pytest.approx(ping_ms, rel=0.15)
    assert probe_ms > 2 * RTT_MS


def test_a_queue_for_each_flow_spares_new_connections_the_load(
    deep: Measured, tmp_path: FilePath
) -> None:
    fair = measured(tmp_path, "--buffer=3xBDP", "--queue=fq_codel", "--direction=up").found
    assert fair.rpm.foreign > 0.8 * fair.idle.mean > 1.5 * deep.found.rpm.foreign
    assert fair.rpm.mean > deep.found.rpm.mean
