"""Measures of what one flow of BBR takes beside CUBIC, and the published model of it."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun
from farpath.spec.path import Path

EXPERIMENT = "bbr-share"
SHARE = "share of BBR"
UTILISATION = "utilisation"
#: BBR's least window in packets, in ProbeRTT; how long that lasts beside a round trip, and how far
#: two are apart (draft-ietf-ccwg-bbr; ``bbr_probe_rtt_mode_ms``, ``bbr_min_rtt_win_sec`` in
#: net/ipv4/tcp_bbr.c).
PROBE_RTT_PACKETS, PROBE_RTT_S, PROBE_RTT_EACH_S = 4, 0.2, 10.0
#: The published share beside several flows, by their number.
PUBLISHED = {"bbr+4xcubic": "ware-1", "bbr+16xcubic": "ware-2"}


def modelled_share(path: Path) -> float:
    """Return the part of a path that one flow of BBR gets beside loss-based ones, by the model.

    Ware et al., Modeling BBR's Interactions with Loss-Based Congestion Control, IMC 2019, section
    4. The others' share is p = 1/2 - 1/(2 X) - 4 N / q, at least 0, for a buffer of q packets,
    which are X bandwidth-delay products, and N flows of BBR, here 1. BBR sends nothing while it
    waits in ProbeRTT for the queue to drain, q / c, and for 0.2 s and a round trip l, once in 10 s.
    So its part is (1 - p) (1 - (q / c + 0.2 + l) / 10). The number of other flows is not in it.
    """
    buffer_packets = path.buffer_bytes / path.frame_bytes
    products = buffer_packets / flow_metrics.bdp_packets(path)
    others = max(0.0, 0.5 - 0.5 / products - PROBE_RTT_PACKETS / buffer_packets)
    drain_s = 8 * path.buffer_bytes / path.rate_bps
    silent = (drain_s + PROBE_RTT_S + path.rtt_ms / 1e3) / PROBE_RTT_EACH_S
    return (1 - others) * (1 - silent)


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the first flow's part of all throughput after the first quarter, and the utilisation.

    ``about``: ``buffer`` and ``stack`` as requested.
    """
    measured = []
    for recorded in runs:
        plan, request = recorded.run.plan, recorded.run.request
        about = {name: getattr(request, name) or "" for name in ("buffer", "stack")}
        condition = f"{about['stack']}, {about['buffer']}"
        means_bps = [
            flow_metrics.mean_bps(recorded.record, each.name) for each in plan.schedule.flows
        ]
        share = Measure(
            EXPERIMENT, condition, SHARE, "", means_bps[0] / sum(means_bps), plan.seed,
            modelled_share(plan.path), PUBLISHED.get(about["stack"], ""), about=about,
        )  # fmt: skip
        used = sum(means_bps) / flow_metrics.goodput_bps(plan)
        measured += [
            share,
            Measure(EXPERIMENT, condition, UTILISATION, "", used, plan.seed, about=about),
        ]
    return measured
