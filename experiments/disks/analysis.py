"""Measures of transfers between disks: the slowest of their stages, and who waits for whom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from farpath.mechanisms.disk.mechanism import disk_counts
from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun
from farpath.spec.plan import Plan

EXPERIMENT = "disks"
THROUGHPUT = "throughput"
SENDER_WAITS = "part of the time that the sender waits for its disk"
RECEIVER_WAITS = "part of the time that the receiver waits for its disk"
#: The stages of a transfer, in its order.
READ, HOST, PATH, WRITE = STAGES = ("disk read", "host", "path", "disk write")
#: A stage without a disk.
MEMORY = "memory"
#: Published throughputs by the disks' rates in MB/s, read and written, and the number of streams:
#: the receiving host, and the id.
PUBLISHED: Mapping[tuple[str, str, str], tuple[tuple[str, str], ...]] = {
    (MEMORY, MEMORY, "8"): (("a Newisys 4300", "disk-1"), ("an Itanium2", "disk-4")),
    (MEMORY, MEMORY, "1"): (("an Itanium2", "disk-5"),),
    ("1200", MEMORY, "1"): (("a Newisys 4300", "disk-2"), ("an Itanium2", "disk-6")),
    ("1200", "1200", "1"): (("a Newisys 4300", "disk-3"),),
    ("389", "323", "1"): (("Linux at Phoenix", "disk-7"),),
    ("264", "165", "1"): (("Linux, by bbftp", "disk-8"),),
}


def stages_bps(plan: Plan) -> dict[str, float]:
    """Return the payload rate of each stage that a plan has, by its name in ``STAGES``."""
    path = plan.path
    payload = flow_metrics.payload_bytes(path, plan.ip_version) / path.frame_bytes
    host_bps = plan.era.sender_rate_bps(path.frame_bytes)
    rates = {
        READ: plan.source and plan.source.rate_bps,
        HOST: host_bps and host_bps * payload,
        PATH: flow_metrics.goodput_bps(plan),
        WRITE: plan.sink and plan.sink.rate_bps,
    }
    return {name: rate for name, rate in rates.items() if rate}


def slowest_bps(plan: Plan, from_s: float) -> float:
    """Return the mean payload rate that the slowest stage allows from a time on.

    A disk that is written takes what other stages give until its write-back is full. Slow start
    is left out.
    """
    rates_bps = stages_bps(plan)
    before_bps = min(rate for name, rate in rates_bps.items() if name != WRITE)

    def carried_bits(until_s: float) -> float:
        if plan.sink is None:
            return before_bps * until_s
        return min(before_bps * until_s, 8 * plan.sink.cache_bytes + plan.sink.rate_bps * until_s)

    end_s = plan.schedule.duration_s
    return (carried_bits(end_s) - carried_bits(from_s)) / (end_s - from_s)


def _about(plan: Plan) -> dict[str, str]:
    """Return the disks and streams of a plan, and the rates of its stages in Mbit/s."""
    read, write = (
        MEMORY if disk is None else f"{disk.rate_bps / 8e6:g}" for disk in (plan.source, plan.sink)
    )
    rates_bps = stages_bps(plan)
    return {
        "path": plan.path.name,
        "streams": str(len(plan.schedule.flows)),
        "read": read,
        "write": write,
        "writeback": str(plan.sink.cache_bytes if plan.sink else 0),
        "slowest": min(rates_bps, key=lambda name: rates_bps[name]),
        **{name: f"{rate / 1e6:.6g}" for name, rate in rates_bps.items()},
    }


def _condition(plan: Plan, about: Mapping[str, str]) -> str:
    read, write = (
        text if text == MEMORY else f"disk of {text} MB/s"
        for text in (about["read"], about["write"])
    )
    words = [f"{plan.path.rate_bps / 1e9:g} Gbit/s", f"{read} to {write}"]
    if plan.sink and plan.sink.cache_bytes:
        words.append(f"write-back {plan.sink.cache_bytes / 1e6:g} MB")
    if about["streams"] != "1":
        words.append(f"{about['streams']} streams")
    return ", ".join(words)


def _waits(record: Record) -> dict[str, float]:
    """Return what part of the schedule a sender's and a receiver's programs wait, on the mean."""
    plan = record.plan
    return {
        SENDER_WAITS if host not in plan.receivers else RECEIVER_WAITS: counts["waited_s"]
        / (len(plan.schedule.flows) * plan.schedule.duration_s)
        for host, counts in disk_counts(record).items()
    }


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the throughput after the first quarter, and how long programs wait for disks.

    As theory the slowest stage; each published transfer is a row of its own, since the lab's
    receivers cost nothing, whatever they stand for. ``about``: ``path``, ``streams``, ``read`` and
    ``write`` in MB/s or ``memory``, ``writeback`` in bytes, each stage's rate in Mbit/s, and
    ``slowest``: its name.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        about = _about(plan)
        condition = _condition(plan, about)
        sum_bps = sum(flow_metrics.mean_bps(record, flow.name) for flow in plan.schedule.flows)
        # Means are of whole seconds
        from_s = math.floor(flow_metrics.warm_up_end_s(record))
        theory_bps = slowest_bps(plan, from_s)
        printed = PUBLISHED.get((about["read"], about["write"], about["streams"]), ())
        for receiver, published in printed or (("", ""),):
            measured.append(
                Measure(
                    EXPERIMENT, f"{condition}, to {receiver}" if receiver else condition,
                    THROUGHPUT, "Mbit/s", sum_bps / 1e6, plan.seed, theory_bps / 1e6, published,
                    about={**about, "receiver": receiver},
                )
            )  # fmt: skip
        measured += [
            Measure(EXPERIMENT, condition, name, "", part, plan.seed, about=about)
            for name, part in _waits(record).items()
        ]
    return measured
