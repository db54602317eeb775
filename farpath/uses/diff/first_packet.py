"""The first packet in which captures of two runs differ, over all places by virtual time.

Captures are exact: of equal runs every packet has the same bytes at the same nanosecond. What
differs is looked for twice. ``first``: in bytes or time. ``substance``: among the segments of the
flows' data connections in what TCP decided - sequence and acknowledgement numbers relative to the
connection's first, length, flags, windows, SACK - wherever two requests begin with other random
numbers, or with a packet that is some microseconds late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import numpy as np

from farpath.base.errors import BadInputError
from farpath.captures.packets import Packets, read_packets
from farpath.captures.segments import Capture, Connection, segments_of

if TYPE_CHECKING:
    import pandas as pd

NS_PER_S = 1_000_000_000
RUNS = ("a", "b")
#: How much of a capture is read behind the first byte that differs: 25,000 packets and more.
MARGIN_BYTES = 4 << 20
#: How much of two captures is compared at once.
CHUNK_BYTES = 1 << 24
#: Columns of a segment that TCP decides; times, timestamps, TTL and IP's identifier are left out.
DECIDED = (
    "from_client", "seq", "ack", "length", "tcp_flags", "ecn", "window",
    "sack1_left", "sack1_right", "sack2_left", "sack2_right", "sack3_left", "sack3_right",
)  # fmt: skip


@dataclass(frozen=True)
class Captured:
    """The capture of one place in one run, read when it is first used.

    ``sends_first``: whether its host sends the first packet, as senders do, and receivers do not.
    ``most_bytes``: of the file that are read, from its beginning; None for all.
    """

    place: str
    file: FilePath
    sends_first: bool = True
    most_bytes: int | None = None

    @cached_property
    def packets(self) -> Packets:
        """Its packets."""
        return read_packets(self.file, self.most_bytes)

    @cached_property
    def tcp(self) -> Capture | None:
        """The TCP of them; None if there is none."""
        try:
            return segments_of(self.packets, self.file)
        except BadInputError:
            return None

    def bytes_of(self, index: int) -> bytes:
        """Return the bytes that are held of a packet."""
        packets = self.packets
        start = int(packets.start[index])
        return packets.data[start : start + int(packets.held_bytes[index])].tobytes()

    def segment(self, index: int) -> pd.Series[int] | None:
        """Return the row of a packet that is a TCP segment, else None."""
        if self.tcp is None:
            return None
        numbers = self.tcp.segments["packet"].to_numpy()
        row = int(np.searchsorted(numbers, index + 1))
        if row == numbers.size or numbers[row] != index + 1:
            return None
        return self.tcp.segments.iloc[row]

    def data_connection(self, port: int) -> Connection | None:
        """Return the connection to a flow's port that carries its data; None if there is none."""
        connections = self.tcp.connections if self.tcp else ()
        found = [one for one in connections if one.server_port == port]
        return max(found, key=lambda one: one.client_bytes, default=None)

    def data_of(self, port: int) -> tuple[Connection, pd.DataFrame] | None:
        """Return that connection and its segments; None if there is none."""
        connection = self.data_connection(port)
        if connection is None or self.tcp is None:
            return None
        return connection, self.tcp.of(connection)

    @cached_property
    def mac(self) -> bytes:
        """The Ethernet address of the host's port: source or target of the first packet."""
        first = self.bytes_of(0)
        return first[6:12] if self.sends_first else first[:6]

    def leaves(self, index: int) -> bool:
        """Whether a packet leaves the host of this place."""
        return self.bytes_of(index)[6:12] == self.mac


