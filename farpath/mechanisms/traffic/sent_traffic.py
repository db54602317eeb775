"""Checks of other traffic: on/off sources and short flows sent what the plan says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from farpath.base.errors import CheckFailedError
from farpath.mechanisms.traffic.short_flow_table import ShortFlowTable, drawn
from farpath.platforms import platform_of
from farpath.spec.arrivals import frames_bytes, own_bytes
from farpath.spec.background import on_periods, sent_bytes
from farpath.spec.plan import Plan
from farpath.tools import socat

#: Tolerance of background traffic, as a fraction, in addition to what ``check_background``
#: counts.
BACKGROUND_OFF = 0.01
#: How much later than planned a short flow may start, by clock, in s. On the clocks on which the
#: lab's programs take time they wait for each other.
SHORT_FLOW_LATE_S = {"virtual": 1e-3, "cpu": 0.25, "wall": 0.25}
#: Tolerance of the frames of short flows, as a fraction: the kernel's last segment may carry the
#: end of a connection, which is counted as a frame of its own.
SHORT_FLOW_FRAMES_OFF = 0.01
#: Frames of a server for each flow above what it offers, each as an acknowledgement or an end
#: that was sent again.
SHORT_FLOW_EXTRA_FRAMES = 2
#: Frames that a source of the kernel module may send in an on period above its rate.
MODULE_FRAMES = 3
#: Packets that fq lets a socket send beyond its rate: when it starts, and when it continues
#: after a pause (initial_quantum and quantum in fq_init, net/sched/sch_fq.c).
FQ_FIRST_PACKETS, FQ_PACKETS = 10, 2


def check_background(
    readback: Mapping[str, Any], plan: Plan, duration_s: float | None = None
) -> None:
    """Raise CheckFailedError if the amount of background traffic is not the path's.

    ``duration_s``: how long its sources sent; None for the schedule. In the virtual lab the
    kernel's sources begin each on period with a frame and are switched off some readings of the
    clock late, so ``MODULE_FRAMES`` more are possible.

    On the host lab a source may send more than its on periods allow: when it is stopped, its
    socket still sends what it holds (farpath.tools.socat). That happens at the end of each on
    period, and once before the first, since the source fills its socket as it starts. fq lets
    some more packets through at once. A source may send less by at most one datagram for each on
    period. In a run with few on periods, or none, these are more than one per cent.
    """
    background = plan.path.background
    if background is None:
        return
    if duration_s is None:
        duration_s = plan.schedule.duration_s
    expected_bytes = sent_bytes(background, plan.seed, duration_s)
    periods = len(on_periods(background, plan.seed, duration_s))
    sent = readback["after"]["background_bytes"] - readback["before"]["background_bytes"]
    frame_bytes = plan.path.frame_bytes
    if platform_of(plan).boots_kernel:
        slack = periods * MODULE_FRAMES * frame_bytes
        _check_amount(sent, expected_bytes, expected_bytes - slack, expected_bytes + slack)
        return
    datagram = socat.datagram_packets(background.rate_bps, plan.path.mtu_bytes, plan.ip_version)
    queued_packets = socat.SOCKET_DATAGRAMS * datagram
    excess = background.sources * (queued_packets + FQ_FIRST_PACKETS) + periods * (
        queued_packets + FQ_PACKETS
    )
    fewest = expected_bytes * (1 - BACKGROUND_OFF) - periods * datagram * frame_bytes
    most = expected_bytes * (1 + BACKGROUND_OFF) + excess * frame_bytes
    _check_amount(sent, expected_bytes, fewest, most)


def _check_amount(sent: float, expected_bytes: float, fewest: float, most: float) -> None:
    if not fewest <= sent <= most:
        raise CheckFailedError(
            f"background traffic was {sent / 1e6:.2f} MB, not {expected_bytes / 1e6:.2f} MB "
            f"(its sources can send {max(0.0, fewest) / 1e6:.2f} to {most / 1e6:.2f} MB)"
        )


def check_short_flows(
    table: ShortFlowTable | None,
    readback: Mapping[str, Any],
    plan: Plan,
    duration_s: float = math.inf,
) -> list[str]:
    """Check short flows against the plan; return a warning if most did not end.

    ``duration_s``: how long its schedule was played, all of it by default. Each flow that the plan
    draws for that time must have started at its time and asked for its size, by the congestion
    control of the plan.
    Bytes that arrived must have left the server's port in frames, and the port must not have sent
    more than the server offered and repeated. Raises CheckFailedError otherwise.
    """
    short = plan.path.short_flows
    if table is None or short is None:
        return []
    frame, planned = table.frame, drawn(plan, duration_s)
    started = frame["number"].tolist()
    if started != [arrival.number for arrival in planned]:
        raise CheckFailedError(
            f"{len(started):,} short flows have started, and the plan has {len(planned):,}"
        )
    late_s = max(
        (
            start_s - arrival.start_s
            for start_s, arrival in zip(frame["start_s"], planned, strict=True)
        ),
        default=0.0,
    )
    if late_s > SHORT_FLOW_LATE_S[plan.settings.clock]:
        raise CheckFailedError(
            f"short flows started up to {late_s:.3f} s late: their client had too little time; "
            "lower their rate, or give them a larger size"
        )
    if set(table.congestion) - {short.congestion}:
        raise CheckFailedError(
            f"short flows ran congestion control {' and '.join(table.congestion)}, not "
            f"{short.congestion}"
        )
    _check_short_flow_frames(frame, readback, plan)
    unfinished = int(frame["completion_s"].isna().sum())
    if unfinished > len(frame) / 2:
        return [f"{unfinished:,} of {len(frame):,} short flows had not ended with the schedule"]
    return []


def _check_short_flow_frames(frame: Any, readback: Mapping[str, Any], plan: Plan) -> None:
    sent = readback["after"]["short_flow_bytes"] - readback["before"]["short_flow_bytes"]
    arrived = int(frame["received_bytes"].sum())
    offered = sum(frames_bytes(plan, size_bytes) for size_bytes in frame["size_bytes"])
    extra = SHORT_FLOW_EXTRA_FRAMES * own_bytes(plan) * len(frame)
    most = offered * (1 + SHORT_FLOW_FRAMES_OFF) + extra
    most += int(frame["retransmits"].sum()) * plan.path.frame_bytes
    if not arrived <= sent <= most:
        raise CheckFailedError(
            f"the server of short flows sent {sent / 1e6:.3f} MB in frames: {arrived / 1e6:.3f} MB "
            f"arrived of {offered / 1e6:.3f} MB that were asked for"
        )
