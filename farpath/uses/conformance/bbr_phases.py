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
#: Rows of a phase pace within this fraction of its gain: bandwidths of whole packets.
GAIN_TOLERANCE = 0.02
#: Pacing gains of BBRv3's ProbeBW (draft-ietf-ccwg-bbr, 5.6.1).
V3_DOWN_GAIN, V3_CRUISE_GAIN, V3_UP_GAIN = 0.9, 1.0, 1.25
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


def cruise_gain(record: Record) -> Measured:
    """Return the median pacing gain of ProbeBW: the one between probes."""
    rows = _probing(record)
    if rows is None:
        return unseen("no ProbeBW is to be seen")
    return Measured(float(_gains(record, rows).median()))


def _begin_s(rows: pd.DataFrame, inside: pd.Series[bool]) -> list[float]:
    """Return when stretches of rows begin, in s."""
    return [float(t_s) for t_s in rows["t_s"][inside & ~inside.shift(fill_value=False)]]


def probe_waits_s(record: Record) -> list[float]:
    """Return each time from a start of BBRv3's clock to the next ProbeBW_UP, in s.

    The clock starts at ProbeBW_DOWN, at the end of Drain and at the end of ProbeRTT
    (draft-ietf-ccwg-bbr, 5.3.3.9 and 5.3.4.4). A time includes ProbeBW_REFILL, one round trip.
    """
    phases = _phases(record)
    if phases is None or phases[2].empty:
        return []
    rows = phases[2]
    gains = _gains(record, rows)
    small = rows["cwnd_packets"] < PROBE_RTT_FRACTION * flow_metrics.bdp_packets(record.plan.path)
    downs = _begin_s(rows, (gains / V3_DOWN_GAIN - 1).abs() < GAIN_TOLERANCE)
    ended = _begin_s(rows, ~small & small.shift(fill_value=False))
    clocks = [float(rows["t_s"].iloc[0]), *downs, *ended]
    ups = _begin_s(rows, (gains / V3_UP_GAIN - 1).abs() < GAIN_TOLERANCE)
    return [up - max(clock for clock in clocks if clock <= up) for up in ups]


def least_probe_wait_s(record: Record) -> Measured:
    """Return the least time from BBRv3's ProbeBW_DOWN to ProbeBW_UP."""
    waits = probe_waits_s(record)
    return Measured(min(waits)) if waits else unseen("no ProbeBW_UP is to be seen")


def most_probe_wait_s(record: Record) -> Measured:
    """Return the largest time from BBRv3's ProbeBW_DOWN to ProbeBW_UP."""
    waits = probe_waits_s(record)
    return Measured(max(waits)) if waits else unseen("no ProbeBW_UP is to be seen")


def probe_wait_rounds(record: Record) -> Measured:
    """Return the median wait of BBRv3 in RTTs of the flow, less ProbeBW_REFILL's."""
    waits = probe_waits_s(record)
    if not waits:
        return unseen("no ProbeBW_UP is to be seen")
    rtt_s = float(trace_of(record)["rtt_us"].median()) / 1e6
    return Measured(sorted(waits)[len(waits) // 2] / rtt_s - 1)


def _cruising(record: Record) -> pd.DataFrame | None:
    """Return the rows between probes in which BBRv3 has a bound of the window, as ssthresh."""
    rows = _probing(record)
    if rows is None:
        return None
    cruising = (_gains(record, rows) / V3_CRUISE_GAIN - 1).abs() < GAIN_TOLERANCE
    bounded: pd.DataFrame = rows[cruising & (rows["ssthresh_packets"] > 0)]
    return None if bounded.empty else bounded


def longterm_of_path(record: Record) -> Measured:
    """Return BBRv3's inflight_longterm over what path and buffer hold."""
    rows = _cruising(record)
    if rows is None:
        return unseen("no losses bound the window")
    path = record.plan.path
    fits = flow_metrics.bdp_packets(path) + path.buffer_bytes / path.frame_bytes
    return Measured(float(rows["ssthresh_packets"].median()) / fits)


def cruise_window_of_longterm(record: Record) -> Measured:
    """Return BBRv3's window between probes over inflight_longterm."""
    rows = _cruising(record)
    if rows is None:
        return unseen("no losses bound the window")
    return Measured(float((rows["cwnd_packets"] / rows["ssthresh_packets"]).median()))


def window_after_loss_between_probes(record: Record) -> Measured:
    """Return the window two round trips after the first loss of BBRv3's ProbeBW, over that before.

    The window in between is that of the round in which the loss became known.
    """
    rows = _probing(record)
    if rows is None:
        return unseen("no ProbeBW is to be seen")
    lost = rows[rows["retransmits"] > rows["retransmits"].iloc[0]]
    if lost.empty:
        return unseen("nothing was lost between probes")
    at_s = float(lost["t_s"].iloc[0])
    before = rows[rows["t_s"] < at_s]["cwnd_packets"]
    after = rows[rows["t_s"] > at_s + 2 * record.plan.path.rtt_ms / 1e3]["cwnd_packets"]
    if before.empty or after.empty:
        return unseen("the trace ends with the loss")
    return Measured(float(after.iloc[0]) / float(before.iloc[-1]))
