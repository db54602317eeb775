"""Service plan: the plan of the lab of a deployment: its sites, links and hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import combinations

from farpath.base.errors import BadInputError
from farpath.planning.deployment import Deployment, SiteLink
from farpath.planning.memory import GUEST_BASE_BYTES, GUEST_BYTES_PER_WINDOW_BYTE, MOST_PATHS
from farpath.planning.path_options import custom_path
from farpath.planning.program_plan import USUAL_SYSCTL
from farpath.planning.request import RunRequest
from farpath.planning.site_guests import with_guests
from farpath.spec.mptcp import with_mptcp
from farpath.spec.path import WAY_RTT_MS_RANGE
from farpath.spec.plan import Plan
from farpath.spec.schedule import MOST_FLOWS, Flow, Schedule
from farpath.spec.services import DELAY, LOSS, OF_LINKS, RATE, Fault
from farpath.spec.site_network import SiteNetwork
from farpath.spec.user_network import Cable, Shaping
from topologies.sites import NAME

#: First letters of nodes: hosts of services, hosts that ping, and switches.
_SERVICE, _PROBE, _SITE = "h", "p", "s"
#: Most bytes in flight to and from a host over links without a rate, by TCP's usual buffers.
_HOST_BYTES = 16 << 20
#: Memory of a service's host: its init, its container and its mounts.
_SERVICE_BYTES = 8 << 20


def host_of(number: int) -> str:
    """Return the host of a service, by its number in the file from 0.

    >>> host_of(0)
    'h1'
    """
    return f"{_SERVICE}{number + 1}"


def probes_of(deployment: Deployment) -> dict[str, str]:
    """Return the host of each site that pings others, by site."""
    return {site: f"{_PROBE}{number}" for number, site in enumerate(deployment.sites, start=1)}


def switches_of(deployment: Deployment) -> dict[str, str]:
    """Return the switch of each site."""
    return {site: f"{_SITE}{number}" for number, site in enumerate(deployment.sites, start=1)}


def network_of(deployment: Deployment) -> SiteNetwork:
    """Return the network: a switch for each site with its hosts, and a cable for each link."""
    switches, probes = switches_of(deployment), probes_of(deployment)
    numbers = {service.name: place for place, service in enumerate(deployment.services)}
    ports = dict.fromkeys(switches.values(), 0)
    host_ports = dict.fromkeys(numbers, 0)

    def port(switch: str) -> int:
        ports[switch] += 1
        return ports[switch]

    def host_port(name: str) -> int:
        host_ports[name] += 1
        return host_ports[name] - 1

    cables = []
    for site, names in deployment.sites.items():
        switch = switches[site]
        for name in names:
            access = deployment.access.get((name, site), (Shaping(), Shaping()))
            ends = (host_of(numbers[name]), host_port(name), switch, port(switch))
            cables.append(Cable(*ends, *access))
        cables.append(Cable(probes[site], 0, switch, port(switch)))
    for link in deployment.links:
        one, other = switches[link.one], switches[link.other]
        cables.append(Cable(one, port(one), other, port(other), link.there, link.back))
    hosts = [host_of(number) for number in range(len(deployment.services))]
    return SiteNetwork((*hosts, *probes.values()), tuple(switches.values()), tuple(cables))


def _require_delays(deployment: Deployment, network: SiteNetwork) -> None:
    """Raise BadInputError for two sites that are too far from each other."""
    high = WAY_RTT_MS_RANGE[1]
    for one, other in combinations(probes_of(deployment), 2):
        probes = probes_of(deployment)
        rtt_ms = network.rtt_ms(probes[one], probes[other])
        if rtt_ms > high:
            raise BadInputError(
                option="links",
                problem=f"the delays on the way from {one} to {other} and back are {rtt_ms:g} ms",
                remedy=f"they must be at most {high:,g} ms",
            )


def _check_faults(deployment: Deployment) -> None:
    """Raise BadInputError for a fault that its link has nothing to change for."""
    for fault in deployment.faults:
        if fault.kind in OF_LINKS and not fault.is_of_services:
            link = link_of(deployment.links, fault)
            for shaping in shapings_of(link, fault):
                if fault.kind in (LOSS, DELAY) and not (shaping.delay_ms or shaping.loss):
                    raise _without(fault, "delay", "give it an `rtt`, of 1us if that is all")
                if fault.kind == RATE and not shaping.rate_bps:
                    raise _without(fault, "rate", "give it a `rate`")


def _without(fault: Fault, what: str, remedy: str) -> BadInputError:
    return BadInputError(
        option="faults",
        given=f"{fault.kind} of {'-'.join(fault.of)}",
        problem=f"the link has no {what} of its own that could change",
        remedy=remedy,
    )


def link_of(links: Sequence[SiteLink], fault: Fault) -> SiteLink:
    """Return the link of a fault; raises BadInputError if its sites have none."""
    for link in links:
        if {link.one, link.other} == set(fault.of):
            return link
    raise BadInputError(
        option="faults",
        given="-".join(fault.of),
        problem="these sites have no link",
        remedy=f"links are {', '.join(f'{link.one}-{link.other}' for link in links) or 'none'}",
    )


def shapings_of(link: SiteLink, fault: Fault) -> tuple[Shaping, ...]:
    """Return what a link does in the directions that a fault is in."""
    first = link.there if link.one == fault.of[0] else link.back
    second = link.back if link.one == fault.of[0] else link.there
    return (first,) if fault.one_way else (first, second)


def _schedule(deployment: Deployment, label: str) -> Schedule:
    """Return flows that do not run and name the hosts that ping each other: one of each site.

    Of more than 14 sites only those with a link ping each other. Raises BadInputError for too many.
    """
    probes = probes_of(deployment)
    pairs = tuple(combinations(probes.values(), 2))
    if len(pairs) > MOST_FLOWS:
        pairs = tuple((probes[link.one], probes[link.other]) for link in deployment.links)
    if len(pairs) > MOST_FLOWS:
        raise BadInputError(
            option="links",
            problem=f"there are {len(pairs)} of them",
            remedy=f"at most {MOST_FLOWS} are possible",
        )
    pairs = pairs or ((next(iter(probes.values())), host_of(0)),)
    flows = tuple(
        Flow(f"flow{number}", *pair, label, 0.0, 5.0, 5200 + number)
        for number, pair in enumerate(pairs, start=1)
    )
    return Schedule("parallel", flows, 5.0, 5.0)


def _in_flight_bytes(network: SiteNetwork) -> int:
    """Return the most bytes that are on links or wait for them, of the guest with the most."""
    return max(_guest_bytes(network, guest) for guest in {0, *network.guests})


def _guest_bytes(network: SiteNetwork, guest: int) -> int:
    """Return the most bytes that are on a guest's links or wait for them."""
    total_bytes = 0.0
    for cable in network.cables:
        if guest not in (network.guest_of(cable.one), network.guest_of(cable.other)):
            continue
        for shaping in (cable.there, cable.back):
            if shaping.rate_bps:
                total_bytes += shaping.rate_bps * max(shaping.delay_ms, 1.0) / 8e3
                total_bytes += shaping.buffer_packets * 1514
    hosts = sum(network.guest_of(host) == guest for host in network.hosts)
    return MOST_PATHS * round(total_bytes) + _HOST_BYTES * hosts


