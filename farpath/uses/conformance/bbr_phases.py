"""Measures of BBR's phases, which its pacing rate tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.uses.conformance.trace_parts import Measured, trace_of, unseen

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record

#: bbr_pacing_margin_percent (net/ipv4/tcp_bbr.c) and BBRPacingMarginPercent
#: (draft-ietf-ccwg-bbr, 2.5): BBR paces at this fraction of gain times bandwidth.
PACING_MARGIN = 0.99
#: A window in ProbeRTT is smaller than this fraction of the bandwidth-delay product.
PROBE_RTT_FRACTION = 0.6
#: Packets beyond a multiple of the bandwidth-delay product: three sends of two packets each, as at
#: pacing rates from 1.2 to 24 Mbit/s (BBRv1's draft, 4.2.2 and 4.2.3.2; bbr_quantization_budget).
QUANTA_PACKETS = 3 * 2


def _bandwidth_bps(record: Record) -> float:
    """Return the payload rate of the bottleneck, which BBR estimates on a path alone."""
    return flow_metrics.goodput_bps(record.plan)


def _gains(record: Record, trace: pd.DataFrame) -> pd.Series:
    return trace["pacing_rate_bps"] / PACING_MARGIN / _bandwidth_bps(record)


def _phases(record: Record) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame] | None:
    """Return the rows of Startup with the pipe full, of Drain, and after Drain."""
    trace = trace_of(record)
    gains = _gains(record, trace)
    high = gains.index[gains > 2]
    if high.empty:
        return None
    after = trace.loc[high[-1] + 1 :]
    draining = gains.loc[after.index] < 0.6
    if not draining.any():
        return None
    end = int(draining[draining].index[0])
    while end in draining.index and draining[end]:
        end += 1
    return trace.loc[high], trace.loc[high[-1] + 1 : end - 1], trace.loc[end:]


def startup_gain(record: Record) -> Measured:
    """Return the pacing gain at the end of Startup."""
    phases = _phases(record)
    if phases is None:
        return unseen("no Startup is to be seen")
    return Measured(float(_gains(record, phases[0]).iloc[-1]))


def drain_gain(record: Record) -> Measured:
    """Return the pacing gain of Drain."""
    phases = _phases(record)
    if phases is None:
        return unseen("no Drain is to be seen")
    return Measured(float(_gains(record, phases[1]).min()))


def _of_bdp(record: Record, packets: float, gain: float) -> Measured:
    """Return packets and BBRInflight(gain), both over the bandwidth-delay product."""
    bdp = flow_metrics.bdp_packets(record.plan.path)
    return Measured(packets / bdp, gain + QUANTA_PACKETS / bdp)


def flight_after_drain(record: Record) -> Measured:
    """Return the flight when Drain ends, and BBRInflight(1), over the bandwidth-delay product."""
    phases = _phases(record)
    if phases is None or phases[2].empty:
        return unseen("no Drain is to be seen")
    flight = float(phases[2]["in_flight_packets"].iloc[0])
    return _of_bdp(record, flight, gain=1)


def _probing(record: Record) -> pd.DataFrame | None:
    """Return the rows of ProbeBW: after the first second after Drain, none of ProbeRTT."""
    phases = _phases(record)
    if phases is None or phases[2].empty:
        return None
    rows = phases[2][phases[2]["t_s"] > phases[2]["t_s"].iloc[0] + 1]
    least = PROBE_RTT_FRACTION * flow_metrics.bdp_packets(record.plan.path)
    probing: pd.DataFrame = rows[rows["cwnd_packets"] > least]
    return probing


def most_probe_gain(record: Record) -> Measured:
    """Return the largest pacing gain of ProbeBW."""
    rows = _probing(record)
    if rows is None:
        return unseen("no ProbeBW is to be seen")
    return Measured(float(_gains(record, rows).max()))


def least_probe_gain(record: Record) -> Measured:
    """Return the least pacing gain of ProbeBW."""
    rows = _probing(record)
    if rows is None:
        return unseen("no ProbeBW is to be seen")
    return Measured(float(_gains(record, rows).min()))


def window_gain(record: Record) -> Measured:
    """Return the median window in ProbeBW, and BBRInflight(2), over the bandwidth-delay product."""
    rows = _probing(record)
    if rows is None:
        return unseen("no ProbeBW is to be seen")
    return _of_bdp(record, float(rows["cwnd_packets"].median()), gain=2)


def _probe_rtt(record: Record) -> pd.DataFrame | None:
    """Return the rows of the first ProbeRTT, None if there is none."""
    phases = _phases(record)
    if phases is None:
        return None
    bdp = flow_metrics.bdp_packets(record.plan.path)
    small = phases[2][phases[2]["cwnd_packets"] < PROBE_RTT_FRACTION * bdp]
    if small.empty:
        return None
    first: pd.DataFrame = small[small["t_s"] < small["t_s"].iloc[0] + 1]
    return first


def probe_rtt_after_s(record: Record) -> Measured:
    """Return the time from the first data to the first ProbeRTT: the least RTT is the first one."""
    rows = _probe_rtt(record)
    if rows is None:
        return unseen("no ProbeRTT is to be seen")
    return Measured(float(rows["t_s"].iloc[0] - trace_of(record)["t_s"].iloc[0]))


def probe_rtt_lasts_s(record: Record) -> Measured:
    """Return how long the first ProbeRTT lasts, in s, to a tick of the trace."""
    rows = _probe_rtt(record)
    if rows is None:
        return unseen("no ProbeRTT is to be seen")
    interval_s = record.plan.settings.trace_interval_s
    return Measured(float(rows["t_s"].iloc[-1] - rows["t_s"].iloc[0]) + interval_s)


def probe_rtt_window(record: Record) -> Measured:
    """Return the median window in ProbeRTT, in packets."""
    rows = _probe_rtt(record)
    if rows is None:
        return unseen("no ProbeRTT is to be seen")
    return Measured(float(rows["cwnd_packets"].median()))


def probe_rtt_window_fraction(record: Record) -> Measured:
    """Return the window in ProbeRTT over the bandwidth-delay product."""
    window = probe_rtt_window(record)
    return Measured(window.value / flow_metrics.bdp_packets(record.plan.path), why=window.why)
