"""tc: the parser of a bottleneck's statistics over time."""

from __future__ import annotations

import json
from dataclasses import dataclass

from farpath.base.errors import LabFailedError


@dataclass(frozen=True)
class QueueSample:
    """A queue at one time; drops, bytes and packets count since it was made."""

    t_s: float
    backlog_bytes: int
    backlog_packets: int
    drops: int
    bytes: int
    packets: int


def parse_samples(text: str) -> list[QueueSample]:
    """Lines of a time in s, a blank and what ``tc -s -j qdisc show`` said then.

    The root queue counts. Raises :class:`LabFailedError` for a line cut short or
    without a root queue.
    """
    samples = []
    for number, line in enumerate(text.splitlines(), start=1):
        t_s, _, said = line.partition(" ")
        try:
            root = next(queue for queue in json.loads(said) if queue.get("root"))
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
