"""Rules of a run over a user's own network; each raises BadInputError with one line."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.planning.user_path import check_way
from farpath.platforms import platform_of
from farpath.spec.plan import OWN, Plan
from farpath.spec.user_network import UserNetwork


def check_user_network(plan: Plan) -> None:
    """Raise BadInputError for a plan whose network and flows contradict each other.

    It has a network if, and only if, its topology is ``own``.
    """
    if (plan.topology == OWN) != (plan.user_network is not None):
        raise BadInputError(
            option="topology",
            given=plan.topology,
            problem="a topology of your own, and no other, has a network",
            remedy="name its file, as in ./mine.py",
        )
    if plan.user_network is not None:
        _check_flows(plan, plan.user_network)
        _check_options(plan)


def _check_flows(plan: Plan, network: UserNetwork) -> None:
    for flow in plan.schedule.flows:
        for host in (flow.sender, flow.receiver):
            if host not in network.hosts:
                raise BadInputError(
                    option="flows",
                    problem=f"{flow.name} has no host '{host}' in its network",
                    remedy=f"the hosts are {', '.join(network.hosts)}",
                )
        if flow.sender == flow.receiver:
            raise BadInputError(
                option="flows", problem=f"{flow.name} leads from {flow.sender} to itself"
            )
    for pair in plan.pairs:
        check_way(network, *pair)
    if plan.bottlenecks != len(network.bottlenecks(plan.pairs)):
        raise BadInputError(
            problem=f"plan.bottlenecks is {plan.bottlenecks}, unlike those of its network"
        )


def _check_options(plan: Plan) -> None:
    """Refuse options that are made for one path between two sites."""
    path = plan.path
    given = {
        "lab": not platform_of(plan).boots_kernel,
        "drop": plan.droppers,
        "background": path.background or path.short_flows,
        "reorder": path.reorder,
        "duplicate": path.duplicate,
        "jitter": path.jitter_ms,
    }
    for option, is_given in given.items():
        if is_given:
            raise BadInputError(
                option=option,
                problem="a topology of your own does not take it, and `topology` is one",
                remedy="leave one of them out",
            )
    both = {flow.sender for flow in plan.schedule.flows} & set(plan.receivers)
    if (plan.source or plan.sink) and both:
        raise BadInputError(
            option="source" if plan.source else "sink",
            problem=(
                f"a disk is read or written here, and by `flows` {sorted(both)[0]} would do both"
            ),
            remedy="leave one of them out",
        )
