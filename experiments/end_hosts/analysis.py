"""Measures of what a host sends whose processor has other things to do."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.base.errors import BadInputError
from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun
from farpath.spec.plan import Plan

EXPERIMENT = "end-hosts"
THROUGHPUT = "throughput"
#: Ids of published throughputs by RTT in ms and clock in GHz, of hosts without other programs. The
#: one at 15 ms is of a host whose clock is not printed.
PUBLISHED = {
    ("1", "1.2"): "host-1",
    ("1", "2.8"): "host-2",
    ("15", "1.2"): "host-3",
    ("15", "2.8"): "host-3",
}
#: What the lab's processor took from a published number, by its id (``farpath.spec.processor``).
INPUTS = {
    "host-2": "no test: the processor's time for a packet is from the published number",
    "host-3": "the clock is not published; the time of a line of memory is from that number",
}
#: What the processor works on for a packet sent: the packet, and half an ACK (RFC 1122, 4.2.3.2).
PACKETS_WORKED_ON = 1.5


def sent_bps(plan: Plan) -> float:
    """Return the payload rate that a sender's processor and its card allow.

    It is more where ACKs find the processor's backlog full: what is dropped takes no time.
    """
    processor = plan.era.processor
    full_bps = flow_metrics.full_bps(plan)
    if processor is None:
        return full_bps
    payload_bytes = flow_metrics.payload_bytes(plan.path, plan.ip_version)
    return min(full_bps, 8e9 * payload_bytes / (PACKETS_WORKED_ON * processor.packet_ns))


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the mean throughput after the first quarter.

    ``about``: ``rtt`` in ms, ``cpu`` in GHz, ``load``, ``processors``. Raises BadInputError for a
    run without a processor.
    """
    measured = []
    for recorded in runs:
        plan, processor = recorded.run.plan, recorded.run.plan.era.processor
        if processor is None:
            raise BadInputError(
                problem=f"the run {recorded.run.label} of {EXPERIMENT} has no processor",
                remedy="give its hosts one, as in `era=2004:cpu=2.8GHz`",
            )
        about = {
            "rtt": f"{plan.path.rtt_ms:g}",
            "cpu": f"{processor.frequency_hz / 1e9:g}",
            "load": str(processor.load),
            "processors": str(processor.processors),
        }
        condition = (
            f"{about['rtt']} ms, {about['processors']} x {about['cpu']} GHz, load {about['load']}"
        )
        alone = processor.load == 0 and processor.processors == 1
        printed = PUBLISHED.get((about["rtt"], about["cpu"]), "") if alone else ""
        measured.append(
            Measure(
                EXPERIMENT, condition, THROUGHPUT, "Mbit/s",
                flow_metrics.mean_bps(recorded.record) / 1e6, plan.seed, sent_bps(plan) / 1e6,
                printed, INPUTS.get(printed, ""), about,
            )
        )  # fmt: skip
    return measured
