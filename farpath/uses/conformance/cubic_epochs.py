"""Measures of CUBIC's window between two losses."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from farpath.metrics.theory import cubic
from farpath.uses.conformance.trace_parts import (
    Measured,
    losses_of,
    slope_per_rtt,
    trace_of,
    unseen,
)

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record

#: Nearer to W_max than this fraction of it, whole packets say little about time.
PLATEAU_FRACTION = 0.03
NO_EPOCH = "no stretch of growth between losses is long enough"


@dataclass(frozen=True)
class Epoch:
    """The window between two losses; windows are in packets.

    ``w_max``: the window before the loss that began it, lowered by fast convergence if that was
    below the loss before. ``rows``: of the trace, from the end of recovery on.
    """

    w_max: float
    rows: pd.DataFrame

    @property
    def start_packets(self) -> float:
        """The window that the epoch starts with."""
        return float(self.rows["cwnd_packets"].iloc[0])

    @property
    def elapsed_s(self) -> pd.Series:
        """The time since the epoch's start for each row."""
        return self.rows["t_s"].sub(self.rows["t_s"].iloc[0])

    @property
    def formula_packets(self) -> list[float]:
        """W_cubic for each row (RFC 9438, 4.2)."""
        return [cubic.window_packets(t_s, self.w_max, self.start_packets) for t_s in self.elapsed_s]


def epochs_of(record: Record) -> list[Epoch]:
    """Return all epochs of the first flow, in order."""
    epochs, last = [], 0.0
    for loss in losses_of(trace_of(record)):
        window = loss.window_packets
        if len(loss.later) > 1:
            w_max = window * (cubic.FAST_CONVERGENCE if window < last else 1)
            epochs.append(Epoch(w_max, loss.later))
        last = window
    return epochs


def _line(epoch: Epoch) -> tuple[float, float] | None:
    """Fit cbrt(W - W_max) = cbrt(C) (t - K) to an epoch; return C and K, or None."""
    import numpy as np

    distance = epoch.rows["cwnd_packets"] - epoch.w_max
    clear = distance.abs() > PLATEAU_FRACTION * epoch.w_max
    if clear.sum() < 10:
        return None
    slope, offset = np.polyfit(epoch.elapsed_s[clear], np.cbrt(distance[clear]), 1)
    return float(slope**3), float(-offset / slope)


def constant_c(record: Record) -> Measured:
    """Return C of the first epoch, in packets per s^3."""
    epochs = epochs_of(record)
    line = _line(epochs[0]) if epochs else None
    return unseen(NO_EPOCH) if line is None else Measured(line[0])


def time_to_w_max_s(record: Record) -> Measured:
    """Return K of the first epoch by its curve, and by the formula."""
    epochs = epochs_of(record)
    line = _line(epochs[0]) if epochs else None
    if line is None:
        return unseen(NO_EPOCH)
    return Measured(line[1], cubic.k_s(epochs[0].w_max, epochs[0].start_packets))


def curve_deviation(record: Record) -> Measured:
    """Return the largest distance of an epoch's window from W_cubic, over W_max."""
    epochs = epochs_of(record)
    if not epochs:
        return unseen(NO_EPOCH)
    return Measured(
        max(
            float((epoch.rows["cwnd_packets"] - epoch.formula_packets).abs().max()) / epoch.w_max
            for epoch in epochs
        )
    )


def plateau_after_smaller_window(record: Record) -> Measured:
    """Return where growth is slowest after a loss in a smaller window, over that window.

    The window at the inflection is that in the middle of the second in which it grows least.
    """
    losses = losses_of(trace_of(record))
    for earlier, loss in pairwise(losses):
        before = loss.window_packets
        rows = loss.later
        rows_per_s = round(1 / record.plan.settings.trace_interval_s)
        if before < earlier.window_packets and len(rows) > 2 * rows_per_s:
            windows = rows["cwnd_packets"].rolling(rows_per_s // 4, center=True).mean().dropna()
            gained = windows.shift(-rows_per_s) - windows
            slowest = int(gained.to_numpy()[:-rows_per_s].argmin()) + rows_per_s // 2
            return Measured(float(windows.iloc[slowest]) / before)
    return unseen("no loss came in a smaller window than the loss before it")


def reno_friendly_gain(record: Record) -> Measured:
    """Return packets per RTT from the first loss until the window is as large as before."""
    return _gain(record, below=True)


def gain_beyond_prior_window(record: Record) -> Measured:
    """Return packets per RTT while W_max < W and the cubic function is still below W_max."""
    return _gain(record, below=False)


def _gain(record: Record, below: bool) -> Measured:
    epochs = epochs_of(record)
    if not epochs:
        return unseen(NO_EPOCH)
    epoch = epochs[0]
    windows = epoch.rows["cwnd_packets"]
    inside = windows < epoch.w_max
    if not below:
        inside = (windows > epoch.w_max) & (
            epoch.elapsed_s < cubic.k_s(epoch.w_max, epoch.start_packets)
        )
    rows = epoch.rows[inside]
    return Measured(slope_per_rtt(rows)) if len(rows) > 1 else unseen(NO_EPOCH)
