"""Measures of a connection's start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.uses.conformance.trace_parts import Measured, trace_of, unseen

if TYPE_CHECKING:
    from farpath.record.record import Record

#: Rounds between which growth is measured: Linux acknowledges the first packets one by one
#: (TCP_MAX_QUICKACKS, net/ipv4/tcp_input.c), and later every second one.
ROUNDS = (3, 5)


def _flight_packets(record: Record, number: int) -> float:
    """Return packets in flight in the middle of a round trip of data, the first being 1."""
    trace = trace_of(record)
    rtt_s = record.plan.path.rtt_ms / 1e3
    middle_s = float(trace["t_s"].iloc[0]) + (number - 0.5) * rtt_s
    return float(trace[trace["t_s"] <= middle_s]["in_flight_packets"].iloc[-1])


def initial_window(record: Record) -> Measured:
    """Return packets in flight in the middle of the first round trip of data."""
    return Measured(_flight_packets(record, 1))


def growth_per_round(record: Record) -> Measured:
    """Return the factor by which the flight grows in a round trip, the geometric mean of two."""
    first, last = ROUNDS
    ratio = _flight_packets(record, last) / _flight_packets(record, first)
    return Measured(float(ratio ** (1 / (last - first))))


def growth_after_exit(record: Record) -> Measured:
    """Return the factor by which the window grows in the RTT after slow start ended unlost."""
    trace = trace_of(record)
    ended = trace[(trace["ssthresh_packets"] > 0) & (trace["retransmits"] == 0)]
    if ended.empty:
        return unseen("slow start did not end before a loss")
    first = ended.iloc[0]
    later = ended[ended["t_s"] <= first["t_s"] + first["rtt_us"] / 1e6]
    return Measured(float(later["cwnd_packets"].iloc[-1] / first["cwnd_packets"]))


def lost_in_slow_start(record: Record) -> Measured:
    """Return packets sent again in slow start and in the ten RTTs after it."""
    trace = trace_of(record)
    ended = trace[trace["ssthresh_packets"] > 0]
    if ended.empty:
        return unseen("slow start did not end")
    until_s = float(ended["t_s"].iloc[0]) + 10 * record.plan.path.rtt_ms / 1e3
    return Measured(float(trace[trace["t_s"] <= until_s]["retransmits"].iloc[-1]))
