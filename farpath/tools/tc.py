"""tc: the parser of a bottleneck's qdisc statistics over time."""

from __future__ import annotations

import json
from dataclasses import dataclass

from farpath.base.errors import LabFailedError


@dataclass(frozen=True)
class QueueSample:
    """A qdisc's statistics at one time; drops, bytes and packets count since it was created.

    ``t_s``: time since the schedule's start in s.
    """

    t_s: float
    backlog_bytes: int
    backlog_packets: int
    drops: int
    bytes: int
    packets: int


def parse_samples(text: str) -> list[QueueSample]:
    """Parse lines that hold a time in s, a space and the output of ``tc -s -j qdisc show``.

    Samples are of the root qdisc. Raises LabFailedError for a line that is cut short or has no
    root qdisc.
    """
    samples = []
    for number, line in enumerate(text.splitlines(), start=1):
        t_s, _, output = line.partition(" ")
        try:
            root = next(qdisc for qdisc in json.loads(output) if qdisc.get("root"))
            samples.append(
                QueueSample(
                    t_s=float(t_s),
                    backlog_bytes=root["backlog"],
                    backlog_packets=root["qlen"],
                    drops=root["drops"],
                    bytes=root["bytes"],
                    packets=root["packets"],
                )
            )
        except (ValueError, KeyError, StopIteration) as error:
            raise LabFailedError(f"line {number} of the queue's samples is broken", line) from error
    return samples
