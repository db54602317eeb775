"""Site guests: which sites of a deployment have a guest each, and the links between these.

A site has a guest of its own where all its links have a delay that no packet falls short of, since
guests wait for each other once within such a delay (``farpath.spec.sites``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from farpath.planning.deployment import Deployment
from farpath.spec.services import DELAY
from farpath.spec.site_network import FarCable, SiteNetwork
from farpath.spec.sites import LEAST_DELAY_S
from farpath.spec.user_network import Shaping

#: Part of a delay that netem keeps on a link without a rate, in ms. netem holds a packet for it,
#: and so a socket's full buffer stops a program that sends datagrams in a loop.
KEPT_MS = 1.0
#: Most far links of a guest (MOST_DEVICES in images/kernel/devices/farlink.c).
MOST_FAR_LINKS = 32


def with_guests(
    network: SiteNetwork, deployment: Deployment, switches: dict[str, str]
) -> SiteNetwork:
    """Return the network with a guest for each site that can have one; the plan alone decides.

    Two sites with too short a link share a guest, and so do two sites with services that share a
    volume, and the sites of one service. If a guest had too many links, all sites share one.
    ``switches``: by site.
    """
    delays = dict(_least_delays(network, deployment, switches))
    together = [
        (network.cables[number].one, network.cables[number].other)
        for number, both_ms in delays.items()
        if min(both_ms) < LEAST_DELAY_S * 1e3
    ]
    together += [(switches[one], switches[other]) for one, other in _sharing(deployment)]
    together += [
        (switches[one], switches[other])
        for service in deployment.services
        for one, other in pairwise(deployment.sites_of(service.name))
    ]
    guests = _numbered(network.switches, together)
    number_of = dict(zip(network.switches, guests, strict=True))
    far = tuple(
        FarCable(number, *both_ms)
        for number, both_ms in delays.items()
        if number_of[network.cables[number].one] != number_of[network.cables[number].other]
    )
    found = SiteNetwork(network.hosts, network.switches, network.cables, guests, far)
    others = max(guests)
    most = max((_far_links(found, guest) + others for guest in set(guests)), default=0)
    return network if not far or most > MOST_FAR_LINKS else found


def _far_links(network: SiteNetwork, guest: int) -> int:
    """Return how many far links a guest has, beside those to tell others of services."""
    cables = [network.cables[one.number] for one in network.far]
    return sum(guest in map(network.guest_of, (cable.one, cable.other)) for cable in cables)


def _least_delays(
    network: SiteNetwork, deployment: Deployment, switches: dict[str, str]
) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield the least delay of each direction of the cables between switches, by their numbers."""
    for number, cable in enumerate(network.cables):
        if {cable.one, cable.other} <= set(network.switches):
            ends = (cable.one, cable.other)
            there_ms = _least_ms(cable.there, _delays_ms(deployment, switches, ends))
            back_ms = _least_ms(cable.back, _delays_ms(deployment, switches, ends[::-1]))
            yield number, (there_ms, back_ms)


def _least_ms(shaping: Shaping, changed_ms: Iterable[float]) -> float:
    kept_ms = shaping.jitter_ms + (0.0 if shaping.rate_bps else KEPT_MS)
    return round(max(0.0, min([shaping.delay_ms, *changed_ms]) - kept_ms), 6)


def _delays_ms(
    deployment: Deployment, switches: dict[str, str], ends: tuple[str, str]
) -> Iterator[float]:
    """Yield the delays that faults give to a direction, from the first of its ends."""
    for fault in deployment.faults:
        if fault.kind == DELAY:
            one, other = (switches[site] for site in fault.of)
            if ends == (one, other) or (ends == (other, one) and not fault.one_way):
                yield fault.value


def _sharing(deployment: Deployment) -> Iterator[tuple[str, str]]:
    """Yield pairs of sites with services that share a volume."""
    first: dict[str, str] = {}
    site_of = {name: site for site, names in deployment.sites.items() for name in names}
    for service in deployment.services:
        for volume in service.volumes:
            if "/" not in volume.source:
                site = site_of[service.name]
                yield first.setdefault(volume.source, site), site


def _numbered(names: tuple[str, ...], together: Iterable[tuple[str, str]]) -> tuple[int, ...]:
    """Return a number for each name, from 0 in their order; those of a pair have the same.

    >>> _numbered(("s1", "s2", "s3", "s4"), [("s3", "s1"), ("s2", "s2")])
    (0, 1, 0, 2)
    """
    group = {name: name for name in names}
    for one, other in together:
        joined, left = group[one], group[other]
        group = {name: joined if of == left else of for name, of in group.items()}
    numbers = {name: number for number, name in enumerate(dict.fromkeys(group.values()))}
    return tuple(numbers[group[name]] for name in names)
