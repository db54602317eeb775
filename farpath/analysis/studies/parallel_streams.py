"""Measures of many streams with one window each, on a path that is faster than their hosts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from statistics import fmean, pstdev

from farpath.analysis import flow_metrics
from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.spec.plan import Plan

EXPERIMENT = "parallel-streams"
SUM = "throughput of all streams"
EACH = "throughput of a stream"
SPREAD = "standard deviation between streams"
#: Ids of the published sum and of the published mean of a stream by path, streams and window in
#: bytes.
PUBLISHED = {
    **dict.fromkeys(product(("booth", "booth-jumbo"), (40, 50), (104_000,)), ("sc-5", "")),
    ("pittsburgh-sunnyvale", 16, 2_000_000): ("sc-1", "sc-2"),
}


def expected_bps(plan: Plan) -> float:
    """Return the payload rate that windows, bus and path allow all streams together."""
    path = plan.path
    windows_bps = len(plan.schedule.flows) * 8e3 * path.window_bytes / path.rtt_ms
    return min(windows_bps, flow_metrics.full_bps(plan))


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the sum of all streams, the mean of one and the spread, after the first quarter.

    ``about``: ``path``, ``streams``, ``window`` in bytes, ``mtu``, ``toe``: whether the sender's
    card makes the packets.
    """
    measured = []
    for recorded in runs:
        plan, path_name = recorded.run.plan, recorded.run.request.path or ""
        path, streams = plan.path, len(plan.schedule.flows)
        each_bps = [
            flow_metrics.mean_bps(recorded.record, flow.name) for flow in plan.schedule.flows
        ]
        theory_bps = expected_bps(plan)
        ids = PUBLISHED.get((path_name, streams, path.window_bytes), ("", ""))
        about = {
            "path": path_name,
            "streams": str(streams),
            "window": str(path.window_bytes),
            "mtu": str(path.mtu_bytes),
            "toe": "yes" if plan.era.bus is not None and plan.era.bus.toe else "no",
        }
        title = path.title.removesuffix(", changed")
        window = f"{streams} x {path.window_bytes / 1e6:g} MB"
        condition = f"{title}, {window}" + (", offload" if about["toe"] == "yes" else "")
        values = (
            (SUM, sum(each_bps), theory_bps, ids[0]),
            (EACH, fmean(each_bps), theory_bps / streams, ids[1]),
            (SPREAD, pstdev(each_bps), None, ""),
        )
        measured += [
            Measure(
                EXPERIMENT, condition, quantity, "Mbit/s", value / 1e6, plan.seed,
                None if theory is None else theory / 1e6, printed, about=about,
            )
            for quantity, value, theory, printed in values
        ]  # fmt: skip
    return measured
