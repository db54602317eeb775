"""Measures of Prague and another stack on one path: shares, waits, and the path's use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.metrics.run import Array
from farpath.runs.experiment import RecordedRun

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENT = "l4s"
SHARE = "share of the first stack"
FIRST_WAIT = "99th percentile of the first stack's wait"
SECOND_WAIT = "99th percentile of the second stack's wait"
UTILISATION = "utilisation"
COUPLING = "marks over the root of losses"
MARKS = "marks in a window of the first stack"
#: The queue of a run that asks for none.
TAIL_DROP = "tail drop"
#: DualPI2's target of the classic queue, and where it begins to mark the other one
#: (net/sched/sch_dualpi2.c; RFC 9332, appendix A).
CLASSIC_TARGET_MS, STEP_MS = 15.0, 1.0
#: The RTT as of which Prague behaves if its own is shorter
#: (draft-briscoe-iccrg-prague-congestion-control, section 2.4.4).
REFERENCE_RTT_MS = 25.0
COUPLED, COUPLED_STACKS = "dualpi2", "prague+cubic"
#: The factor of DualPI2's coupling (RFC 9332, section 2.1).
COUPLING_FACTOR = 2.0
#: Buffers of the runs that are not about a buffer: by default, and those of the paths of a trace.
BUFFERS = ("100ms", "750kB", "1500kB")
#: Options of a run that its measures tell of; with an impairment the coupling promises no share.
IMPAIRMENTS = ("jitter", "loss", "background")
ASKED = ("path", "rtt", "rate", "buffer", *IMPAIRMENTS)


def wait_ms(
    trace: pd.DataFrame | None, flows: Iterable[str], base_ms: float, from_s: float
) -> float:
    """Return the 99th percentile of flows' smoothed RTTs, less the base RTT, in ms.

    The RTTs are those of a run's trace after a time; NaN without any.
    """
    if trace is None:
        return float("nan")
    settled = trace["flow"].isin(list(flows)) & (trace["t_s"] > from_s) & (trace["rtt_us"] > 0)
    rtts_us = trace.loc[settled, "rtt_us"]
    return float(np.percentile(rtts_us, 99)) / 1e3 - base_ms if len(rtts_us) else float("nan")


def _counts(trace: pd.DataFrame | None, flow: str, from_s: float) -> Array | None:
    """Return how many packets a flow delivered, of which marked, and retransmitted after a time."""
    if trace is None:
        return None
    rows = trace[(trace["flow"] == flow) & (trace["t_s"] > from_s)]
    counts = rows[["delivered_packets", "delivered_ce_packets", "retransmits"]].to_numpy(float)
    differences: Array = counts[-1:] - counts[:1]
    return differences[0] if len(differences) else None


def parts(trace: pd.DataFrame | None, flows: Iterable[str], from_s: float) -> tuple[float, float]:
    """Return the marked and the retransmitted part of what flows delivered after a time.

    They are means over flows that delivered anything, of a run's trace; NaN without any.
    """
    found = []
    for flow in flows:
        counts = _counts(trace, flow, from_s)
        if counts is not None and counts[0]:
            found.append(counts[1:] / counts[0])
    if not found:
        return float("nan"), float("nan")
    marked_part, resent_part = np.mean(found, axis=0)
    return float(marked_part), float(resent_part)


def window_packets(trace: pd.DataFrame | None, flows: Iterable[str], from_s: float) -> float:
    """Return the mean congestion window of flows after a time, in packets; NaN without a trace."""
    if trace is None:
        return float("nan")
    settled = trace["flow"].isin(list(flows)) & (trace["t_s"] > from_s)
    return float(trace.loc[settled, "cwnd_packets"].mean())


def marks_in_window(rtt_ms: float) -> float:
    """Return how many packets of a window of Prague are marked.

    Of each it gives up half a packet and adds one in a round trip, so that two balance
    (draft-briscoe-iccrg-prague-congestion-control, section 2.4). Over a shorter RTT than the
    reference it does both in a time of that, in which it adds as much less as its RTT is shorter.
    """
    return 2.0 * min(1.0, (rtt_ms + STEP_MS) / REFERENCE_RTT_MS)


def coupled_share(rtt_ms: float) -> float:
    """Return the share of Prague at a DualPI2 that it shares with as many flows of CUBIC.

    Marks of one queue are the square root of drops of the other, twofold, so that windows are equal
    (RFC 9332, section 2.1), and rates go as the inverse of RTTs. CUBIC's has the target of its
    queue in it, and Prague's is the reference at least.
    """
    classic_ms = rtt_ms + CLASSIC_TARGET_MS
    return classic_ms / (classic_ms + max(rtt_ms + STEP_MS, REFERENCE_RTT_MS))


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the first stack's part of all throughput, both waits and utilisation.

    At a DualPI2 that a path alone decides, also the coupling: the part of Prague's packets that
    were marked, over the root of the part that CUBIC lost, and Prague's marks in a window.
    Flows of two stacks take turns. Of two flows of one stack the first counts as the first stack,
    and a flow alone has no share. ``about``: ``stack``, ``queue``, number of ``flows`` and the
    options of ``ASKED``, empty where a run does not give them.
    """
    measured = []
    for recorded in runs:
        plan, record, request = recorded.run.plan, recorded.record, recorded.run.request
        names = [flow.name for flow in plan.schedule.flows]
        means_bps = {name: flow_metrics.mean_bps(record, name) for name in names}
        total_bps = sum(means_bps.values())
        about = {
            "stack": "+".join((request.stack or "").split("+")[:2]),
            "queue": request.queue or TAIL_DROP,
            "flows": str(len(names)),
            **{option: getattr(request, option) or "" for option in ASKED},
        }
        words = [about["stack"], about["queue"]]
        words += [about[option] for option in ("path", "rtt", "rate") if about[option]]
        words += [f"buffer {request.buffer}"] if request.buffer not in BUFFERS else []
        words += [f"{option} {about[option]}" for option in IMPAIRMENTS if about[option]]
        words += [f"{len(names)} flows"] if len(names) > 2 else []
        times = (plan.path.rtt_ms, flow_metrics.warm_up_end_s(record))
        is_coupled = (about["queue"], about["stack"]) == (COUPLED, COUPLED_STACKS)
        is_clean = not any(about[option] for option in ("path", *IMPAIRMENTS))
        theory = coupled_share(plan.path.rtt_ms) if is_coupled and is_clean else None
        first_bps = sum(means_bps[name] for name in names[::2])
        coupling, marks = np.nan, np.nan
        if theory is not None:
            marked, _ = parts(record.trace, names[::2], times[1])
            _, lost = parts(record.trace, names[1::2], times[1])
            coupling = marked / np.sqrt(lost) if lost else np.nan
            marks = marked * window_packets(record.trace, names[::2], times[1])
        values = (
            (SHARE, "", first_bps / total_bps if len(names) > 1 else np.nan, theory),
            (FIRST_WAIT, "ms", wait_ms(record.trace, names[::2], *times), None),
            (SECOND_WAIT, "ms", wait_ms(record.trace, names[1::2], *times), None),
            (UTILISATION, "", total_bps / flow_metrics.goodput_bps(plan), None),
            (COUPLING, "", coupling, COUPLING_FACTOR),
            (MARKS, "", marks, marks_in_window(plan.path.rtt_ms)),
        )
        measured += [
            Measure(
                EXPERIMENT, ", ".join(words), name, unit, value, recorded.run.repetition, expected,
                about=about,
            )
            for name, unit, value, expected in values
            if not np.isnan(value)
        ]  # fmt: skip
    return measured
