"""Draws: repeats of a run whose flows start, and whose hosts send, when a seed says.

A draw is a seed that also moves what a seed alone leaves as it is where nothing is random: each
flow starts up to a round trip later, and hosts delay each packet by up to some packets' time at the
bottleneck, without changing their order. So which of two packets meets a full drop-tail queue
differs from draw to draw (Floyd and Jacobson, On traffic phase effects in packet-switched gateways,
1991, section 4, advise a random time of up to one packet's).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.options import Option, range_text
from farpath.mechanisms.era.mechanism import MOST_JITTER_MS
from farpath.mechanisms.mechanism import OF_HOSTS, Fact, Mechanism, Texts
from farpath.mechanisms.quantities import SEED_RANGE, whole_number
from farpath.programs.registry import program_of
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow, Region
from farpath.spec.seeds import stream
from farpath.spec.settings import VIRTUAL

#: Its name as an option, among further data of a plan, and of its random numbers.
DRAW = "draw"
#: The seed of a run that names none.
USUAL_SEED = 1
#: The most by which a flow starts later, in s: tests of iperf3 last whole seconds.
MOST_LATER_S = 0.45
#: Packets whose time at the bottleneck is the most that a host delays one. Delayed ACKs let go two
#: at once, and those of two flows change places within four.
PACKETS = 4
#: The most of the shortest round trip that they may take.
RTT_PART = 0.25
#: Digits of times in s and in ms.
S_DIGITS, MS_DIGITS = 6, 6


def _apply(plan: Plan, texts: Texts) -> Plan:
    number = whole_number(DRAW, texts[DRAW], SEED_RANGE)
    if plan.seed not in (USUAL_SEED, number):
        raise BadInputError(
            option=DRAW,
            given=texts[DRAW],
            problem=f"`seed` is {plan.seed}, and a draw is a seed",
            remedy="leave one of them out",
        )
    if plan.settings.lab != VIRTUAL:
        raise BadInputError(
            option=DRAW,
            given=texts[DRAW],
            problem=f"with `lab={plan.settings.lab}` each run is another draw by itself",
            remedy="leave it out",
        )
    later_s = {flow.name: _later_s(plan, flow, number) for flow in plan.schedule.all_flows}
    jitter_ms = _jitter_ms(plan)
    data = {"number": number, "later_s": later_s, "jitter_ms": jitter_ms}
    return dataclasses.replace(
        _moved(plan, later_s),
        seed=number,
        era=dataclasses.replace(plan.era, jitter_ms=plan.era.jitter_ms or jitter_ms),
        extra={**plan.extra, DRAW: data},
    )


def _later_s(plan: Plan, flow: Flow, number: int) -> float:
    """Return how much later a flow starts: uniformly up to a round trip."""
    most_s = min(plan.pair_rtt_ms(flow.sender, flow.receiver) / 1e3, MOST_LATER_S)
    return round(stream(number, DRAW, flow.name).uniform(0.0, most_s), S_DIGITS)


def _jitter_ms(plan: Plan) -> float:
    """Return the jitter that hosts get.

    It is 0 where they have one, where programs space packets themselves, and for a flow alone,
    which has no phase to another.
    """
    spaced = any(program_of(stack).paces_itself for stack in plan.stacks)
    if plan.era.jitter_ms or spaced:
        return 0.0
    path, flows = plan.path, plan.schedule.all_flows
    if len(flows) == 1 and not path.background and not path.short_flows:
        return 0.0
    time_ms = 8e3 * PACKETS * path.frame_bytes / path.rate_bps
    least_rtt_ms = min(plan.pair_rtt_ms(flow.sender, flow.receiver) for flow in flows)
    return min(round(time_ms, MS_DIGITS), RTT_PART * least_rtt_ms, MOST_JITTER_MS)


def _moved(plan: Plan, later_s: Mapping[str, float], sign: int = 1) -> Plan:
    """Return a plan whose flows start later, or earlier with a ``sign`` of -1."""
    schedule = plan.schedule
    flows, reverse = (
        tuple(
            dataclasses.replace(
                flow, start_s=round(flow.start_s + sign * later_s[flow.name], S_DIGITS)
            )
            for flow in part
        )
        for part in (schedule.flows, schedule.reverse)
    )
    return dataclasses.replace(
        plan, schedule=dataclasses.replace(schedule, flows=flows, reverse=reverse)
    )


def drawn(plan: Plan) -> dict[str, Any] | None:
    """Return what a draw changed: ``number``, ``later_s`` by flow, ``jitter_ms``; None without."""
    data: dict[str, Any] | None = plan.extra.get(DRAW)
    return data


def undrawn(plan: Plan) -> Plan:
    """Return the plan that a draw was made of, with the draw's seed; another plan as it is."""
    data = drawn(plan)
    if data is None:
        return plan
    return dataclasses.replace(
        _moved(plan, data["later_s"], -1),
        era=dataclasses.replace(plan.era, jitter_ms=0.0) if data["jitter_ms"] else plan.era,
        extra={name: value for name, value in plan.extra.items() if name != DRAW},
    )


def regions_of(plan: Plan) -> tuple[Region, ...]:
    """Return the regions of a plan's schedule, as they were before a draw moved starts."""
    return undrawn(plan).schedule.regions()


def _facts(plan: Plan) -> Iterator[Fact]:
    if data := drawn(plan):
        later = ", ".join(
            f"{flow} {1e3 * later_s:g} ms" for flow, later_s in data["later_s"].items()
        )
        jitter_ms = data["jitter_ms"]
        jitter = f"; hosts delay packets by up to {jitter_ms:g} ms" if jitter_ms else ""
        yield Fact(DRAW, f"{data['number']}: starts later by {later}{jitter}")


MECHANISM = Mechanism(
    order=OF_HOSTS + 40,
    of_flows="another `seed` makes an independent repeat",
    options={
        DRAW: Option(
            "A seed that also moves starts of flows by up to a round trip and hosts' sending by "
            "up to four packets' time, so that a run without anything random is one draw of "
            "several.",
            "3",
            "none: starts as scheduled",
            allowed=range_text(SEED_RANGE, ""),
            see="how-to/many-runs.md#draws",
            after="seed",
            placeholder="N",
        )
    },
    apply=_apply,
    texts=lambda plan: {DRAW: str(data["number"])} if (data := drawn(plan)) else {},
    words=lambda plan: ["starts and sending drawn"] if drawn(plan) else [],
    host_facts=_facts,
)
