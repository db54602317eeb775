"""Measures of a window after losses, and of its mean under them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from farpath.metrics.theory import cubic
from farpath.metrics.theory.window_rules import reno_window
from farpath.uses.conformance.trace_parts import (
    Loss,
    Measured,
    losses_of,
    slope_per_rtt,
    trace_of,
    unseen,
)

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record

#: Epochs of which a mean window is taken.
LAST_EPOCHS = 4
NO_LOSS = "no loss was repaired by fast retransmit"
FEW_LOSSES = f"a mean window needs more than {LAST_EPOCHS} losses"
NO_TIMEOUT = "there was no timeout"


def _last_loss(record: Record) -> Loss | None:
    """Return the last loss: in congestion avoidance, where the window stands nearly still."""
    losses = losses_of(trace_of(record))
    return losses[-1] if losses else None


def kept_fraction(record: Record) -> Measured:
    """Return ssthresh after the last loss over the packets in flight before it."""
    loss = _last_loss(record)
    if loss is None:
        return unseen(NO_LOSS)
    return Measured(float(loss.first["ssthresh_packets"] / loss.before["in_flight_packets"]))


def window_after_recovery(record: Record) -> Measured:
    """Return the window with which the last recovery ends over ssthresh."""
    loss = _last_loss(record)
    if loss is None or loss.later.empty:
        return unseen(NO_LOSS)
    after = loss.later.iloc[0]
    return Measured(float(after["cwnd_packets"] / after["ssthresh_packets"]))


def growth_per_rtt(record: Record) -> Measured:
    """Return packets that the window gains per RTT between the first loss and the next."""
    losses = losses_of(trace_of(record))
    if not losses or len(losses[0].later) < 2:
        return unseen(NO_LOSS)
    return Measured(slope_per_rtt(losses[0].later))


def sacked_at_retransmission(record: Record) -> Measured:
    """Return packets known to have arrived behind the lost one when it is sent again."""
    losses = losses_of(trace_of(record))
    return Measured(float(losses[0].first["sacked_packets"])) if losses else unseen(NO_LOSS)


def retransmissions(record: Record) -> Measured:
    """Return packets that were sent again in the whole run."""
    return Measured(float(trace_of(record)["retransmits"].iloc[-1]))


def rtts_between_repairs(record: Record) -> Measured:
    """Return the median time between two retransmissions, over the path's RTT."""
    trace = trace_of(record)
    repairs_s = trace["t_s"][trace["retransmits"].diff() > 0]
    if len(repairs_s) < 2:
        return unseen("fewer than two packets were sent again")
    return Measured(float(repairs_s.diff().median()) / (record.plan.path.rtt_ms / 1e3))


def _after_timeout(trace: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in the state that a timeout leads to."""
    return trace[trace["ca_state"] == "loss"]


def loss_window(record: Record) -> Measured:
    """Return the window after a timeout, in packets."""
    rows = _after_timeout(trace_of(record))
    return unseen(NO_TIMEOUT) if rows.empty else Measured(float(rows["cwnd_packets"].iloc[0]))


def sent_again_from_timeout(record: Record) -> Measured:
    """Return packets that were sent again from the timeout on, without a probe before it.

    A tail loss probe (RFC 8985, 7) may send the last packet again before the timeout.
    """
    trace = trace_of(record)
    rows = _after_timeout(trace)
    if rows.empty:
        return unseen(NO_TIMEOUT)
    before = trace["retransmits"][trace["t_s"] < rows["t_s"].iloc[0]]
    return Measured(float(trace["retransmits"].iloc[-1] - before.iloc[-1]))


def kept_after_timeout(record: Record) -> Measured:
    """Return ssthresh after a timeout over the packets that were outstanding."""
    rows = _after_timeout(trace_of(record))
    if rows.empty:
        return unseen(NO_TIMEOUT)
    first = rows.iloc[0]
    return Measured(float(first["ssthresh_packets"] / first["unacked_packets"]))


def timeout_growth(record: Record) -> Measured:
    """Return the least factor between successive timeouts of a packet that is lost repeatedly."""
    rows = _after_timeout(trace_of(record))
    unanswered = rows[rows["bytes_acked"] == rows["bytes_acked"].min()]
    timeouts = unanswered["rto_us"].drop_duplicates()
    if len(timeouts) < 2:
        return unseen("there were not two timeouts of a packet")
    return Measured(float((timeouts / timeouts.shift()).min()))


def least_timeout_s(record: Record) -> Measured:
    """Return the least retransmission timeout of the run, in s."""
    return Measured(float(trace_of(record)["rto_us"].min()) / 1e6)


def _mean_window(record: Record) -> float:
    """Return the mean window from the fifth last loss to the last, in packets; NaN without them.

    By then the window has forgotten slow start, which ends far above it.
    """
    trace = trace_of(record)
    starts_s = [float(loss.first["t_s"]) for loss in losses_of(trace)]
    if len(starts_s) <= LAST_EPOCHS:
        return math.nan
    from_s, to_s = starts_s[-1 - LAST_EPOCHS], starts_s[-1]
    return float(trace[trace["t_s"].between(from_s, to_s)]["cwnd_packets"].mean())


def _loss_rate(record: Record) -> float:
    """Return the fraction of packets that ``DROP=every:N`` takes."""
    return 1 / record.plan.droppers[0].numbers[0]


def mean_window_of_reno(record: Record) -> Measured:
    """Return the mean window, and sqrt(3/2) / sqrt(p)."""
    return Measured(_mean_window(record), reno_window(_loss_rate(record)), FEW_LOSSES)


def mean_window_of_cubic(record: Record) -> Measured:
    """Return the mean window, and the one of RFC 9438, figure 6."""
    rtt_s = record.plan.path.rtt_ms / 1e3
    stated = cubic.mean_window_packets(_loss_rate(record), rtt_s)
    return Measured(_mean_window(record), stated, FEW_LOSSES)
