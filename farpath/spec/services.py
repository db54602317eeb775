"""Services: what ``farpath up`` runs on the hosts of sites, and its faults, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from farpath.base.errors import BadInputError
from farpath.spec.programs import Place

#: The name of a service, after which its output is called.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

#: Directory of the shared one with a link to each directory of this machine that services read.
VOLUMES_DIR = "volumes"
#: What a service may wait for of another: that it runs, that its health check passes, or that it
#: has ended with status 0 (compose-spec, ``depends_on``).
STARTED, HEALTHY, COMPLETED = "service_started", "service_healthy", "service_completed_successfully"
CONDITIONS = (STARTED, HEALTHY, COMPLETED)
#: When a service starts again after it has ended (compose-spec, ``restart``).
NO_RESTART, ON_FAILURE, ALWAYS = "no", "on-failure", "always"
#: Virtual s between the end of a service and its next start, as Docker's engine begins with.
RESTART_S = 0.1

#: Kinds of faults, by what they are done to: the links of two sites, or services. A partition
#: may be of services too.
PARTITION, LINK_DOWN, LOSS, DELAY, RATE = "partition", "link-down", "loss", "delay", "rate"
KILL, STOP, RESTART, FULL_DISK = "kill", "stop", "restart", "full-disk"
CLOCK_STEP = "clock-step"
OF_LINKS = (PARTITION, LINK_DOWN, LOSS, DELAY, RATE)
OF_SERVICES = (KILL, STOP, RESTART, FULL_DISK, CLOCK_STEP)
#: Faults that do not last, and those that have a value: a probability, a delay of one direction
#: in ms, a rate in bit/s, seconds by which a clock goes forward.
MOMENTARY, VALUED = (KILL, RESTART), (LOSS, DELAY, RATE, CLOCK_STEP)
#: Joins the services of one side of a partition.
AND = "+"


@dataclass(frozen=True)
class Condition:
    """What has to hold before a service starts. ``state``: one of ``CONDITIONS``."""

    service: str
    state: str = STARTED


@dataclass(frozen=True)
class Healthcheck:
    """A command that says whether a service is well, by its status (compose-spec, ``healthcheck``).

    ``retries``: how many failures in a row make it unhealthy; those within ``start_period_s`` do
    not count. Times are virtual.
    """

    command: tuple[str, ...]
    interval_s: float = 30.0
    timeout_s: float = 30.0
    retries: int = 3
    start_period_s: float = 0.0


@dataclass(frozen=True)
class Volume:
    """A directory or a file that a service sees at ``target``.

    ``number``: of the shared directory's entry for a directory of this machine, which is only
    read; ``file``: the file in it that is the volume, empty for the whole directory. ``name``: of
    an empty directory that services share, in place of these. What a service writes below a place
    of this machine stays in the lab.
    """

    target: str
    number: int = -1
    file: str = ""
    name: str = ""


@dataclass(frozen=True)
class Service:
    """A service: a command on a host of its own.

    ``host``: its node in the network. ``names``: by which others find it, its own first. ``user``,
    ``group``, ``groups``: ids. ``waits_for``: all have to hold before it starts. ``stop_signal``:
    the number of the signal that asks it to end, and ``grace_s`` how long it may take then, in
    virtual s.
    """

    name: str
    host: str
    command: tuple[str, ...]
    place: Place
    names: tuple[str, ...]
    user: int
    group: int
    groups: tuple[int, ...] = ()
    waits_for: tuple[Condition, ...] = ()
    health: Healthcheck | None = None
    volumes: tuple[Volume, ...] = ()
    restart: str = NO_RESTART
    stop_signal: int = 15
    grace_s: float = 10.0

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise BadInputError(
                problem=f"a service is called '{self.name}'",
                remedy="a name has letters, digits, _, - and ., and begins with a letter or digit",
            )


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong at a virtual instant, counted from the first services' start.

    ``kind``: one of ``OF_LINKS`` or ``OF_SERVICES``. ``of``: two sites, or services; of a link's
    fault packets from the first site to the second meet it, and those of the other direction too
    unless ``one_way``. ``is_of_services``: a partition's two sides are services, joined by ``AND``.
    ``lasts_s``: None for the rest of the run. ``value``: of a kind in ``VALUED``.
    """

    kind: str
    of: tuple[str, ...]
    at_s: float
    lasts_s: float | None = None
    one_way: bool = False
    value: float = 0.0
    is_of_services: bool = False

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        """The services of each side of a partition of services."""
        return tuple(tuple(side.split(AND)) for side in self.of)


@dataclass(frozen=True)
class Services:
    """Services and what surrounds them.

    ``main``: the service whose end ends the run, with its status. ``timeout_s``: limit of the
    run in virtual s. ``date_s``: what clocks show at the start, in Unix time. ``limits``,
    ``memory_bytes``, ``both_families``: as of ``farpath.spec.programs.Programs``. ``probes``: the
    host of each site that pings those of others, by site.
    """

    services: tuple[Service, ...]
    main: str
    timeout_s: float
    faults: tuple[Fault, ...] = ()
    date_s: int | None = None
    limits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    memory_bytes: int = 1 << 30
    both_families: bool = True
    probes: Mapping[str, str] = field(default_factory=dict)

    def service(self, name: str) -> Service:
        """Return the service of a name."""
        return next(one for one in self.services if one.name == name)
