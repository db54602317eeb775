"""Metrics of the pings of a run: RTTs of those that were answered, and the delay that they had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from farpath.metrics.run import Array
    from farpath.record.record import Record


def answered_ms(record: Record) -> Array:
    """Return the RTTs in ms of the pings that were answered, in the order in which they were sent.

    The length is their number.
    """
    rtt_ms = record.samples.ping["rtt_ms"].to_numpy(dtype=np.float64)
    answered: Array = rtt_ms[~np.isnan(rtt_ms)]
    return answered


def ping_delay_ms(record: Record, percentile: float = 95) -> float | None:
    """Return a percentile of pings' RTTs above the base RTT; None if none was answered."""
    rtts_ms = answered_ms(record)
    if not rtts_ms.size:
        return None
    return float(np.percentile(rtts_ms, percentile)) - record.plan.path.rtt_ms


def ping_figures(record: Record) -> dict[str, float]:
    """Return mean, median, 99th percentile and largest RTT in ms; none if no ping was answered."""
    rtts_ms = answered_ms(record)
    if not rtts_ms.size:
        return {}
    return {
        "mean": float(rtts_ms.mean()),
        "median": float(np.median(rtts_ms)),
        "99th percentile": float(np.percentile(rtts_ms, 99)),
        "largest": float(rtts_ms.max()),
    }


def ping_counts(rtt_ms: pd.Series[float]) -> dict[str, Any]:
    """Return how many pings there were and were lost, and median and largest RTT in ms.

    ``rtt_ms``: of each ping, NaN of a lost one. Without an answer the RTTs are None.
    """
    answered = rtt_ms.dropna()
    return {
        "pings": len(rtt_ms),
        "pings_lost": len(rtt_ms) - len(answered),
        "rtt_median_ms": float(answered.median()) if len(answered) else None,
        "rtt_max_ms": float(answered.max()) if len(answered) else None,
    }
