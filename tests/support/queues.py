"""Samples of a queue."""

from __future__ import annotations

from farpath.tools.tc import QueueSample


def queue_samples(*samples: tuple[float, int, int]) -> list[QueueSample]:
    """Samples of time, packets waiting and bytes sent so far."""
    return [
        QueueSample(t_s, backlog_bytes=1514 * waiting, backlog_packets=waiting, drops=0,
                    bytes=sent, packets=0)
        for t_s, waiting, sent in samples
    ]  # fmt: skip
