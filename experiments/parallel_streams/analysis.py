"""Measures of many streams with one window each, on a path that is faster than their hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from statistics import fmean, pstdev

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure, plain_title
from farpath.runs.experiment import RecordedRun
from farpath.spec.plan import Plan

EXPERIMENT = "parallel-streams"
SUM = "throughput of all streams"
EACH = "throughput of a stream"
SPREAD = "standard deviation between streams"
DEVIATION = "standard deviation over seconds"
REVERSE = "throughput of all streams the other way"
#: The program of datagrams with a congestion control of its own, which has one stream.
UDT = "udt"
#: Published values by path, streams and window in bytes: ids by quantity.
_BOOTH = {SUM: "sc-5", DEVIATION: "sc-8"}
PUBLISHED: Mapping[tuple[str, int, int], Mapping[str, str]] = {
    **dict.fromkeys(product(("booth", "booth-jumbo"), (40, 50), (104_000,)), _BOOTH),
    ("pittsburgh-sunnyvale", 16, 2_000_000): {
        SUM: "sc-1", EACH: "sc-2", SPREAD: "sc-10", DEVIATION: "sc-9",
    },
}  # fmt: skip
#: Those of runs with streams both ways, and of UDT.
PUBLISHED_BOTH_WAYS = {SUM: "sc-3", REVERSE: "sc-4"}
PUBLISHED_UDT = {SUM: "sc-7"}


def expected_bps(plan: Plan) -> float:
    """Return the payload rate that windows, bus and path allow all streams together."""
    path = plan.path
    windows_bps = len(plan.schedule.flows) * 8e3 * path.window_bytes / path.rtt_ms
    return min(windows_bps, flow_metrics.full_bps(plan))


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the sum of all streams, the mean of one and the spread, after the first quarter.

    The sum's standard deviation is over the seconds of that time. With streams the other way their
    sum is measured too, and nothing is predicted; nor is it of UDT. ``about``: ``path``, ``stack``,
    ``streams``, ``window`` in bytes, ``mtu``, ``toe``: whether the sender's card makes the packets,
    and of runs with streams both ways ``reverse``, their number.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        path_name, path, flows = recorded.run.request.path or "", plan.path, plan.schedule.flows
        stack, reverse = plan.stack_of(flows[0]).name, plan.schedule.reverse
        each_bps = [flow_metrics.mean_bps(record, flow.name) for flow in flows]
        values = {
            SUM: sum(each_bps),
            EACH: fmean(each_bps),
            SPREAD: pstdev(each_bps),
            DEVIATION: float(flow_metrics.sums_bps(record, flows).std()),
        }
        about = {
            "path": path_name,
            "stack": stack,
            "streams": str(len(flows)),
            "window": str(path.window_bytes),
            "mtu": str(path.mtu_bytes),
            "toe": "yes" if plan.era.bus is not None and plan.era.bus.toe else "no",
        }
        condition = f"{plain_title(path)}, {_streams_text(plan)}"
        condition += ", offload" if about["toe"] == "yes" else ""
        theory_bps: dict[str, float] = {}
        ids = PUBLISHED.get((path_name, len(flows), path.window_bytes), {})
        if reverse:
            values[REVERSE] = float(flow_metrics.sums_bps(record, reverse).mean())
            about["reverse"], ids = str(len(reverse)), PUBLISHED_BOTH_WAYS
            condition += ", both ways"
        elif stack == UDT:
            ids = PUBLISHED_UDT
        else:
            expected = expected_bps(plan)
            theory_bps = {SUM: expected, EACH: expected / len(flows)}
        for quantity, value_bps in values.items():
            theory = theory_bps.get(quantity)
            measured.append(
                Measure(
                    EXPERIMENT, condition, quantity, "Mbit/s", value_bps / 1e6, plan.seed,
                    None if theory is None else theory / 1e6, ids.get(quantity, ""), about=about,
                )
            )  # fmt: skip
    return measured


def _streams_text(plan: Plan) -> str:
    """Say how many streams of which window a run has; UDT has one with windows of its own."""
    flows = plan.schedule.flows
    if plan.stack_of(flows[0]).name == UDT:
        return "UDT"
    return f"{len(flows)} x {plan.path.window_bytes / 1e6:g} MB"
