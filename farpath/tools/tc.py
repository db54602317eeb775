"""tc: the parser of a bottleneck's qdisc statistics over time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import LabFailedError


@dataclass(frozen=True)
class QueueSample:
    """A qdisc's statistics at one time; all but the backlog count since it was created.

    ``t_s``: time since the schedule's start in s. ``marks``: packets that the qdiscs below it have
    marked by ECN.
    """

    t_s: float
    backlog_bytes: int
    backlog_packets: int
    drops: int
    bytes: int
    packets: int
    marks: int = 0


def marks_of(qdisc: Mapping[str, Any]) -> int:
    """Return how many packets a qdisc has marked, from its entry in tc's JSON.

    red counts ``marked``. The others count ``ecn_mark``, cake for each of its tins, and codel and
    fq_codel ``ce_mark`` for what exceeds ``ce_threshold``.
    """
    counted = [qdisc, *qdisc.get("tins", ())]
    return sum(part.get(name, 0) for part in counted for name in ("marked", "ecn_mark", "ce_mark"))


def parse_samples(text: str) -> list[QueueSample]:
    """Parse lines that hold a time in s, a space and the output of ``tc -s -j qdisc show``.

    Samples are of the root qdisc, but marks are of all. Raises LabFailedError for a line that is
    cut short or has no root qdisc.
    """
    samples = []
    for number, line in enumerate(text.splitlines(), start=1):
        t_s, _, output = line.partition(" ")
        try:
            qdiscs = json.loads(output)
            root = next(qdisc for qdisc in qdiscs if qdisc.get("root"))
            samples.append(
                QueueSample(
                    t_s=float(t_s),
                    backlog_bytes=root["backlog"],
                    backlog_packets=root["qlen"],
                    drops=root["drops"],
                    bytes=root["bytes"],
                    packets=root["packets"],
                    marks=sum(map(marks_of, qdiscs)),
                )
            )
        except (ValueError, KeyError, StopIteration) as error:
            raise LabFailedError(f"line {number} of the queue's samples is broken", line) from error
    return samples
