"""Measures of losses that were none: a window that is given back when their packets arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.uses.conformance.losses import NO_LOSS, NO_TIMEOUT
from farpath.uses.conformance.trace_parts import Measured, losses_of, trace_of, unseen

if TYPE_CHECKING:
    from farpath.record.record import Record


def window_after_spurious_timeout(record: Record) -> Measured:
    """Return the window after a timeout's state has ended over the one before the timeout."""
    trace = trace_of(record)
    timed_out = trace.index[trace["ca_state"] == "loss"]
    if timed_out.empty or timed_out[-1] + 1 == len(trace):
        return unseen(NO_TIMEOUT)
    before, after = trace.loc[timed_out[0] - 1], trace.loc[timed_out[-1] + 1]
    return Measured(float(after["cwnd_packets"] / before["cwnd_packets"]))


def window_after_spurious_loss(record: Record) -> Measured:
    """Return the window after the first recovery over the one before it."""
    losses = losses_of(trace_of(record))
    if not losses or losses[0].later.empty:
        return unseen(NO_LOSS)
    return Measured(float(losses[0].later.iloc[0]["cwnd_packets"] / losses[0].window_packets))