@dataclass(frozen=True)
class Place:
    """A place with its captures in both runs."""

    name: str
    a: Captured
    b: Captured
    is_host: bool

    def of(self, run: str) -> Captured:
        """Return the capture of run ``a`` or ``b``."""
        return self.a if run == "a" else self.b

    def cut_behind(self, at_byte: int) -> Place:
        """Return the place with as much of its captures as is needed around a byte of them."""
        most_bytes = at_byte + MARGIN_BYTES
        return replace(
            self,
            a=replace(self.a, most_bytes=most_bytes),
            b=replace(self.b, most_bytes=most_bytes),
        )

    def first_other_byte(self) -> int | None:
        """Return the first byte in which the two files differ; None of equal files."""
        at = 0
        with self.a.file.open("rb") as one, self.b.file.open("rb") as other:
            while True:
                a, b = one.read(CHUNK_BYTES), other.read(CHUNK_BYTES)
                if a != b:
                    count = min(len(a), len(b))
                    pair = [np.frombuffer(each, dtype=np.uint8, count=count) for each in (a, b)]
                    unequal = pair[0] != pair[1]
                    return at + (int(np.argmax(unequal)) if unequal.any() else count)
                if not a:
                    return None
                at += len(a)


@dataclass(frozen=True)
class Difference:
    """A packet in which two runs differ.

    ``index``: of the packet in each run's capture of the place from 0, None where the run has no
    such packet. ``before``: how many packets of each run precede it there, which both share.
    ``run``: the run whose packet comes first, ``a`` or ``b``. ``time_ns``: when it comes there.
    ``twin_is_late``: whether its twin of the other run has the same bytes, or makes the same
    decisions, at another time.
    """

    place: Place
    index: Mapping[str, int | None]
    before: Mapping[str, int]
    run: str
    time_ns: int
    twin_is_late: bool

    @property
    def first_index(self) -> int:
        """The index of the packet in the run where it comes first."""
        index = self.index[self.run]
        assert index is not None
        return index


@dataclass(frozen=True)
class Found:
    """What was found: ``first`` in bytes or time, ``substance`` in what TCP decided.

    Both are None of equal runs. ``places``: by name, as far as their captures were read.
    """

    first: Difference | None
    substance: Difference | None
    places: Mapping[str, Place]


def find(places: Sequence[Place], ports: Sequence[int]) -> Found:
    """Find the first packet in which two runs differ.

    ``ports``: of the flows, to which data connections lead. Of captures that differ, as much is
    read as the answer needs, at first a part behind their first byte that differs.
    """
    others = {place.name: place.first_other_byte() for place in places}
    whole = {place.name: place for place in places}
    cut = {
        name: whole[name].cut_behind(at_byte)
        for name, at_byte in others.items()
        if at_byte is not None
    }
    first = min((one for place in cut.values() if (one := _exact(place))), key=_order, default=None)
    if first is None:
        return Found(None, None, whole)
    for read in (whole | cut, whole):
        hosts = [place for place in read.values() if place.is_host and place.name in cut]
        decided = [one for place in hosts for port in ports if (one := _decided(place, port))]
        if decided:
            return Found(first, min(decided, key=_order), read)
    return Found(first, None, whole | cut)


def _order(found: Difference) -> tuple[int, int]:
    """Order by time, and at one time first what leaves a host, then what arrives, then others."""
    if not found.place.is_host:
        return found.time_ns, 2
    leaves = found.place.of(found.run).leaves(found.first_index)
    return found.time_ns, 0 if leaves else 1


def _exact(place: Place) -> Difference | None:
    """Return the first packet of a place that differs in its bytes or its time."""
    a, b = place.a.packets, place.b.packets
    count = min(a.start.size, b.start.size)
    index = _first_index(a, b, count)
    if index == count and a.start.size == b.start.size:
        return None
    times = {
        run: int(packets.time_ns[index])
        for run, packets in zip(RUNS, (a, b), strict=True)
        if index < packets.start.size
    }
    run = min(times, key=lambda each: (times[each], each))
    before = dict.fromkeys(RUNS, index)
    other = other_run(run)
    if times.get(other) == times[run]:
        return Difference(place, before, before, run, times[run], False)
    return _with_twin(place, run, before, times[run])


def _with_twin(place: Place, run: str, before: Mapping[str, int], time_ns: int) -> Difference:
    """Return the difference of a packet whose twin is looked for in the other run.

    ``before``: how many packets of each run precede it, of ``run`` the packet's index.
    """
    other = other_run(run)
    index = before[run]
    twin = _twin(place.of(run), index, place.of(other), before[other])
    is_late = twin is not None and _decisions(place.of(run), index) == _decisions(
        place.of(other), twin
    )
    return Difference(place, {run: index, other: twin}, before, run, time_ns, is_late)


