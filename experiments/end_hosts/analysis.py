"""Measures of what a host sends whose processor has other things to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from farpath.base.errors import BadInputError
from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.claims.rules import Criteria, matching, mean
from farpath.runs.claims.verdict import Condition, within
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
#: C44, C45: other programs on a host, where it has most of them.
MOST_LOAD = "3"
#: C45: "constant".
CONSTANT = 0.95
#: C46: 770 of 960 Mbit/s, a sixteenth more or less.
FAR_PART = (0.75, 0.85)


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


def _host_mbps(measures: Sequence[Measure], **about: str) -> float:
    """Return the throughput of a host with one processor."""
    about["processors"] = "1"
    return mean(matching(measures, EXPERIMENT, THROUGHPUT, **about))


def other_programs_slow_a_slow_host_down(measures: Sequence[Measure]) -> Criteria:
    """C44: the host of 1.2 GHz, the most programs of the same priority that were run."""
    loaded, alone = (
        _host_mbps(measures, rtt="1", cpu="1.2", load=load) for load in (MOST_LOAD, "0")
    )
    return Criteria(
        (Condition("1.2 GHz, with three programs", loaded, "<", alone, "Mbit/s", "without"),)
    )


def other_programs_leave_a_fast_host_as_it_is(measures: Sequence[Measure]) -> Criteria:
    """C45: the host of 2.8 GHz, as in C44."""
    loaded, alone = (
        _host_mbps(measures, rtt="1", cpu="2.8", load=load) for load in (MOST_LOAD, "0")
    )
    part = Condition("2.8 GHz, with three programs over without", loaded / alone, ">=", CONSTANT)
    return Criteria((part,))


def a_longer_way_slows_a_host_down(measures: Sequence[Measure]) -> Criteria:
    """C46: the slide names no host: of both clocks the one whose throughput falls more."""
    parts = {
        cpu: _host_mbps(measures, rtt="15", cpu=cpu, load="0")
        / _host_mbps(measures, rtt="1", cpu=cpu, load="0")
        for cpu in ("1.2", "2.8")
    }
    falls = min(parts, key=lambda cpu: parts[cpu])
    return Criteria(within(f"{falls} GHz, 15 ms over 1 ms", parts[falls], *FAR_PART))


#: The rules of the claims that these runs decide.
CLAIMS = {
    "C44": other_programs_slow_a_slow_host_down,
    "C45": other_programs_leave_a_fast_host_as_it_is,
    "C46": a_longer_way_slows_a_host_down,
}
