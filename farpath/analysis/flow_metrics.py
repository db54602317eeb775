"""Flow: figures of one flow of a record that several experiments ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.analysis.metrics import per_second
from farpath.record.record import Record
from farpath.spec.path import Path
from farpath.spec.window import segment_bytes

if TYPE_CHECKING:
    import pandas as pd

#: The part of a run in which a flow forgets how it began.
WARM_UP_PART = 0.25


def payload_bytes(path: Path, ip_version: int) -> int:
    """What a full packet carries of a TCP flow."""
    return segment_bytes(path.mtu_bytes, ip_version)[0]


def goodput_bps(path: Path, ip_version: int) -> float:
    """What a path can carry of payload: its rate less headers."""
    return path.rate_bps * payload_bytes(path, ip_version) / path.frame_bytes


def bdp_packets(path: Path) -> float:
    """The path's bandwidth-delay product in full packets."""
    return path.bdp_bytes / path.frame_bytes


def rows_of(record: Record, flow: str = "flow1") -> pd.DataFrame:
    """A flow's samples that its sender was alive for."""
    rows = record.samples.flows
    return rows[(rows["flow"] == flow) & (rows["cwnd_bytes"] > 0)]


def trace_of(record: Record) -> pd.DataFrame | None:
    """The first flow's rows of a record's trace, if it has one."""
    trace = record.trace
    return None if trace is None else trace[trace["flow"] == record.plan.schedule.flows[0].name]


def warm_s(record: Record) -> float:
    """When a run's first quarter is over."""
    return WARM_UP_PART * record.plan.schedule.duration_s


def mean_bps(record: Record, flow: str = "flow1", from_s: float | None = None) -> float:
    """A flow's throughput from a time on, after the run's first quarter if none is given.

    By whole seconds: a flow's last row is of a moment, and may be of any throughput.
    """
    begin_s = warm_s(record) if from_s is None else from_s
    each = per_second(record.samples, record.plan.schedule)[flow]
    return float(each[each.index > begin_s].mean())
