"""MPTCP: how the kernel's path manager and scheduler of end hosts are set, as plain data.

A host with several links has an address on each. Its first one is that of its connections; what
MPTCP does with the others is the host's role (RFC 8684, 3.2 and 3.4; ip-mptcp(8)).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.spec.stack import MPTCP
from farpath.spec.wire import as_wire, from_wire

if TYPE_CHECKING:
    from farpath.spec.plan import Plan
    from farpath.spec.schedule import Flow

#: The name of its data in ``Plan.extra``.
KEY = "mptcp"
#: What a host does with its further links: it opens a subflow from each to the address that the
#: connection has; the same, for use after all others have failed (RFC 8684, 3.3.8); from each to
#: every address of the other end; it tells the other end of them, which opens subflows to them;
#: nothing.
SUBFLOW, BACKUP, FULLMESH, SIGNAL, NONE = "subflow", "backup", "fullmesh", "signal", "none"
#: The flags of an endpoint of each role, as ``ip mptcp endpoint`` has them.
ROLES: Mapping[str, tuple[str, ...]] = {
    SUBFLOW: ("subflow",),
    BACKUP: ("subflow", "backup"),
    FULLMESH: ("subflow", "fullmesh"),
    SIGNAL: ("signal",),
    NONE: (),
}
#: The scheduler of a kernel without others (net/mptcp/sched.c).
DEFAULT_SCHEDULER = "default"
#: The name of a scheduler: at most 15 letters (MPTCP_SCHED_NAME_MAX in include/net/mptcp.h).
SCHEDULER_NAME = re.compile(r"[A-Za-z0-9_.-]{1,15}")
#: Most further subflows, and most that the other end's addresses may lead to: the kernel's own
#: limits (MPTCP_PM_ADDR_MAX in net/mptcp/pm_kernel.c).
MOST_SUBFLOWS = 8


@dataclass(frozen=True)
class Mptcp:
    """MPTCP of a plan's end hosts.

    ``roles``: of hosts with several links, by host; one of ``ROLES``. ``scheduler``: of all hosts.
    Raises BadInputError for a role or a name of a scheduler that cannot be.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    scheduler: str = DEFAULT_SCHEDULER

    def __post_init__(self) -> None:
        for role in self.roles.values():
            if role not in ROLES:
                raise BadInputError(
                    option=KEY, given=role, remedy=f"it must be one of {', '.join(ROLES)}"
                )
        if not SCHEDULER_NAME.fullmatch(self.scheduler):
            raise BadInputError(
                option=KEY,
                given=self.scheduler,
                problem="that is no scheduler's name",
                remedy="it has at most 15 letters, digits, _, . and -",
            )


def mptcp_of(plan: Plan) -> Mptcp | None:
    """Return the MPTCP of a plan; None for one that says nothing of it and has no flow of MPTCP.

    Hosts of flows of MPTCP have a role, whether the plan says so or not.
    """
    data = plan.extra.get(KEY)
    given = None if data is None else from_wire(Mptcp, data)
    if not mptcp_flows(plan):
        return given
    asked = given or Mptcp()
    return replace(asked, roles={**_usual_roles(plan), **asked.roles})


def mptcp_flows(plan: Plan) -> tuple[Flow, ...]:
    """Return the flows of MPTCP."""
    return tuple(flow for flow in plan.schedule.all_flows if plan.stack_of(flow).program == MPTCP)


def _usual_roles(plan: Plan) -> dict[str, str]:
    """Return the roles of the hosts of flows that have several links.

    A receiver tells of its links. A sender opens a subflow from each, and to all addresses of the
    receiver where a link does not lead to the first one.
    """
    network, roles = plan.user_network, dict[str, str]()
    if network is None:
        return roles
    for flow in mptcp_flows(plan):
        sender, receiver = flow.sender, flow.receiver
        if network.steps[receiver][1:]:
            roles[receiver] = SIGNAL
        if network.steps[sender][1:]:
            first = network.steps[receiver][0].cable
            leading = {way[0] for way in network.ways(sender, receiver) if way[-1].cable == first}
            roles[sender] = SUBFLOW if leading == set(network.steps[sender]) else FULLMESH
    return roles


def with_mptcp(plan: Plan, mptcp: Mptcp) -> Plan:
    """Return a plan with MPTCP."""
    return replace(plan, extra={**plan.extra, KEY: as_wire(mptcp)})
