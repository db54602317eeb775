"""Offloads in virtual time: what cards split and join, and how the stacks answer."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.captures.segments import read_segments
from farpath.mechanisms.capture.capture_files import captured_files
from farpath.planning.path_options import resolve_path
from farpath.record.record import Record
from farpath.spec.capture import Capture
from tests.support.plans import with_trace

from .conftest import RunPlan, single_flow
from .laws.hystart import end_by_train

RATE_BPS, RTT_S = 1e9, 0.020
#: It has room for all that slow start sends beyond the path.
PATH = resolve_path(rtt="20ms", rate="1Gbit", buffer="4xBDP")
CARDS = ("gso", "gro", "checksum")
#: The most payload of a joined packet (65,535 bytes with its headers), in packets of 1448 bytes.
MOST_JOINED = 45


def _record(run_once: RunPlan, offloads: tuple[str, ...] | None) -> Record:
    plan = with_trace(single_flow("cubic", 1.0, PATH), 0.001)
    places = (Capture("receiver", 128), Capture("bottleneck", 128))
    return run_once(dataclasses.replace(plan, offloads=offloads, captures=places))


def _data_and_acks(record: Record, place: str) -> tuple[float, float]:
    """Return the mean payload of the data packets at a place in bytes, and how many an ACK has."""
    table = read_segments(captured_files(record)[place]).segments
    data = table[table["from_client"] & (table["length"] >= 1000)]
    acks = table[~table["from_client"] & (table["length"] == 0)]
    return float(data["length"].mean()), len(data) / max(len(acks), 1)


@pytest.mark.parametrize("words", [CARDS, ("tso", *CARDS)], ids=["gso", "tso"])
def test_a_card_joins_packets_and_the_host_acknowledges_them_at_once(
    run_once: RunPlan, words: tuple[str, ...]
) -> None:
    payload_bytes, _ = _data_and_acks(_record(run_once, None), "receiver")
    assert payload_bytes == pytest.approx(1448, abs=5)
    record = _record(run_once, words)
    joined_bytes, packets_an_ack = _data_and_acks(record, "receiver")
    print(f"{joined_bytes:.0f} bytes are joined, {packets_an_ack:.2f} of these have an ACK")
    assert joined_bytes > 20 * 1448
    assert packets_an_ack == pytest.approx(1, abs=0.2)
    # The path has packets of its own MTU
    of_path_bytes, _ = _data_and_acks(record, "bottleneck")
    assert of_path_bytes == pytest.approx(1448, abs=5)
    hosts = record.readback["before"]["moderation"]
    assert hosts["receiver"] == {"gro_flush_timeout": 20_000, "napi_defer_hard_irqs": 1}
    assert record.readback["idle_rtt_ms"] == pytest.approx(20, abs=0.01)


def test_packets_that_come_further_apart_than_a_card_waits_are_not_joined(
    run_once: RunPlan,
) -> None:
    """At 100 Mbit/s 121 us lie between two packets; the card waits for 20."""
    path = resolve_path(rtt="20ms", rate="100Mbit")
    plain = dataclasses.replace(
        single_flow("cubic", 1.0, path), captures=(Capture("receiver", 128),)
    )
    with_cards = run_once(dataclasses.replace(plain, offloads=CARDS))
    payload_bytes, packets_an_ack = _data_and_acks(with_cards, "receiver")
    assert payload_bytes == pytest.approx(1448, abs=5)
    assert packets_an_ack == pytest.approx(2, abs=0.2)


def test_cards_move_the_end_of_slow_start_by_a_joined_packet_at_most(run_once: RunPlan) -> None:
    predicted = end_by_train(PATH)
    for words in (None, CARDS, ("tso", *CARDS)):
        trace = _record(run_once, words).trace
        assert trace is not None
        window = int(trace[trace["ssthresh_packets"] > 0]["ssthresh_packets"].iloc[0])
        print(f"offloads {words}: slow start ended at {window}, predicted {predicted:.0f}")
        assert abs(window - predicted) <= (MOST_JOINED if words else 5)
