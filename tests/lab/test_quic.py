"""QUIC of real libraries: it fills a path, repeats itself, answers losses and shares."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from farpath.lab.run import run
from farpath.mechanisms.dropper.drops_by_flow import dropper_counts
from farpath.planning.request import RunRequest
from farpath.record.record import Record, load_record
from farpath.spec.ethernet import ETHERNET_HEADER_BYTES
from farpath.spec.protocol import QLOG_FILE

#: The second one's libraries in Rust are downloaded and compiled for minutes.
STACKS = ("quic_ngtcp2", pytest.param("quic_quinn", marks=pytest.mark.nightly))
#: IPv4 and UDP; a short header with an id of 8 bytes and a packet number of 1 to 4 (RFC 9000,
#: section 17.3.1); a frame of a stream, whose offset may be left out (section 19.8); the tag of
#: AES-GCM (RFC 9001, section 5.3).
LEAST_HEADERS_BYTES = 28 + (1 + 8 + 1) + 2 + 16
#: An IPv6 header is so much longer than one of IPv4.
IPV6_MORE_BYTES = 20
MOST_HEADERS_BYTES = 28 + (1 + 8 + 4) + (2 + 8 + 2) + 16
#: What pings and other frames than those of the stream may take of the path.
OTHER_SHARE = 0.005
LOST_AT_S = 3.0
#: By which a window is multiplied at a loss: RFC 9438, section 4.6, and RFC 9002, section 7.3.2.
OF_CUBIC, OF_RENO = 0.7, 0.5

Make = Callable[..., Record]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Make a run of five seconds over 50 ms and 50 Mbit/s, each time a new one."""

    def make_run(stack: str, **options: Any) -> Record:
        request = RunRequest(rtt="50ms", rate="50Mbit", stack=stack, time="5s", **options)
        out = tmp_path_factory.mktemp("quic")
        outcome = run(request.plan(), out, force=True, watch=lambda _event: None)
        return load_record(outcome.directory)

    return make_run


@pytest.fixture(scope="module", params=STACKS)
def with_a_loss(request: pytest.FixtureRequest, make: Make) -> Record:
    """A flow of CUBIC that loses one packet behind those of its slow start."""
    return make(f"{request.param}:cc=cubic", drop=f"at:{LOST_AT_S:g}s")


def windows(record: Record, flow: str) -> list[tuple[float, int]]:
    """Return the times in ms and congestion windows in a flow's qlog, in bytes."""
    file = record.directory / "raw" / f"{QLOG_FILE.format(flow=flow)}.gz"
    with gzip.open(file, "rt") as stream:
        events = [json.loads(line.strip("\x1e\n")) for line in stream if line.strip("\x1e\n")]
    return [
        (event["time"], event["data"]["congestion_window"])
        for event in events
        if event.get("name") == "recovery:metrics_updated" and "congestion_window" in event["data"]
    ]


def decreases(record: Record, flow: str) -> list[tuple[float, float]]:
    """Return the times in ms and factors at which a flow's window became smaller."""
    changes = windows(record, flow)
    return [
        (t_ms, after / before) for (_, before), (t_ms, after) in pairwise(changes) if after < before
    ]


def test_a_flow_fills_the_path_to_what_headers_leave(with_a_loss: Record) -> None:
    path, rows = with_a_loss.plan.path, with_a_loss.samples.flows
    # The second second, behind the losses of slow start and before the one of the dropper
    (measured_bps,) = rows[rows["t_s"].between(1.9, 2.9)]["throughput_bps"]
    frame_bytes = path.mtu_bytes + ETHERNET_HEADER_BYTES
    least, most = (
        path.rate_bps * (path.mtu_bytes - headers_bytes) / frame_bytes
        for headers_bytes in (MOST_HEADERS_BYTES, LEAST_HEADERS_BYTES)
    )
    print(f"{measured_bps / 1e6:.2f} of {least / 1e6:.2f} to {most / 1e6:.2f} Mbit/s")
    assert (1 - OTHER_SHARE) * least <= measured_bps <= most


def test_cubic_answers_one_loss_with_seven_tenths_of_its_window(with_a_loss: Record) -> None:
    (counts,) = dropper_counts(with_a_loss)
    assert counts["lost"] == 1
    rtt_ms = with_a_loss.plan.path.rtt_ms
    answers = [
        factor
        for t_ms, factor in decreases(with_a_loss, "flow1")
        if 0 <= t_ms - 1e3 * LOST_AT_S <= 4 * rtt_ms
    ]
    assert answers == [pytest.approx(OF_CUBIC, abs=1e-3)]


def test_an_equal_run_has_the_same_fingerprint(with_a_loss: Record, make: Make) -> None:
    again = make(with_a_loss.plan.stacks[0].label, drop=f"at:{LOST_AT_S:g}s")
    assert again.fingerprint == with_a_loss.fingerprint


@pytest.mark.nightly
def test_new_reno_of_both_halves_its_window_beside_the_kernels_cubic(make: Make) -> None:
    record = make("cubic+quic_ngtcp2:cc=reno+quic_quinn:cc=newreno")
    for flow in ("flow2", "flow3"):
        factors = [factor for _, factor in decreases(record, flow)]
        assert factors
        # An event may hold acknowledgements too, by which the window has grown before
        assert factors == pytest.approx([OF_RENO] * len(factors), abs=5e-3)
    # All of the run: what a repaired loss lets go in a second may have come in those before
    by_flow = record.samples.flows.groupby("flow")["throughput_bps"].mean()
    assert (by_flow > 0).all()
    rate_bps = record.plan.path.rate_bps
    assert 0.8 * rate_bps < by_flow.sum() < rate_bps


@pytest.mark.nightly
@pytest.mark.parametrize("stack", STACKS)
def test_bbr_uses_more_of_a_path_of_ipv6_and_jumbo_frames_than_short_packets_could(
    stack: str, make: Make
) -> None:
    record = make(f"{stack}:cc=bbr", ip="6", mtu="9000")
    most_bps, most_of_short_bps = (
        record.plan.path.rate_bps
        * (mtu_bytes - LEAST_HEADERS_BYTES - IPV6_MORE_BYTES)
        / (mtu_bytes + ETHERNET_HEADER_BYTES)
        for mtu_bytes in (9000, 1500)
    )
    rows = record.samples.flows
    measured_bps = rows[rows["t_s"].between(1.9, 3.9)]["throughput_bps"].mean()
    print(f"{measured_bps / 1e6:.2f} of {most_bps / 1e6:.2f} Mbit/s")
    assert most_of_short_bps < measured_bps <= most_bps