def _first_index(a: Packets, b: Packets, count: int) -> int:
    """Return the number of packets, of ``count``, that two captures begin with and share."""
    differs = np.zeros(count, dtype=bool)
    for name in ("time_ns", "length_bytes", "held_bytes", "start"):
        differs |= getattr(a, name)[:count] != getattr(b, name)[:count]
    index = int(np.argmax(differs)) if differs.any() else count
    if not index:
        return 0
    end = int(a.start[index - 1] + a.held_bytes[index - 1])
    unequal = a.data[:end] != b.data[:end]
    if not unequal.any():
        return index
    at = int(np.argmax(unequal))
    return int(np.searchsorted((a.start + a.held_bytes)[:index], at, side="right"))


def other_run(run: str) -> str:
    """Return the run with which a run is compared.

    >>> other_run("a"), other_run("b")
    ('b', 'a')
    """
    return "b" if run == "a" else "a"


def _decisions(captured: Captured, index: int) -> tuple[object, ...]:
    """Return what tells whether two packets are one: what TCP decided, or all bytes."""
    segment = captured.segment(index)
    if segment is None:
        return (captured.bytes_of(index),)
    return (segment["connection"], *(segment[name] for name in DECIDED))


def _twin(captured: Captured, index: int, other: Captured, begin: int) -> int | None:
    """Return the packet of another run that is a packet's twin, from ``begin`` on.

    Of a TCP segment it is the one with the same decisions, else the next with the same data, else
    the next of the same connection and direction. Of another packet it is the next with the same
    addresses and the same length.
    """
    segment = captured.segment(index)
    if segment is None or other.tcp is None:
        head, length = captured.bytes_of(index)[:14], captured.packets.length_bytes[index]
        later = np.flatnonzero(other.packets.length_bytes[begin:] == length) + begin
        return next((each for each in later.tolist() if other.bytes_of(each)[:14] == head), None)
    table = other.tcp.segments
    rows = table[
        (table["packet"] > begin)
        & (table["connection"] == segment["connection"])
        & (table["from_client"] == segment["from_client"])
    ]
    same_data = rows[(rows["seq"] == segment["seq"]) & (rows["length"] == segment["length"])]
    same = same_data[same_data["ack"] == segment["ack"]]
    for chosen in (same, same_data, rows):
        if len(chosen):
            return int(chosen["packet"].iloc[0]) - 1
    return None


def _decided(place: Place, port: int) -> Difference | None:
    """Return the first segment of a flow's data at a place that TCP decided otherwise."""
    rows: dict[str, pd.DataFrame] = {}
    for run in RUNS:
        found = place.of(run).data_of(port)
        if found is None:
            return None
        rows[run] = found[1]
    count = min(map(len, rows.values()))
    differs = np.zeros(count, dtype=bool)
    for name in DECIDED:
        differs |= rows["a"][name].to_numpy()[:count] != rows["b"][name].to_numpy()[:count]
    if not differs.any() and place.a.most_bytes is not None:
        return None
    index = int(np.argmax(differs)) if differs.any() else count
    here = {run: table.iloc[index] for run, table in rows.items() if index < len(table)}
    if not here:
        return None
    run = min(here, key=lambda each: (int(here[each]["time_ns"]), each))
    before = {each: _position(rows[each], index) for each in RUNS}
    return _with_twin(place, run, before, int(here[run]["time_ns"]))


def _position(rows: pd.DataFrame, index: int) -> int:
    """Return how many packets of the file precede a segment of a connection."""
    if index < len(rows):
        return int(rows["packet"].iloc[index]) - 1
    return int(rows["packet"].iloc[-1])


def packets_before(difference: Difference, count: int) -> Iterator[int]:
    """Yield the indices of the packets before a difference, in the run where it comes first."""
    yield from range(max(0, difference.first_index - count), difference.first_index)
