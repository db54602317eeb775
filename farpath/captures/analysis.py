"""What the segments of a connection are, by the rules of Wireshark, and its round-trip times.

A capture has no labels: whether a segment is sent again or only out of order is judged by what
passed before it. The rules and their names are those of Wireshark's ``tcp.analysis`` (function
tcp_analyze_sequence_number of packet-tcp.c), so that counts can be compared. One differs: what is
sent again into a hole between SACK blocks is a fast retransmission here, as the kernel meant it;
tshark 4.0.17 calls it out of order if it comes within the first RTT of the highest segment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from farpath.captures.segments import ABSENT, ACK, FIN, RST, SACK_COLUMNS, SYN, Connection

#: A duplicate acknowledgement counts for a fast retransmission for so long, and a segment can be
#: out of order for so long after the highest one if the first RTT is unknown (Wireshark).
FAST_NS, REORDERED_NS = 20_000_000, 3_000_000
#: Duplicate acknowledgements from which on a retransmission is a fast one (Wireshark).
FAST_DUPLICATES = 2

RETRANSMISSION = "retransmission"
FAST, SPURIOUS = "fast_retransmission", "spurious_retransmission"
OUT_OF_ORDER, LOST, ACKED_LOST = "out_of_order", "lost_segment", "ack_lost_segment"
DUPLICATE, UPDATE = "duplicate_ack", "window_update"
ZERO, FULL = "zero_window", "window_full"
KEEP_ALIVE, PROBE = "keep_alive", "zero_window_probe"
#: Marks by name, and what each means. Fast and spurious retransmissions are retransmissions too.
MARKS: Mapping[str, str] = {
    RETRANSMISSION: "data that was seen before, or behind the highest seen and too late to be "
    "only out of order",
    FAST: "a retransmission within 20 ms of duplicate acknowledgements that ask for it",
    SPURIOUS: "a retransmission of data that was acknowledged already",
    OUT_OF_ORDER: "data behind the highest seen, within the first RTT after that",
    LOST: "data beyond the next expected: something before it is not in the capture",
    ACKED_LOST: "an acknowledgement of data that is not in the capture",
    DUPLICATE: "an acknowledgement without data that repeats number and window of the one before",
    UPDATE: "one that repeats the number alone",
    ZERO: "a receiver has no room",
    FULL: "data up to the edge of the receiver's window",
    KEEP_ALIVE: "no byte, or one that was sent before, in front of the next expected",
    PROBE: "one byte for a receiver that has no room",
}


@dataclass
class _Side:
    """What was seen of one end; numbers are relative, as in the table of segments."""

    next_seq: int = ABSENT
    next_seq_ns: int = 0
    last_ack: int = ABSENT
    last_ack_ns: int = 0
    window: int = ABSENT
    has_scale: bool = False
    duplicates: int = 0
    most_acked: int = ABSENT
    sack: list[tuple[int, int]] = field(default_factory=list)


def marked(segments: pd.DataFrame, connection: Connection) -> pd.DataFrame:
    """Return a row for each segment of a connection: marks, and bytes in flight.

    ``segments``: of one connection. The columns are ``MARKS``, booleans, and ``in_flight_bytes``,
    sent and neither acknowledged nor in the last SACK blocks, after a segment with data; -1 of any
    other.
    """
    marks: dict[str, list[int]] = {name: [] for name in MARKS}
    in_flight = np.full(len(segments), ABSENT, dtype=np.int64)
    client, server = _Side(), _Side()
    client.has_scale, server.has_scale = (
        shift is not None for shift in (connection.client_shift, connection.server_shift)
    )
    first_rtt_ns = _first_rtt_ns(segments)
    names = ("from_client", "time_ns", "seq", "ack", "length", "tcp_flags", "window")
    columns = [segments[name].to_numpy().tolist() for name in (*names, *SACK_COLUMNS)]
    for row, (from_client, time_ns, seq, ack, length, flags, window, *sack) in enumerate(
        zip(*columns, strict=True)
    ):
        side, other = (client, server) if from_client else (server, client)
        opens_or_ends = flags & (SYN | FIN | RST)
        is_keep_alive = False
        if length == 1 and seq == side.next_seq and other.window == 0:
            marks[PROBE].append(row)
            is_probe = True
        else:
            is_probe = False
            if window == 0 and not opens_or_ends:
                marks[ZERO].append(row)
            if side.next_seq != ABSENT and seq > side.next_seq and not flags & RST:
                marks[LOST].append(row)
            if length <= 1 and seq == side.next_seq - 1 and not opens_or_ends:
                is_keep_alive = True
                marks[KEEP_ALIVE].append(row)
            repeats = (
                not length
                and window
                and seq == side.next_seq
                and ack == side.last_ack
                and not opens_or_ends
            )
            if repeats and window != side.window:
                marks[UPDATE].append(row)
            if (
                length
                and other.has_scale
                and not opens_or_ends
                and seq + length == other.last_ack + other.window
            ):
                marks[FULL].append(row)
            if repeats and window == side.window:
                side.duplicates += 1
                marks[DUPLICATE].append(row)
        if flags & ACK and ack != side.last_ack:
            side.duplicates = 0
        if flags & ACK and other.next_seq != ABSENT and ack > max(other.next_seq, other.most_acked):
            marks[ACKED_LOST].append(row)
            other.most_acked = ack

        end = seq + length + bool(flags & SYN) + bool(flags & FIN)
        if (length or flags & (SYN | FIN)) and seq < side.next_seq and not is_keep_alive:
            advances = length > 1 and side.next_seq - 1 == seq
            late_ns = time_ns - other.last_ack_ns
            is_asked = late_ns < FAST_NS and other.duplicates >= FAST_DUPLICATES
            if length and other.last_ack != ABSENT and seq + length <= other.last_ack:
                marks[SPURIOUS].append(row)
                marks[RETRANSMISSION].append(row)
            elif advances:
                pass
            elif is_asked and (
                other.last_ack == seq
                or (other.sack and not any(left <= seq < right for left, right in other.sack))
            ):
                marks[FAST].append(row)
                marks[RETRANSMISSION].append(row)
            elif (
                time_ns - side.next_seq_ns < (first_rtt_ns or REORDERED_NS)
                and side.next_seq != seq + length
            ):
                marks[OUT_OF_ORDER].append(row)
            else:
                marks[RETRANSMISSION].append(row)

        if (end > side.next_seq or side.next_seq == ABSENT) and not is_probe:
            side.next_seq, side.next_seq_ns = end, time_ns
        if flags & ACK:
            side.last_ack, side.last_ack_ns = ack, time_ns
            pairs = zip(sack[::2], sack[1::2], strict=True)
            side.sack = [pair for pair in pairs if pair[0] != ABSENT and pair[1] != ABSENT]
        side.window = window
        if length and other.last_ack != ABSENT:
            sacked = sum(right - left for left, right in other.sack if left >= other.last_ack)
            in_flight[row] = max(side.next_seq - other.last_ack - sacked, 0)
    table = {name: np.zeros(len(segments), dtype=bool) for name in MARKS}
    for name, rows in marks.items():
        table[name][rows] = True
    return pd.DataFrame({**table, "in_flight_bytes": in_flight}, index=segments.index)


def _first_rtt_ns(segments: pd.DataFrame) -> int:
    """Return the time from the first SYN to the acknowledgement of the SYN+ACK; 0 if unknown."""
    flags, times_ns = segments["tcp_flags"].to_numpy(), segments["time_ns"].to_numpy()
    is_client = segments["from_client"].to_numpy()
    opened = np.flatnonzero(flags & (SYN | ACK) == SYN)
    answered = np.flatnonzero(flags & (SYN | ACK) == (SYN | ACK))
    if not opened.size or not answered.size:
        return 0
    ended = np.flatnonzero(is_client & (flags & (SYN | ACK) == ACK))
    ended = ended[ended > answered[0]]
    return int(times_ns[ended[0]] - times_ns[opened[0]]) if ended.size else 0


def rtt_samples(segments: pd.DataFrame, from_client: bool) -> pd.DataFrame:
    """Return RTTs of the data that one end sent, as seen from where the capture was made.

    One row for each sample: ``time_ns`` of the acknowledgement, ``rtt_ns``, and ``by``: ``segment``
    from the segment that ends where the acknowledgement stands, unless any of what it acknowledges
    was sent again (Karn's rule, RFC 6298, 3), or ``timestamp`` from the first segment that has the
    timestamp which the acknowledgement returns (RFC 7323, 4).
    """
    sent_at: dict[int, int] = {}
    stamped_at: dict[int, int] = {}
    highest, again_to, last_ack = 0, 0, 0
    rows: list[tuple[int, int, str]] = []
    names = ("from_client", "time_ns", "seq", "ack", "length", "tcp_flags", "tsval", "tsecr")
    columns = (segments[name].to_numpy().tolist() for name in names)
    for is_client, time_ns, seq, ack, length, flags, tsval, tsecr in zip(*columns, strict=True):
        if is_client == from_client:
            if not length:
                continue
            end = seq + length
            if seq < highest:
                again_to = max(again_to, end)
            else:
                sent_at[end] = time_ns
            highest = max(highest, end)
            if tsval != ABSENT:
                stamped_at.setdefault(tsval, time_ns)
        elif flags & ACK and ack > last_ack:
            if again_to <= last_ack and ack in sent_at:
                rows.append((time_ns, time_ns - sent_at[ack], "segment"))
            if tsecr in stamped_at:
                rows.append((time_ns, time_ns - stamped_at[tsecr], "timestamp"))
            last_ack = ack
    return pd.DataFrame(rows, columns=["time_ns", "rtt_ns", "by"])
