"""One-way delays: the same packets in the captures of two places of their way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from farpath.captures.segments import ACK, SYN, Capture, Connection

#: What two captures of one packet have alike. A segment that is sent again has another timestamp
#: of its sender, or another number of IPv4.
_KEY = ("from_client", "seq", "ack", "length", "tcp_flags", "tsval", "tsecr", "ip_id")

#: The first bound of a histogram of queueing delays, and the factor from one to the next.
LEAST_BOUND_MS, BOUND_FACTOR = 1e-3, 1.1


@dataclass(frozen=True)
class Way:
    """The packets of a connection in one direction between two captures.

    ``delays``: for each packet that is in both, ``time_ns`` at the first place and ``delay_ns``.
    ``lost``: rows of those that only the first place has, up to the last that arrived, by their
    ``time_ns``, ``seq`` and ``length``. ``appeared``: how many packets only the second place has.
    """

    from_client: bool
    delays: pd.DataFrame
    lost: pd.DataFrame
    appeared: int

    @property
    def packets(self) -> int:
        """How many packets left the first place."""
        return len(self.delays) + len(self.lost)


@dataclass(frozen=True)
class Merged:
    """Both directions of a connection between the client's capture and the server's."""

    to_server: Way
    to_client: Way

    @property
    def is_of_two_clocks(self) -> bool:
        """Whether packets arrive before they leave: the clocks of the captures differ."""
        ways = (self.to_server, self.to_client)
        return any(bool((way.delays["delay_ns"] < 0).any()) for way in ways)

    @property
    def has_other_sizes(self) -> bool:
        """Whether most packets differ: hosts that divide or join them (TSO, GRO) between."""
        ways = (self.to_server, self.to_client)
        missed = sum(len(way.lost) + way.appeared for way in ways)
        return missed > sum(len(way.delays) for way in ways)


def nearer_client(one: Capture, other: Capture, ends: tuple[str, int, str, int]) -> bool:
    """Whether the first of two captures is nearer to a connection's client than the second.

    At the client the answer to a SYN takes the whole RTT. Without a handshake the first is.
    """
    times = [_handshake_ns(capture, ends) for capture in (one, other)]
    if times[0] is None or times[1] is None:
        return True
    return times[0] >= times[1]


def _handshake_ns(capture: Capture, ends: tuple[str, int, str, int]) -> int | None:
    found = connection_between(capture, ends)
    if found is None:
        return None
    table = capture.of(found)
    asked = table.loc[table["tcp_flags"] & (SYN | ACK) == SYN, "time_ns"]
    answered = table.loc[table["tcp_flags"] & (SYN | ACK) == (SYN | ACK), "time_ns"]
    return int(answered.iloc[0] - asked.iloc[0]) if len(asked) and len(answered) else None


def connection_between(capture: Capture, ends: tuple[str, int, str, int]) -> Connection | None:
    """Return the connection of a capture with the most packets between two ends; None without."""
    turned = (*ends[2:], *ends[:2])
    found = [one for one in capture.connections if one.ends in (ends, turned)]
    return max(found, key=lambda one: one.packets, default=None)


def merge(client: pd.DataFrame, server: pd.DataFrame) -> Merged:
    """Match the packets of one connection in the client's capture and in the server's.

    Both are segments of that connection (``read_segments``) with the same client.
    """
    return Merged(_way(client, server, True), _way(server, client, False))


def _way(first: pd.DataFrame, second: pd.DataFrame, from_client: bool) -> Way:
    left, right = (_numbered(each[each["from_client"] == from_client]) for each in (first, second))
    both = left.merge(right, on=[*_KEY, "copy"], how="outer", suffixes=("", "_there"))
    is_first, is_second = both["time_ns"].notna(), both["time_ns_there"].notna()
    met = both[is_first & is_second].sort_values("time_ns")
    # What left behind the last that arrived may be beyond the end of the other capture
    is_within = both["time_ns"] <= met["time_ns"].max()
    lost = both[is_first & ~is_second & is_within].sort_values("time_ns")
    delays = pd.DataFrame({
        "time_ns": met["time_ns"].astype(np.int64),
        "delay_ns": met["time_ns_there"].astype(np.int64) - met["time_ns"].astype(np.int64),
    })  # fmt: skip
    kept = lost[["time_ns", "seq", "length"]].astype(np.int64)
    appeared = int((is_second & ~is_first).sum())
    return Way(from_client, delays.reset_index(drop=True), kept.reset_index(drop=True), appeared)


def _numbered(segments: pd.DataFrame) -> pd.DataFrame:
    """Return the key and time of each segment, and which copy it is of those with the same key."""
    table = segments[[*_KEY, "time_ns"]].sort_values("time_ns")
    return table.assign(copy=table.groupby(list(_KEY)).cumcount())


def summary(way: Way) -> Mapping[str, float | int | None]:
    """Return packets, lost ones, and delays in ms.

    These are the least, the median, the 99th percentile, the 99.9th and the largest of all packets
    that arrived.
    """
    delays_ms = way.delays["delay_ns"].to_numpy() / 1e6
    names = ("least_ms", "median_ms", "p99_ms", "p999_ms", "largest_ms")
    values = (
        np.percentile(delays_ms, (0, 50, 99, 99.9, 100)) if delays_ms.size else (None,) * len(names)
    )
    return {
        "packets": way.packets,
        "lost": len(way.lost),
        **{
            name: None if value is None else float(value)
            for name, value in zip(names, values, strict=True)
        },
    }


def queueing_histogram(way: Way) -> list[tuple[float, int]]:
    """Return how many packets of a direction waited how long in queues: each of them counts.

    A packet waited for what its delay is above the least of all: on a path whose delay is constant
    that is the queue's, with the difference that sizes of packets make. Each pair has a bound in
    ms and the number of packets that waited less than it and not less than the bound before, the
    first from 0 on. Bounds rise by a tenth from ``LEAST_BOUND_MS`` on; empty ones are left out.
    """
    delays_ms = way.delays["delay_ns"].to_numpy() / 1e6
    if not delays_ms.size:
        return []
    ratios = np.maximum(delays_ms - delays_ms.min(), 0.0) / LEAST_BOUND_MS
    logs = np.log(np.maximum(ratios, np.finfo(float).tiny)) / np.log(BOUND_FACTOR)
    bins, counts = np.unique(np.maximum(np.floor(logs) + 1, 0).astype(int), return_counts=True)
    return [
        (LEAST_BOUND_MS * BOUND_FACTOR ** int(each), int(count))
        for each, count in zip(bins, counts, strict=True)
    ]
