"""Deployment: services, sites and the links between these, as a file asks for them.

Compose files and containerlab's topologies are read into one (``planning/compose.py``,
``planning/containerlab.py``), and ``planning/service_plan.py`` makes the plan of its lab.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from farpath.spec.mptcp import Mptcp
from farpath.spec.services import NO_RESTART, Condition, Fault, Healthcheck
from farpath.spec.user_network import Shaping

#: The image of services that run this machine's own programs.
MACHINE = "machine"
#: The site of services for which a file names none.
ONE_SITE = "site"
#: Most services of a file; each is a host with processes of its own in one kernel.
MOST_SERVICES = 64


def plain_name(text: str) -> str:
    """Return a text as a deployment's name: small letters, digits, _ and -, at most 60 of them.

    >>> plain_name("My Replica.2")
    'my-replica-2'
    """
    return re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-_")[:60]


@dataclass(frozen=True)
class VolumeRequest:
    """A volume that a service sees at ``target``.

    ``source``: a path of this machine or, without a slash, the name of a directory that is empty at
    first and that services share.
    """

    source: str
    target: str


@dataclass(frozen=True)
class ServiceRequest:
    """A service as asked for; what is None the image decides.

    ``image``: ``MACHINE``, the absolute path of an image (a tar, or a directory with OCI's layout),
    or the name of a local engine's image. ``names``: its host's names, of which the first is what
    the host calls itself. ``entrypoint``, ``command``: of the image's own each that is not None
    takes the place; an empty one is none. ``user``: a name or a number, and a group behind a
    colon. ``health``: None for none.
    """

    name: str
    image: str
    names: tuple[str, ...]
    command: tuple[str, ...] | None = None
    entrypoint: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    working_dir: str | None = None
    volumes: tuple[VolumeRequest, ...] = ()
    waits_for: tuple[Condition, ...] = ()
    health: Healthcheck | None = None
    restart: str = NO_RESTART
    stop_signal: int = 15
    grace_s: float = 10.0


@dataclass(frozen=True)
class SiteLink:
    """A link between two sites; ``there`` is from ``one`` to ``other``."""

    one: str
    other: str
    there: Shaping
    back: Shaping


@dataclass(frozen=True)
class Deployment:
    """What a file asks for.

    ``name``: of the records. ``services``: in the file's order. ``sites``: names of services, by
    site. ``main``: the service whose end ends the run. ``faults``: with their moments drawn.
    ``warnings``: what of the file has no meaning here. ``stack``: congestion control of all hosts.
    ``directory``: that of the file, in which this machine's programs start. ``access``: what the
    cable between a service and its site does to what the service sends, and to what it gets; of
    others nothing; by service and site. ``guest_per_site``: whether each site has a guest of its
    own, where its links allow. ``mptcp``: what MPTCP does with the further links of services at
    several sites.
    """

    name: str
    services: tuple[ServiceRequest, ...]
    sites: Mapping[str, tuple[str, ...]]
    links: tuple[SiteLink, ...]
    main: str
    seed: int = 1
    timeout_s: float = 600.0
    date_s: int | None = None
    faults: tuple[Fault, ...] = ()
    stack: str = "cubic"
    warnings: tuple[str, ...] = ()
    directory: str = "."
    access: Mapping[tuple[str, str], tuple[Shaping, Shaping]] = field(default_factory=dict)
    guest_per_site: bool = False
    mptcp: Mptcp = field(default_factory=Mptcp)

    def sites_of(self, service: str) -> tuple[str, ...]:
        """Return the sites at which a service stands, in their order."""
        return tuple(site for site, names in self.sites.items() if service in names)
