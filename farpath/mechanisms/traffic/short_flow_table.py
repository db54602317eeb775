"""Short flow table: builds the table of a run's short flows from their programs' lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.errors import LabFailedError
from farpath.base.frames import typed_frame
from farpath.mechanisms.mechanism import FurtherTable, RecordPart
from farpath.spec.arrivals import MOST_SHORT_FLOWS, Arrival, arrivals
from farpath.spec.hosts import CLIENT, SERVER
from farpath.spec.protocol import SHORT_FLOWS_FILE
from farpath.tools.short_flows import parse_client, parse_server

if TYPE_CHECKING:
    import pandas as pd

    from farpath.spec.plan import Plan

COLUMNS = {
    "number": "int",
    "start_s": "float",
    "size_bytes": "int",
    "received_bytes": "int",
    "completion_s": "float",
    "retransmits": "int",
}
TABLE = FurtherTable("short_flows", COLUMNS, lambda _plan: MOST_SHORT_FLOWS)


@dataclass(frozen=True, eq=False)
class ShortFlowTable:
    """The short flows of a run.

    ``frame``: one row for each flow, in the order of their numbers. ``start_s`` is when its client
    connected, from the schedule's start, ``completion_s`` the time from there to its last byte,
    NaN if that had not come when the schedule ended. ``retransmits``: segments that its server
    sent again. ``congestion``: the congestion controls of the server's connections.
    """

    frame: pd.DataFrame
    congestion: tuple[str, ...]

    @property
    def part(self) -> RecordPart:
        """The table as a part of a record."""
        return TABLE.part(self.frame, congestion=list(self.congestion))


def drawn(plan: Plan, duration_s: float) -> list[Arrival]:
    """Return the flows that a plan draws for the first seconds of its schedule, or all of it."""
    return list(takewhile(lambda arrival: arrival.start_s < duration_s, arrivals(plan)))


def from_raw(raw_dir: FilePath, plan: Plan, duration_s: float = math.inf) -> ShortFlowTable | None:
    """Build the table from a run's raw output; None if the plan has no short flows.

    ``duration_s``: how long the schedule was played, all of it by default. A flow that began later
    is left out, as one within the microseconds between the end of a user's client and that of the
    flows. Raises LabFailedError if a file is missing or broken.
    """
    if plan.path.short_flows is None:
        return None
    served = {flow.number: flow for flow in parse_server(_read(raw_dir, SERVER))}
    sizes_bytes = {arrival.number: arrival.size_bytes for arrival in drawn(plan, duration_s)}
    rows = []
    for flow in parse_client(_read(raw_dir, CLIENT)):
        if flow.number not in sizes_bytes:
            continue
        completion_s = math.nan if flow.end_s is None else round(flow.end_s - flow.start_s, 9)
        again = served[flow.number].retransmits if flow.number in served else 0
        size_bytes = sizes_bytes[flow.number]
        rows.append(
            (flow.number, flow.start_s, size_bytes, flow.received_bytes, completion_s, again)
        )
    congestion = tuple(sorted({flow.congestion for flow in served.values()}))
    return ShortFlowTable(typed_frame(COLUMNS, sorted(rows)), congestion)


def _read(raw_dir: FilePath, host: str) -> str:
    file = raw_dir / SHORT_FLOWS_FILE.format(host=host)
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise LabFailedError(f"the lab left no {file.name} in {raw_dir}") from error
