"""Metrics of short flows: completion times by size, and the load that was offered and carried."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from farpath.base.sizes import size_text

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record

#: Upper bounds of the classes of sizes in bytes; the last class has none. Flows below the first
#: mostly fit into an initial window of 10 segments (RFC 6928).
CLASS_BOUNDS_BYTES = (10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class SizeClass:
    """Short flows of similar size: ``least_bytes`` to below ``bound_bytes``, None for no bound.

    ``flows`` have started, and ``finished`` of them had ended with the schedule. The percentiles
    are of the completion times of these in ms, None without any.
    """

    least_bytes: int
    bound_bytes: int | None
    flows: int
    finished: int
    median_ms: float | None
    p95_ms: float | None
    p99_ms: float | None

    @property
    def title(self) -> str:
        """The class in words, as in ``10 kB to 100 kB``."""
        if self.bound_bytes is None:
            return f"{size_text(self.least_bytes)} or more"
        if not self.least_bytes:
            return f"less than {size_text(self.bound_bytes)}"
        return f"{size_text(self.least_bytes)} to {size_text(self.bound_bytes)}"


@dataclass(frozen=True)
class ShortFlowSummary:
    """The short flows of a run.

    ``offered_bps`` is the payload that all asked for, ``carried_bps`` what arrived of it, both over
    the time in which they came. ``classes``: those with flows.
    """

    flows: int
    finished: int
    retransmits: int
    offered_bps: float
    carried_bps: float
    classes: tuple[SizeClass, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return asdict(self)


def summarise_short_flows(frame: pd.DataFrame, duration_s: float) -> ShortFlowSummary:
    """Summarise a table of short flows (``farpath.mechanisms.traffic.short_flow_table``).

    ``duration_s``: how long they came.
    """
    per_s = 8 / duration_s
    bounds = pairwise((0, *CLASS_BOUNDS_BYTES, None))
    classes = [_size_class(frame, least or 0, bound) for least, bound in bounds]
    return ShortFlowSummary(
        flows=len(frame),
        finished=int(frame["completion_s"].notna().sum()),
        retransmits=int(frame["retransmits"].sum()),
        offered_bps=float(frame["size_bytes"].sum()) * per_s,
        carried_bps=float(frame["received_bytes"].sum()) * per_s,
        classes=tuple(one for one in classes if one.flows),
    )


def short_flows_of(record: Record) -> ShortFlowSummary | None:
    """Summarise the short flows of a record; None of a run without any."""
    frame = record.short_flows
    return None if frame is None else summarise_short_flows(frame, record.plan.schedule.duration_s)


def _size_class(frame: pd.DataFrame, least: int, bound: int | None) -> SizeClass:
    within = (frame["size_bytes"] >= least) & (frame["size_bytes"] < (bound or math.inf))
    rows = frame[within]
    times_ms = 1e3 * rows["completion_s"].dropna().to_numpy(dtype=np.float64)
    percentiles = (
        [float(value) for value in np.percentile(times_ms, (50, 95, 99))]
        if times_ms.size
        else [None, None, None]
    )
    return SizeClass(least, bound, len(rows), int(times_ms.size), *percentiles)
