"""Rules of a run over a user's own network; each raises BadInputError with one line."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.planning.user_path import check_way
from farpath.platforms import platform_of
from farpath.spec.own_network import OwnNetwork
from farpath.spec.plan import OWN, Plan


def check_own_network(plan: Plan) -> None:
    """Raise BadInputError for a plan whose network and flows contradict each other.

    It has a network if, and only if, its topology is ``own``.
    """
    if (plan.topology == OWN) != (plan.network is not None):
        raise BadInputError(
            f"TOPOLOGY is '{plan.topology}': a topology of your own, and no other, has a network; "
            "name its file, as in ./mine.py"
        )
    if plan.network is not None:
        _check_flows(plan, plan.network)
        _check_options(plan)


def _check_flows(plan: Plan, network: OwnNetwork) -> None:
    for flow in plan.schedule.flows:
        for host in (flow.sender, flow.receiver):
            if host not in network.hosts:
                raise BadInputError(
                    f"FLOWS: {flow.name} has no host '{host}' in its network: the hosts are "
                    f"{', '.join(network.hosts)}"
                )
        if flow.sender == flow.receiver:
            raise BadInputError(f"FLOWS: {flow.name} leads from {flow.sender} to itself")
    for pair in plan.pairs:
        check_way(network, *pair)
    if plan.bottlenecks != len(network.bottlenecks(plan.pairs)):
        raise BadInputError(f"plan.bottlenecks is {plan.bottlenecks}, unlike those of its network")


def _check_options(plan: Plan) -> None:
    """Refuse options that are made for one path between two sites."""
    path = plan.path
    given = {
        "LAB=host": not platform_of(plan).boots_kernel,
        "DROP": plan.droppers,
        "BACKGROUND": path.background or path.short_flows,
        "REORDER": path.reorder,
        "DUPLICATE": path.duplicate,
        "JITTER": path.jitter_ms,
    }
    for option, is_given in given.items():
        if is_given:
            raise BadInputError(
                f"{option} with a TOPOLOGY of your own: it is for the topologies of farpath; leave "
                "one of them out"
            )
    both = {flow.sender for flow in plan.schedule.flows} & set(plan.receivers)
    if (plan.source or plan.sink) and both:
        raise BadInputError(
            f"SOURCE and SINK with FLOWS from and to {sorted(both)[0]}: a disk is read or written "
            "here, and that host would do both; leave one of them out"
        )
