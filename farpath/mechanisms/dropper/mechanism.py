"""Droppers: packets that are lost on purpose; ``farpath.spec.dropper`` has the kinds of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.options import PATH, Option
from farpath.base.path_variants import DROPPING, varied
from farpath.base.words import parse_words
from farpath.mechanisms import quantities
from farpath.mechanisms.dropper.drops_by_flow import check_flow_drops, dropper_lines
from farpath.mechanisms.mechanism import Fact, Findings, Mechanism, Output, Texts
from farpath.programs.registry import program_of
from farpath.spec.dropper import BY_TIME, KINDS, MOST_LISTED, OUTAGE, THERE, Dropper
from farpath.spec.dropping import (
    concerned_flows,
    counted_above_bytes,
    drawn_packets,
    horizon_packets,
)
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow

#: Name of the draw from the seed for a dropper, by its kind.
DRAWN = {"random": "losses", "burst": "bursts"}
_NUMBER = re.compile(r"[0-9]{1,10}(e[0-9])?")


def parse_droppers(text: str) -> tuple[Dropper, ...]:
    """Parse one or more droppers, separated by blanks.

    Raises BadInputError for text that describes no dropper, and for two droppers that count the
    same packets.

    >>> [str(dropper) for dropper in parse_droppers("every:1000 at:30s,direction=back")]
    ['every:1000', 'at:30s,direction=back']
    """
    droppers = tuple(_parse_dropper(dropper_text) for dropper_text in text.split())
    if not droppers:
        raise BadInputError(
            option="drop",
            problem="it is empty",
            remedy="leave it out, or give a dropper, as in every:1000",
        )
    for first, second in combinations(droppers, 2):
        if first.direction == second.direction and (
            "" in (first.flow, second.flow) or first.flow == second.flow
        ):
            raise BadInputError(
                option="drop",
                problem=f"'{first}' and '{second}' count the same packets",
                remedy="leave one out",
            )
    return droppers


def _parse_dropper(text: str) -> Dropper:
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise BadInputError(
            option="drop",
            given=text,
            problem=f"it must begin with one of {', '.join(KINDS)}",
            remedy="write it as in every:1000",
        )
    example = "packets:100,2000,flow=flow1"
    options, numbers = (
        parse_words(rest, "drop", text, example, ("flow", "direction"), bare=True)
        if rest
        else ({}, [])
    )
    return Dropper(kind, tuple(map(_PARSERS[kind], numbers)), **options)


def _parse_count(text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not number.is_integer():
        raise BadInputError(
            option="drop", problem=f"'{text}' must be a whole number of packets, such as 1000"
        )
    return number


def _parse_moment(text: str) -> float:
    return quantities.MOMENT_S.parse(text, "drop")


def _parse_probability(text: str) -> float:
    return quantities.FRACTION.parse(text, "drop", (0.0, 1.0))


_PARSERS = {
    "every": _parse_count,
    "packets": _parse_count,
    "at": _parse_moment,
    "random": _parse_probability,
    "burst": _parse_probability,
    OUTAGE: _parse_moment,
}


def droppers_text(plan: Plan) -> str:
    """Return a plan's droppers as they are typed; empty for none."""
    return " ".join(map(str, plan.droppers))


def _apply(plan: Plan, texts: Texts) -> Plan:
    """Return a plan with droppers; its path has a name that published numbers do not have."""
    path = plan.path
    path = replace(path, **varied(path.name, path.title, [DROPPING]))
    return replace(plan, path=path, droppers=parse_droppers(texts["drop"]))


def check_dropper(dropper: Dropper, plan: Plan) -> None:
    """Raise BadInputError for a dropper that has nothing to drop in a plan, or too much."""
    if plan.programs:
        _check_of_programs(dropper, plan)
        return
    flows = concerned_flows(dropper, plan)
    if not flows:
        names = ", ".join(flow.name for flow in plan.schedule.flows)
        raise BadInputError(
            option="drop",
            given=str(dropper),
            problem=f"there is no flow {dropper.flow}",
            remedy=f"it must be one of {names}",
        )
    if dropper.direction == THERE:
        for flow in flows:
            _check_counted(dropper, flow, plan)
    last = max(flows, key=lambda flow: flow.stop_s)
    if dropper.kind in BY_TIME and dropper.numbers[-1] >= last.stop_s:
        raise BadInputError(
            option="drop",
            given=str(dropper),
            problem=f"{last.name} ends after {last.stop_s:g} s",
            remedy="give an earlier time, or a longer `region`",
        )
    horizon = horizon_packets(plan)
    if dropper.kind in ("every", "packets") and dropper.numbers[-1] > horizon:
        raise BadInputError(
            option="drop",
            given=str(dropper),
            problem=(
                f"in {plan.schedule.duration_s:g} s the path carries at most some "
                f"{horizon / 2:,.0f} packets"
            ),
            remedy="give a smaller number, or a longer `region`",
        )
    _check_bursts(dropper, plan, "a shorter `region`")


def _check_bursts(dropper: Dropper, plan: Plan, shorter: str) -> None:
    """Raise BadInputError for bursts of too many packets; ``shorter``: words for less time."""
    if dropper.kind != "burst":
        return
    enter, leave = dropper.numbers[:2]
    losses = horizon_packets(plan) * enter / (enter + leave)
    if losses > MOST_LISTED:
        raise BadInputError(
            option="drop",
            given=str(dropper),
            problem=(
                f"it drops some {losses:,.0f} packets, and at most {MOST_LISTED:,} are possible"
            ),
            remedy=f"give rarer bursts, or {shorter}",
        )


