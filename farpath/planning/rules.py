"""Rules between the parts of a plan; each raises BadInputError with one line."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.base.errors import BadInputError
from farpath.mechanisms.registry import mechanisms
from farpath.planning.user_rules import check_user_network
from farpath.programs.registry import program_of
from farpath.spec.hosts import SENDER, Sender, numbered
from farpath.spec.path import LEAST_IPV6_MTU_BYTES, MTU_BYTES_RANGE, RTT_MS_RANGE, Path
from farpath.spec.plan import DUMBBELL, Plan
from farpath.spec.settings import CLOCKS
from topologies import find_topology, topology_modules


def check_plan(plan: Plan) -> None:
    """Raise BadInputError for a plan whose parts contradict each other.

    It refuses a flow without a stack in the plan, and hosts that the topology lacks. It refuses
    packets that IP or a stack cannot send, and what mechanisms refuse.
    """
    _check_settings(plan)
    _check_stacks(plan)
    _check_ip(plan)
    _check_topology(plan)
    for stack in plan.stacks:
        program_of(stack).check(stack, plan)
    for mechanism in mechanisms():
        mechanism.check(plan)


def _check_settings(plan: Plan) -> None:
    """Check settings that a request cannot get wrong, but the plan of a changed record can."""
    settings = plan.settings
    clocks = CLOCKS.get(settings.lab)
    if clocks is None:
        raise BadInputError(
            option="lab", given=settings.lab, remedy=f"it must be one of {', '.join(CLOCKS)}"
        )
    if settings.clock not in clocks:
        raise BadInputError(
            option="clock", given=settings.clock, remedy=f"it must be one of {', '.join(clocks)}"
        )
    for name in ("ping_interval_s", "sample_interval_s"):
        if not getattr(settings, name) > 0:
            raise BadInputError(
                problem=f"{name} is {getattr(settings, name):g}", remedy="it must be above 0"
            )


def _check_stacks(plan: Plan) -> None:
    """Check that the plan has each flow's stack; a record of the first format has no stacks."""
    labels = {stack.label for stack in plan.stacks}
    if not labels and not plan.settings.trace_interval_s:
        return
    for flow in plan.schedule.all_flows:
        if flow.stack not in labels:
            raise BadInputError(
                problem=f"{flow.name} runs '{flow.stack}', which is none of the plan's stacks",
                remedy=f"they are {', '.join(sorted(labels)) or 'none'}",
            )


def _check_topology(plan: Plan) -> None:
    if plan.topology not in (known := topology_modules()):
        raise BadInputError(
            option="topology", given=plan.topology, remedy=f"it must be one of {', '.join(known)}"
        )
    topology = find_topology(plan.topology)
    if plan.bottlenecks not in topology.bottlenecks:
        allowed = topology.bottlenecks
        raise BadInputError(
            option="topology",
            given=plan.topology,
            problem=f"it has {plan.bottlenecks} bottlenecks",
            remedy=f"it must have {allowed[0]}"
            + (f" to {allowed[-1]}" if len(allowed) > 1 else ""),
        )
    check_user_network(plan)
    if topology.crosses_hops and not plan.path.hops:
        raise BadInputError(
            option="topology",
            given=plan.topology,
            problem=f"path {plan.path.name} has no hops",
            remedy="take `path=cern`, ufl or caltech, or name them in a path file of your own",
        )
    if topology.takes_senders:
        check_senders(plan.senders, plan.path)
    elif plan.senders or plan.schedule.reverse:
        raise senders_not_taken(plan.topology)


def senders_not_taken(topology: str) -> BadInputError:
    """Return the error of a topology with senders of its own that is given further ones."""
    return BadInputError(
        option="topology",
        given=topology,
        problem="it has its own senders, one direction and one RTT",
        remedy=f"use `senders` and `reverse` with `topology={DUMBBELL}`",
    )


def _check_ip(plan: Plan) -> None:
    if plan.ip_version not in (4, 6):
        raise BadInputError(option="ip", given=plan.ip_version, remedy="it must be 4 or 6")
    if plan.ip_version == 4:
        return
    for mtu_bytes in (plan.path.mtu_bytes, *(sender.mtu_bytes for sender in plan.senders)):
        if mtu_bytes < LEAST_IPV6_MTU_BYTES:
            raise BadInputError(
                option="mtu",
                given=f"{mtu_bytes} bytes",
                problem=f"`ip=6` needs at least {LEAST_IPV6_MTU_BYTES} (RFC 8200, section 5)",
            )


def check_senders(senders: Iterable[Sender], path: Path) -> None:
    """Raise BadInputError for further senders that cannot share a path's bottleneck."""
    for number, sender in enumerate(senders, start=2):
        if sender.name != numbered(SENDER, number):
            raise BadInputError(
                option="senders",
                problem=f"sender {number} is called '{sender.name}'",
                remedy=f"it must be {numbered(SENDER, number)}",
            )
        if not path.rtt_ms <= sender.rtt_ms <= RTT_MS_RANGE[1]:
            raise BadInputError(
                option="senders",
                problem=(
                    f"an RTT of {sender.rtt_ms:g} ms must be at least the path's, "
                    f"{path.rtt_ms:g} ms, and at most {RTT_MS_RANGE[1]:g} ms"
                ),
                remedy="give the shortest RTT as `rtt`",
            )
        if not MTU_BYTES_RANGE[0] <= sender.mtu_bytes <= path.mtu_bytes:
            raise BadInputError(
                option="senders",
                problem=(
                    f"an MTU of {sender.mtu_bytes} bytes must be at most the path's, "
                    f"{path.mtu_bytes}, and at least {MTU_BYTES_RANGE[0]}"
                ),
                remedy="give the largest MTU as `mtu`",
            )
