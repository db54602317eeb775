"""Queue table: builds the table of all queues of a run that has several, by their links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.errors import LabFailedError
from farpath.base.frames import typed_frame
from farpath.mechanisms.mechanism import FurtherTable, RecordPart
from farpath.mechanisms.registry import mechanisms
from farpath.tools import tc
from topologies import lay_out

if TYPE_CHECKING:
    import pandas as pd

    from farpath.spec.plan import Plan

#: Sampled values of each queue (``farpath.tools.tc.QueueSample``).
NUMBERS = ("backlog_bytes", "backlog_packets", "drops", "bytes", "marks")
COLUMNS = {"link": "str", "t_s": "float", **dict.fromkeys(NUMBERS, "int")}


@dataclass(frozen=True, eq=False)
class QueueTable:
    """The samples of all queues of a run.

    ``frame``: a row for each sample of each link. ``link`` is its two nodes in the direction of its
    packets, as ``s1-s2``. All but the backlog count since the schedule's start: ``bytes`` is the
    size of the frames that left the queue, and ``marks`` the packets that an active queue marked by
    ECN.
    """

    frame: pd.DataFrame

    @property
    def part(self) -> RecordPart:
        """The table as a part of a record."""
        return TABLE.part(self.frame)


def links_of(plan: Plan) -> dict[str, str]:
    """Return the link of each port whose queue is sampled, the record's first.

    A cable of a user's topology has its own two ends as its name, also if there is a switch within.
    """
    layout = lay_out(plan)
    if plan.user_network:
        narrow = plan.user_network.bottlenecks(plan.pairs)
        others = (step for step in plan.user_network.rated(plan.pairs) if step not in narrow)
        names = [f"{step.start}-{step.end}" for step in (*narrow, *others)]
        return dict(zip(layout.queues, names, strict=True))
    ends = {}
    for link in layout.links:
        ends[link.one.name] = f"{link.one.node}-{link.other.node}"
        ends[link.other.name] = f"{link.other.node}-{link.one.node}"
    return {port: ends[port] for port in layout.queues}


def _rows_in(plan: Plan) -> float:
    duration_s = plan.schedule.duration_s + plan.grace_s
    return len(links_of(plan)) * duration_s / plan.settings.sample_interval_s


TABLE = FurtherTable("queues", COLUMNS, _rows_in)


def further_tables() -> dict[str, FurtherTable]:
    """Return, by name, the tables that only some records have."""
    tables = [TABLE, *(table for one in mechanisms() for table in one.tables)]
    return {table.name: table for table in tables}


def from_raw(raw_dir: FilePath, plan: Plan) -> QueueTable | None:
    """Build the table from a run's raw output; None if the plan has one queue.

    Raises LabFailedError if a file is missing or broken.
    """
    links = links_of(plan)
    if len(links) == 1:
        return None
    first, *_ = links
    rows = [
        row
        for port, link in links.items()
        for row in _rows(raw_dir / ("queue.txt" if port == first else f"queue-{port}.txt"), link)
    ]
    return QueueTable(typed_frame(COLUMNS, rows))


def _rows(file: FilePath, link: str) -> list[tuple[object, ...]]:
    """Return the rows of one queue; its counts begin with 0 at its first sample."""
    try:
        samples = tc.parse_samples(file.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise LabFailedError(f"the lab left no {file.name} in {file.parent}") from error
    except LabFailedError as error:
        raise LabFailedError(f"{file.name}: {error.message}", error.detail) from error
    counted: Mapping[str, int] = {
        name: getattr(samples[0], name) if samples else 0 for name in ("drops", "bytes", "marks")
    }
    return [
        (link, sample.t_s, *(getattr(sample, name) - counted.get(name, 0) for name in NUMBERS))
        for sample in samples
    ]