def _check_of_programs(dropper: Dropper, plan: Plan) -> None:
    """Raise BadInputError for a dropper that a user's programs cannot have."""
    if dropper.flow:
        raise BadInputError(
            option="drop",
            given=str(dropper),
            problem="programs have no flows with names",
            remedy="leave the flow out: all packets of a direction count",
        )
    duration_s = plan.schedule.duration_s
    if dropper.kind in BY_TIME and dropper.numbers[-1] >= duration_s:
        raise BadInputError(
            option="drop",
            given=str(dropper),
            problem=f"the client ends after {duration_s:g} s",
            remedy="give an earlier time, or a longer `timeout`",
        )
    _check_bursts(dropper, plan, "a shorter `timeout`")


def _check_counted(dropper: Dropper, flow: Flow, plan: Plan) -> None:
    """Raise BadInputError for a flow whose data packets are too small to be counted as data."""
    stack = next((stack for stack in plan.stacks if stack.label == flow.stack), None)
    if stack is None:
        return
    mtu_bytes, program = plan.flow_mtu_bytes(flow), program_of(stack)
    packet_bytes = program.packet_bytes(stack, plan.ip_version)
    if packet_bytes is not None and packet_bytes <= counted_above_bytes(mtu_bytes):
        raise BadInputError(
            option="drop",
            given=str(dropper),
            problem=(
                f"{flow.name} sends packets of {packet_bytes} bytes, but only those "
                f"above half the MTU of {mtu_bytes} count as data"
            ),
            remedy=(f"give {stack.name}:{program.size_text(mtu_bytes, plan.ip_version)}, or `mtu`"),
        )


def _check_plan(plan: Plan) -> None:
    for dropper in plan.droppers:
        check_dropper(dropper, plan)


def check_droppers(readback: Mapping[str, Any], plan: Plan) -> list[str]:
    """Check the counts of a plan's droppers; return a warning for each that dropped no packet.

    Raises CheckFailedError if a dropper dropped another number of packets than it should, and
    if it counted no packet at all.
    """
    idle = []
    for dropper, counts in zip(plan.droppers, readback["after"].get("droppers", ()), strict=True):
        seen, lost = counts["seen"], counts["lost"]
        if not seen:
            raise CheckFailedError(
                f"`drop={dropper}` saw no packet: no packet had its flow and direction"
            )
        if min(seen, dropper.cycle_packets) > drawn_packets(dropper, plan):
            raise CheckFailedError(
                f"`drop={dropper}` saw {seen:,} packets, more than its {DRAWN[dropper.kind]} were "
                "drawn for: the flows send far above the bottleneck's rate"
            )
        expected = dropper.expected(seen, plan.seed)
        if expected is not None and lost != expected:
            reason = ": a packet that it should drop never came" if lost < expected else ""
            raise CheckFailedError(
                f"`drop={dropper}` took {lost:,} of {seen:,} packets, not {expected:,}{reason}"
            )
        if not lost:
            idle.append(f"DROP {dropper} lost nothing: it saw {seen:,} packets")
    return idle


def check_program_droppers(readback: Mapping[str, Any], plan: Plan, ended_s: float) -> list[str]:
    """Check the counts of droppers of programs; return a warning for each that dropped too few.

    ``ended_s``: when the client ended, in s. Programs may send less than a dropper waits for.
    Raises CheckFailedError for another number of drops than the packets that it saw make.
    """
    warnings = []
    for dropper, counts in zip(plan.droppers, readback["after"].get("droppers", ()), strict=True):
        seen, lost = counts["seen"], counts["lost"]
        expected = dropper.expected(seen, plan.seed)
        fewest, expected = (0, seen) if expected is None else (expected, expected)
        if dropper.kind == "packets":
            fewest = expected = sum(number <= seen for number in dropper.numbers)
        if dropper.kind == "at":
            # After a time the next packet may not come any more
            fewest, expected = 0, sum(at_s <= ended_s for at_s in dropper.numbers)
        if min(seen, dropper.cycle_packets) > drawn_packets(dropper, plan):
            raise CheckFailedError(
                f"`drop={dropper}` saw {seen:,} packets, more than its {DRAWN[dropper.kind]} were "
                "drawn for: give a longer `timeout`"
            )
        if not fewest <= lost <= expected:
            raise CheckFailedError(
                f"`drop={dropper}` took {lost:,} of {seen:,} packets, not {expected:,}"
            )
        if not lost or (dropper.kind in ("packets", "at") and lost < len(dropper.numbers)):
            warnings.append(f"DROP {dropper} lost {lost:,} packets: it saw {seen:,}")
    return warnings


def _examine(output: Output) -> Findings:
    if output.ended_s is not None:
        found = check_program_droppers(output.readback, output.plan, output.ended_s)
        return Findings(warnings=found)
    idle = check_droppers(output.readback, output.plan)
    check_flow_drops(output.readback)
    return Findings(warnings=idle)


MECHANISM = Mechanism(
    order=40,
    of_programs=True,
    lasts=lambda plan: bool(plan.droppers),
    options={
        "drop": Option(
            "Packets to drop on purpose before the bottleneck: every Nth, listed ones, at a time, "
            "by chance, in bursts or in an outage, of one flow or one direction; blanks separate "
            "several droppers.",
            "every:1000",
            "none",
            allowed=", ".join(f"{kind}:..." for kind in KINDS),
            see="how-to/traffic-and-losses.md#losing-packets-on-purpose",
            group=PATH,
            after="loss",
            placeholder="PACKETS",
        )
    },
    apply=_apply,
    texts=lambda plan: {"drop": text} if (text := droppers_text(plan)) else {},
    check=_check_plan,
    words=lambda plan: [f"drop {text}"] if (text := droppers_text(plan)) else [],
    facts=lambda plan: [Fact("droppers", droppers_text(plan) or "none")],
    examine=_examine,
    lines=dropper_lines,
)
