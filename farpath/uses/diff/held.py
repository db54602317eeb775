"""What a TCP held of a connection at an instant: by the trace's samples, and by its packets.

The trace (struct tcp_info) is sampled; the sample before the instant and the one after are given
with their times. What the samples lack is read from the packets that the host had sent and received
by then: that is exact, but it is what the packets say and not the kernel's own memory.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from farpath.captures.segments import ACK, SACK_BLOCKS, SYN
from farpath.uses.diff.first_packet import NS_PER_S

if TYPE_CHECKING:
    import pandas as pd


#: Columns of the trace that are shown, by the groups in which people look for them.
WINDOW = ("cwnd_packets", "ssthresh_packets", "snd_wnd_bytes", "pacing_rate_bps")
SCOREBOARD = (
    *("in_flight_packets", "unacked_packets", "sacked_packets", "lost_packets", "retrans_packets"),
    *("reordering_packets", "dsacks"),
)
TIMERS = ("rtt_us", "rttvar_us", "min_rtt_us", "rto_us")
CONTROL = ("ca_state", "delivered_packets", "delivery_rate_bps", "app_limited", "retransmits")
SHOWN = (*CONTROL[:1], *WINDOW, *SCOREBOARD, *TIMERS, *CONTROL[1:])
Sample = dict[str, Any]


@dataclass(frozen=True)
class FromPackets:
    """What the packets of a connection say at its data's sender just before a packet.

    Numbers of bytes count from the connection's first. ``una``: the first that is not acknowledged.
    ``nxt``: the first that was never sent. ``outstanding_bytes``: sent and neither acknowledged nor
    in a SACK block. ``scoreboard``: SACK blocks above ``una``, merged. ``window_bytes``: that the
    receiver announced. ``duplicate_acks``: in a row up to now. ``sent_again``: segments so far.
    ``ack_age_ms``: time since ``una`` moved. ``sent_age_ms``: since data was sent.
    """

    una: int
    nxt: int
    outstanding_bytes: int
    scoreboard: tuple[tuple[int, int], ...]
    window_bytes: int
    duplicate_acks: int
    sent_again: int
    ack_age_ms: float | None
    sent_age_ms: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def from_packets(segments: pd.DataFrame, now_ns: int) -> FromPackets:
    """Return what segments of one connection, all before an instant, say of its data's sender.

    ``segments``: rows of ``farpath.captures.segments.Capture``, captured at the client, which sends
    the data. ``now_ns``: the instant.
    """
    una, nxt, window_bytes, duplicates, again = 1, 1, 0, 0, 0
    acked_ns = sent_ns = None
    blocks: list[tuple[int, int]] = []
    columns = ["time_ns", "from_client", "seq", "ack", "length", "tcp_flags", "window"]
    sides = [f"sack{number}_{side}" for number in range(1, SACK_BLOCKS + 1) for side in _SIDES]
    for time_ns, mine, seq, ack, length, flags, window, *sack in segments[
        [*columns, *sides]
    ].itertuples(index=False):
        if mine:
            if length:
                again += seq < nxt
                nxt, sent_ns = max(nxt, seq + length), time_ns
            continue
        if not flags & ACK:
            continue
        seen = [
            (left, right) for left, right in zip(sack[::2], sack[1::2], strict=True) if right > 0
        ]
        if ack > una:
            una, acked_ns, duplicates = ack, time_ns, 0
        elif ack == una and not length and not flags & SYN and (seen or window == window_bytes):
            duplicates += 1
        window_bytes = window
        blocks = _merged([*blocks, *seen], una)
    sacked = sum(right - left for left, right in blocks)
    return FromPackets(
        una=int(una),
        nxt=int(nxt),
        outstanding_bytes=int(nxt - una - sacked),
        scoreboard=tuple((int(left), int(right)) for left, right in blocks),
        window_bytes=int(window_bytes),
        duplicate_acks=duplicates,
        sent_again=int(again),
        ack_age_ms=None if acked_ns is None else (now_ns - acked_ns) / 1e6,
        sent_age_ms=None if sent_ns is None else (now_ns - sent_ns) / 1e6,
    )


_SIDES = ("left", "right")


def _merged(blocks: list[tuple[int, int]], una: int) -> list[tuple[int, int]]:
    """Return blocks above an acknowledgement, in order, without overlaps.

    >>> _merged([(30, 40), (10, 20), (20, 25), (1, 5)], 5)
    [(10, 25), (30, 40)]
    """
    merged: list[tuple[int, int]] = []
    for left, right in sorted((max(left, una), right) for left, right in blocks if right > una):
        if merged and left <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return merged


@dataclass(frozen=True)
class Samples:
    """The trace's samples around an instant: the last one at or before it, and the next one."""

    before: Sample | None
    after: Sample | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def samples_around(trace: pd.DataFrame | None, flow: str, now_ns: int) -> Samples:
    """Return a flow's samples around an instant; None where there is none."""
    if trace is None:
        return Samples(None, None)
    rows = trace[trace["flow"] == flow]
    number = int(rows["t_s"].searchsorted(now_ns / NS_PER_S, side="right"))
    return Samples(
        _sample(rows, number - 1) if number else None,
        _sample(rows, number) if number < len(rows) else None,
    )


def first_other_sample(
    a: pd.DataFrame | None, b: pd.DataFrame | None, flow: str
) -> tuple[Sample, Sample] | None:
    """Return the first samples of a flow, at one time, that differ in what is shown of them.

    None if none does, or where one of the runs has no trace.
    """
    if a is None or b is None:
        return None
    both = a[a["flow"] == flow].merge(b[b["flow"] == flow], on="t_s", suffixes=("_a", "_b"))
    differs = sum((both[f"{name}_a"] != both[f"{name}_b"]).astype(int) for name in SHOWN)
    rows = both[differs > 0]
    if rows.empty:
        return None
    row = rows.iloc[0]
    first, second = (
        {"t_s": float(row["t_s"]), **{name: _plain(row[f"{name}_{run}"]) for name in SHOWN}}
        for run in ("a", "b")
    )
    return first, second


def _sample(rows: pd.DataFrame, number: int) -> Sample:
    row = rows.iloc[number]
    return {"t_s": float(row["t_s"]), **{name: _plain(row[name]) for name in SHOWN}}


def _plain(value: Any) -> str | int | None:
    """Return a value of the trace for JSON; None where the kernel has no number yet."""
    if isinstance(value, str):
        return value
    return None if int(value) < 0 else int(value)
