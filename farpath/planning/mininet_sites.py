"""Mininet sites: the network of a user's Mininet topology as sites, for services on its hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from farpath.base.errors import BadInputError, on_one_line
from farpath.planning.deployment import SiteLink
from farpath.planning.file_models import mapping_of
from farpath.planning.yaml_text import nearest, text_of
from farpath.spec.user_network import Shaping, UserNetwork

#: What a service's own cable to a site does to what it sends, and to what it gets.
Access = tuple[Shaping, Shaping]
#: The same of all services, by service and site.
Accesses = Mapping[tuple[str, str], Access]


@dataclass(frozen=True)
class MininetSites:
    """A network of switches as sites; fields as those of ``planning.deployment.Deployment``."""

    sites: Mapping[str, tuple[str, ...]]
    links: tuple[SiteLink, ...]
    access: Accesses


def read_hosts(data: object, services: Sequence[str], network: UserNetwork) -> dict[str, str]:
    """Return the host of each service: the one that a file names, or that of its own name.

    Raises BadInputError for a service without a host, and for two on one.
    """
    given = {name: text_of(host) or "" for name, host in mapping_of(data, "hosts").items()}
    if unknown := next((name for name in given if name not in services), None):
        raise BadInputError(
            option="hosts",
            given=on_one_line(unknown),
            problem=f"there is no such service{nearest(unknown, services)}",
            remedy=f"the services are {', '.join(services)}",
        )
    hosts: dict[str, str] = {}
    for name in services:
        host = given.get(name, name)
        if host not in network.hosts:
            raise BadInputError(
                option="hosts",
                problem=f"service {name} has no host '{on_one_line(host)}' in the topology"
                + nearest(host, network.hosts),
                remedy=f"give it one of {', '.join(network.hosts)}, as in hosts: "
                f"{{{name}: {network.hosts[0]}}}",
            )
        if host in hosts.values():
            raise BadInputError(
                option="hosts",
                problem=f"two services are on host {host}",
                remedy="give each a host of its own",
            )
        hosts[name] = host
    return hosts


def sites_of(network: UserNetwork, hosts: Mapping[str, str]) -> MininetSites:
    """Return each switch as a site, each cable of two switches as a link.

    ``hosts``: of each service. Hosts without a service are left out.
    """
    sites: dict[str, list[str]] = {switch: [] for switch in network.switches}
    access = {}
    for service, host in hosts.items():
        for step in network.steps[host]:
            cable = step.cable
            if service in sites[step.end]:
                raise BadInputError(
                    option="topology",
                    problem=f"host {host} has two links to {step.end}",
                    remedy="lead the second one over a switch of its own",
                )
            sites[step.end].append(service)
            both = (cable.there, cable.back) if step.is_there else (cable.back, cable.there)
            if both != (Shaping(), Shaping()):
                access[service, step.end] = both
    links = tuple(
        SiteLink(cable.one, cable.other, cable.there, cable.back)
        for cable in network.cables
        if {cable.one, cable.other} <= set(network.switches)
    )
    return MininetSites({site: tuple(names) for site, names in sites.items()}, links, access)