def service_plan(deployment: Deployment, program_bytes: int, sample: str | None = None) -> Plan:
    """Return the plan of a deployment's lab; raises BadInputError.

    ``program_bytes``: memory for programs and their files, in each guest. ``sample``: time between
    two samples of queues, as of a run.
    """
    network = network_of(deployment)
    if deployment.guest_per_site:
        network = with_guests(network, deployment, switches_of(deployment))
    _require_delays(deployment, network)
    _check_faults(deployment)
    request = RunRequest(
        rtt="10ms",
        stack=deployment.stack,
        seed=str(deployment.seed),
        **({} if sample is None else {"sample": sample}),
    )
    plan = request.plan()
    if len(plan.stacks) != 1 or not plan.stacks[0].is_congestion_control:
        raise BadInputError(
            option="stack",
            given=deployment.stack,
            remedy="give one congestion control of the kernel's, as in `stack`: cubic",
        )
    schedule = _schedule(deployment, plan.stacks[0].label)
    rtt_ms = network.rtt_ms(schedule.flows[0].sender, schedule.flows[0].receiver)
    path = custom_path(rtt_ms or WAY_RTT_MS_RANGE[0], _path_values(deployment.name, network))
    memory_bytes = (
        GUEST_BASE_BYTES
        + _SERVICE_BYTES * len(deployment.services)
        + GUEST_BYTES_PER_WINDOW_BYTE * _in_flight_bytes(network)
        + program_bytes
    )
    settings = dataclasses.replace(
        plan.settings, one_guest=not network.far, memory_bytes=memory_bytes
    )
    if deployment.mptcp.roles:
        hosts = {one.name: host_of(number) for number, one in enumerate(deployment.services)}
        roles = {hosts[name]: role for name, role in deployment.mptcp.roles.items()}
        plan = with_mptcp(plan, dataclasses.replace(deployment.mptcp, roles=roles))
    return dataclasses.replace(
        plan,
        path=path,
        schedule=schedule,
        topology=NAME,
        user_network=network,
        programs=True,
        settings=settings,
    )


def _path_values(name: str, network: SiteNetwork) -> dict[str, object]:
    values: Mapping[str, object] = {
        "name": name,
        "title": f"services at {len(network.switches)} sites",
        "sysctl": USUAL_SYSCTL,
        "sources": {},
    }
    return dict(values)
