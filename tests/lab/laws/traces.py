"""Traces: a flow's window ten times a second, cut where the flow lost packets."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from statistics import mean
from typing import Any

from farpath.spec.path import Path
from tests.support.paths import SHORT

from ..conftest import RunPlan, single_flow
from .responses import PAYLOAD_BYTES

#: The least that iperf3 offers.
SAMPLE_S = 0.1
FRAME_BYTES = 1514


@dataclass(frozen=True)
class Epoch:
    """A flow between two losses: times in s, windows in packets, RTTs in s.

    ``before``: the last window before the loss that began the epoch; 0 for the
    first, which slow start began. ``since_s``: when packets were first sent again
    then, at most a sample too late.
    """

    before: int
    since_s: float
    t_s: list[float]
    window: list[int]
    rtt_s: list[float]

    def losses(self, kept_fraction: float) -> int:
        """How often a loss that leaves ``kept`` must have come to begin this epoch.

        Packets lost in two successive round trips are two losses: the second is sent
        when the first is known already.
        """
        return round(math.log(self.window[0] / self.before) / math.log(kept_fraction))

    @property
    def growth_per_rtt(self) -> float:
        """Factor by which the window grew in each of its RTTs, on average."""
        rtts = (self.t_s[-1] - self.t_s[0]) / mean(self.rtt_s)
        return float((self.window[-1] / self.window[0]) ** (1 / rtts))

    def slope(self, low: float, high: float) -> float | None:
        """Packets gained per RTT while the window lay in that range.

        None if that was for less than five samples.
        """
        inside = [k for k, window in enumerate(self.window) if low <= window < high]
        if len(inside) < 5:
            return None
        first, last = inside[0], inside[-1]
        rtts = (self.t_s[last] - self.t_s[first]) / mean(self.rtt_s[first : last + 1])
        return (self.window[last] - self.window[first]) / rtts


def narrow_path(rtt_s: float, packets: int, buffer_packets: int) -> Path:
    """A path without random loss that holds ``packets`` and a buffer beside them."""
    return dataclasses.replace(
        SHORT,
        rtt_ms=rtt_s * 1000,
        rate_bps=round(packets * FRAME_BYTES * 8 / rtt_s),
        buffer_bytes=buffer_packets * FRAME_BYTES,
        loss=0.0,
    )


def epochs(
    run_plan: RunPlan, stack: str, duration_s: float, path: Path, **settings: Any
) -> list[Epoch]:
    """What a lone flow does between its losses, from the first loss on."""
    plan = single_flow(stack, duration_s, path, sample_interval_s=SAMPLE_S, **settings)
    rows = run_plan(plan).samples.flows
    rows = rows[rows["cwnd_bytes"] > 0]
    epochs: list[Epoch] = []
    before, last, since_s = 0, 0, 0.0
    open_epoch: Epoch | None = None
    for t_s, cwnd_bytes, retransmits, rtt_us in zip(
        rows["t_s"], rows["cwnd_bytes"], rows["retransmits"], rows["rtt_us"], strict=True
    ):
        window = round(cwnd_bytes / PAYLOAD_BYTES)
        if retransmits or window < last:
            if open_epoch or not since_s:
                before, since_s = last, t_s
            open_epoch = None
        elif since_s:
            if open_epoch is None:
                open_epoch = Epoch(before, since_s, [], [], [])
                epochs.append(open_epoch)
            open_epoch.t_s.append(t_s)
            open_epoch.window.append(window)
            open_epoch.rtt_s.append(rtt_us / 1e6)
        last = window
    return epochs
