"""What the input queue and the memory of walks along SACKs do to each stack, by its surrogate.

At the path that the printed numbers make likeliest, all else equal: a full input queue drops ACKs,
upon which timeouts send again what had arrived, and walks that are not remembered fill the queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from farpath.metrics.flow_summary import flows_of, spurious_of
from farpath.record.record import Record

from .design import PARAMETERS
from .surrogate import MEAN, OUTPUTS, STABILITY, Array, Output, Surrogate

#: The part of all retransmissions that were of packets that had arrived; UDT has none of TCP's.
SPURIOUS = Output("spurious_part", "logit")
#: Input queues in packets, and whether walks are remembered.
HOSTS = ((300, False), (1_000, False), (10_000, False), (300, True))
_BACKLOG = [parameter.name for parameter in PARAMETERS].index("backlog")
_SHOWN = (MEAN, STABILITY)


@dataclass(frozen=True)
class HostEffect:
    """Numbers of a stack's test with hosts of one kind, and their standard deviations of a run.

    ``spurious_part``: of retransmissions. ``deviation_mbps``: of the mean by which runs differ.
    """

    stack: str
    backlog_packets: int
    hinted: bool
    spurious_part: float
    mean_mbps: float
    deviation_mbps: float
    stability: float


def spurious_part(record: Record) -> float | None:
    """Return the part of TCP's retransmissions that were spurious; None if that is not counted."""
    flows = flows_of(record)
    spurious = spurious_of(flows)
    if spurious is None:
        return None
    again = sum(flow.retransmits or 0 for flow in flows if flow.resent is None)
    return spurious / again if again else 0.0


def effects(surrogates: Mapping[str, Surrogate], path: Sequence[float]) -> Iterator[HostEffect]:
    """Yield the numbers of each TCP stack with each kind of hosts.

    ``path``: the parameters' places in their ranges.
    """
    for stack, surrogate in surrogates.items():
        if SPURIOUS.name not in surrogate.processes:
            continue
        outputs = (*(each for each in OUTPUTS if each.name in _SHOWN), SPURIOUS)
        means, scales = surrogate.predict(
            np.array([_inputs(path, *host) for host in HOSTS]), outputs
        )
        values = [output.backward(means[:, index]) for index, output in enumerate(outputs)]
        for number, (backlog, hinted) in enumerate(HOSTS):
            mean, stability, spurious = (float(column[number]) for column in values)
            yield HostEffect(
                stack, backlog, hinted, spurious, mean, mean * float(scales[number, 0]), stability
            )


def _inputs(path: Sequence[float], backlog_packets: int, hinted: bool) -> Array:
    inputs = np.array([*path, float(hinted)])
    inputs[_BACKLOG] = PARAMETERS[_BACKLOG].part_of(backlog_packets)
    return inputs
