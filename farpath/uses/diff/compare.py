"""The comparison of two runs: made again with captures, read, and put side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.mechanisms.capture.capture_files import NAME, captured_files
from farpath.record.record import Record
from farpath.runs.again import Repeated, repeat
from farpath.spec.schedule import Flow
from farpath.uses.diff.first_packet import (
    RUNS,
    Captured,
    Difference,
    Place,
    find,
    other_run,
    packets_before,
)
from farpath.uses.diff.held import (
    FromPackets,
    Sample,
    Samples,
    first_other_sample,
    from_packets,
    samples_around,
)
from farpath.uses.diff.packet_words import Seen, differing, seen
from farpath.uses.diff.question import Question

if TYPE_CHECKING:
    import pandas as pd

#: How many packets before the difference are shown.
BEFORE = 12


@dataclass(frozen=True)
class Held:
    """What the sender of a flow held at the instant of a difference, by run.

    ``samples``: of the trace. ``packets``: what the packets at the sender say; None where its
    capture is missing. ``first_other``: the first samples that differ, at one time, if any do.
    """

    flow: str
    samples: Mapping[str, Samples]
    packets: Mapping[str, FromPackets | None]
    first_other: tuple[Sample, Sample] | None


@dataclass(frozen=True)
class Pair:
    """A packet in which two runs differ, beside its twin.

    ``packets``: of each run, None where it has none. ``differs_in``: names of fields.
    ``late_ns``: how much later the twin comes; None without one.
    """

    difference: Difference
    packets: Mapping[str, Seen | None]
    differs_in: tuple[str, ...]
    late_ns: int | None

    @property
    def run(self) -> str:
        """The run in which the packet comes first."""
        return self.difference.run

    @property
    def packet(self) -> Seen:
        """The packet of that run."""
        packet = self.packets[self.run]
        assert packet is not None
        return packet

    @property
    def twin(self) -> Seen | None:
        """Its twin in the other run."""
        return self.packets[other_run(self.run)]

    @property
    def is_twin(self) -> bool:
        """Whether the twin is the same packet at another time."""
        return self.difference.twin_is_late

    @property
    def way(self) -> str:
        """Whether the packet leaves the place's host, arrives there, or passes a bottleneck."""
        place = self.difference.place
        if not place.is_host:
            return "passes"
        return "leaves" if place.of(self.run).leaves(self.difference.first_index) else "arrives at"


@dataclass(frozen=True)
class Comparison:
    """Two runs, and the first packet in which they differ.

    ``runs``: by ``a`` and ``b``. ``places``: that were captured; ``left_out``: for which there was
    no room. ``counts``: packets of each run by place. ``first``: in bytes or time; None of runs
    without any difference. ``substance``: in what TCP decided, where that is another packet.
    ``before``: packets before the one that is told in full, at its place. ``held``: None where that
    packet is of no flow of TCP.
    """

    names: Mapping[str, str]
    runs: Mapping[str, Repeated]
    places: tuple[str, ...]
    left_out: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    first: Pair | None = None
    substance: Pair | None = None
    before: tuple[Seen, ...] = ()
    held: Held | None = None
    captured: Mapping[str, Place] = field(default_factory=dict)

    @property
    def told(self) -> Pair | None:
        """The difference that is told in full."""
        return self.substance or self.first

    @property
    def records(self) -> Mapping[str, FilePath]:
        """The directories of the runs that were made again."""
        return {run: repeated.record.directory for run, repeated in self.runs.items()}

    @property
    def files(self) -> Mapping[str, FilePath]:
        """The captures, by run, at the place of the difference that is told."""
        if self.told is None:
            return {}
        place = self.told.difference.place
        return {run: place.of(run).file for run in RUNS}


def compare(question: Question, names: Mapping[str, str], cores: int | None) -> Comparison:
    """Make both runs again, and find the first packet in which they differ.

    ``names``: of both runs, as they were typed. Raises as ``repeat``.
    """
    repeated = repeat([question.a, question.b], "diff", cores)
    return compare_repeated(question, names, dict(zip(RUNS, repeated, strict=True)))


def compare_repeated(
    question: Question, names: Mapping[str, str], repeated: Mapping[str, Repeated]
) -> Comparison:
    """Find the first packet in which two runs differ, which were made again with captures."""
    records = {run: one.record for run, one in repeated.items()}
    counts = {
        run: {place: int(record.data[NAME][place]["packets"]) for place in question.places}
        for run, record in records.items()
    }
    places = _places(records, question.places)
    flows = [flow for flow in records["a"].plan.schedule.all_flows if _is_in(flow, records["b"])]
    found = find(places, [flow.port for flow in flows])
    ports = {flow.port: flow.name for flow in flows}
    first = None if found.first is None else _pair(found.first, ports)
    substance = None if found.substance is None else _pair(found.substance, ports)
    if first and substance and _is_same(first.difference, substance.difference):
        substance = None
    told = substance or first
    before: tuple[Seen, ...] = ()
    if told is not None:
        captured = told.difference.place.of(told.run)
        before = tuple(
            seen(captured, index, ports) for index in packets_before(told.difference, BEFORE)
        )
    held = None if told is None else _held(told, flows, found.places, records)
    return Comparison(
        names, repeated, question.places, question.left_out, counts, first, substance, before, held,
        found.places,
    )  # fmt: skip


def _is_in(flow: Flow, record: Record) -> bool:
    return any(
        (one.port, one.sender, one.receiver) == (flow.port, flow.sender, flow.receiver)
        for one in record.plan.schedule.all_flows
    )


def _places(records: Mapping[str, Record], names: tuple[str, ...]) -> list[Place]:
    files = {run: captured_files(record) for run, record in records.items()}
    plan = records["a"].plan
    receivers = set(plan.receivers) - {flow.sender for flow in plan.schedule.all_flows}
    hosts = {*plan.hosts, *receivers}
    return [
        Place(
            name,
            Captured(name, files["a"][name], name not in receivers),
            Captured(name, files["b"][name], name not in receivers),
            is_host=name in hosts,
        )
        for name in names
    ]


def _is_same(one: Difference, other: Difference) -> bool:
    return one.place.name == other.place.name and one.index == other.index


def _pair(difference: Difference, ports: Mapping[int, str]) -> Pair:
    packets = {
        run: None if index is None else seen(difference.place.of(run), index, ports)
        for run, index in difference.index.items()
    }
    a, b = packets["a"], packets["b"]
    fields = tuple(differing(a.fields, b.fields)) if a and b else ()
    late_ns = None
    if a and b:
        late_ns = abs(a.fields["time_ns"] - b.fields["time_ns"])
    return Pair(difference, packets, fields, late_ns)


def _held(
    told: Pair,
    flows: list[Flow],
    places: Mapping[str, Place],
    records: Mapping[str, Record],
) -> Held | None:
    """Return what the flow's sender held just before a packet; None for packets of no flow."""
    name = told.packet.fields.get("flow")
    flow = next((one for one in flows if one.name == name), None)
    if flow is None:
        return None
    traces: dict[str, pd.DataFrame | None] = {run: records[run].trace for run in RUNS}
    times_ns = {run: _shared_until_ns(told.difference, run) for run in RUNS}
    packets: dict[str, FromPackets | None] = dict.fromkeys(RUNS)
    sender = places.get(flow.sender)
    for run in RUNS if sender else ():
        assert sender is not None
        data = sender.of(run).data_of(flow.port)
        if data is None:
            continue
        _, rows = data
        if told.difference.place.name == sender.name:
            rows = rows[rows["packet"] <= told.difference.before[run]]
        else:
            rows = rows[rows["time_ns"] <= times_ns[run]]
        packets[run] = from_packets(rows, times_ns[run])
    samples = {run: samples_around(traces[run], flow.name, times_ns[run]) for run in RUNS}
    other = first_other_sample(traces["a"], traces["b"], flow.name)
    return Held(flow.name, samples, packets, other)


def _shared_until_ns(difference: Difference, run: str) -> int:
    """Return the instant of a difference by the time of a run.

    In the run where the packet does not come first, times may be others already: it is that of the
    last packet which both runs share, where that is behind it.
    """
    if run == difference.run or not (before := difference.before[run]):
        return difference.time_ns
    last_ns = int(difference.place.of(run).packets.time_ns[before - 1])
    return max(last_ns, difference.time_ns)


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values for programs."""
    return {
        "runs": {
            run: {
                "name": comparison.names[run],
                "record": str(repeated.record.directory),
                "fingerprint": repeated.record.fingerprint,
                "kernel": repeated.record.kernel,
                "kernel_source": repeated.record.data["provenance"]["kernel"].get("source", ""),
                "note": repeated.difference,
            }
            for run, repeated in comparison.runs.items()
        },
        "places": list(comparison.places),
        "left_out": list(comparison.left_out),
        "packets": {run: dict(counts) for run, counts in comparison.counts.items()},
        "differs": comparison.first is not None,
        "first": _pair_dict(comparison.first),
        "first_decision": _pair_dict(comparison.told if comparison.substance else None),
        "before": [packet.fields for packet in comparison.before],
        "held": _held_dict(comparison.held),
    }


def _pair_dict(pair: Pair | None) -> dict[str, Any] | None:
    if pair is None:
        return None
    return {
        "place": pair.difference.place.name,
        "way": pair.way,
        "time_ns": pair.difference.time_ns,
        "first_in": pair.run,
        "differs_in": list(pair.differs_in),
        "twin_late_ns": pair.late_ns,
        "twin_is_same_packet": pair.is_twin,
        **{run: packet.fields if packet else None for run, packet in pair.packets.items()},
    }


def _held_dict(held: Held | None) -> dict[str, Any] | None:
    if held is None:
        return None
    return {
        "flow": held.flow,
        **{
            run: {
                "samples": held.samples[run].as_dict(),
                "packets": packets.as_dict() if (packets := held.packets[run]) else None,
            }
            for run in RUNS
        },
        "first_other_samples": (
            dict(zip(RUNS, held.first_other, strict=True)) if held.first_other else None
        ),
    }
