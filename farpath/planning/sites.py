"""Sites of a deployment, its main service, and that waiting for each other ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from farpath.base.errors import BadInputError, on_one_line
from farpath.planning.deployment import MOST_SERVICES, ONE_SITE, ServiceRequest
from farpath.planning.file_models import mapping_of
from farpath.planning.yaml_text import nearest, shown, text_of
from farpath.spec.services import ALWAYS

SITE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")


def require_number(names: Sequence[str], option: str) -> None:
    """Raise BadInputError for no service, or for more than ``MOST_SERVICES``."""
    if not 0 < len(names) <= MOST_SERVICES:
        raise BadInputError(
            option=option,
            problem=f"there are {len(names):,} of them",
            remedy=f"1 to {MOST_SERVICES} are possible",
        )


def read_sites(
    data: object, services: Sequence[str], left_out: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the services of each site; without any sites all are at one.

    ``left_out``: services of the file that do not run, which sites may name. Raises BadInputError.
    """
    if not data:
        return {ONE_SITE: tuple(services)}
    sites: dict[str, tuple[str, ...]] = {}
    placed: set[str] = set()
    given = mapping_of(data, "sites")
    require_number(list(given), "sites")
    for site, members in given.items():
        if not SITE_NAME.fullmatch(site):
            raise BadInputError(
                option="sites",
                given=on_one_line(site),
                problem="that is no site's name",
                remedy="it has a small letter and then small letters, digits, _ and -",
            )
        if members is not None and not isinstance(members, list):
            raise BadInputError(
                option="sites",
                problem=f"{site} is {shown(members) or 'a mapping'}",
                remedy=f"give a list of services, as in {site}: [{services[0]}]",
            )
        names = [text_of(name) or "" for name in members or []]
        for name in names:
            if name not in (*services, *left_out):
                raise BadInputError(
                    option="sites",
                    problem=f"{site} has '{on_one_line(name)}', which is no service"
                    + nearest(name, services),
                    remedy=f"the services are {', '.join(services)}",
                )
            if names.count(name) > 1:
                raise BadInputError(
                    option="sites",
                    problem=f"{site} has {name} twice",
                    remedy="name it once; at several sites it has a link to each",
                )
            placed.add(name)
        sites[site] = tuple(name for name in names if name in services)
    if homeless := [name for name in services if name not in placed]:
        raise BadInputError(
            option="sites",
            problem=f"of no site: {', '.join(homeless)}",
            remedy="give it a site",
        )
    return sites


def main_service(asked: str | None, services: Sequence[ServiceRequest], remedy: str) -> str:
    """Return the service whose end ends the run: the one asked for, or on which no other depends.

    ``remedy``: how one asks for it. Raises BadInputError.
    """
    names = [service.name for service in services]
    if asked is not None:
        if asked not in names:
            raise BadInputError(
                option="main",
                given=on_one_line(asked),
                problem=f"there is no such service{nearest(asked, names)}",
                remedy=f"the services are {', '.join(names)}",
            )
        return asked
    needed = {condition.service for service in services for condition in service.waits_for}
    last = [name for name in names if name not in needed]
    if len(last) != 1:
        raise BadInputError(
            option="main",
            problem=f"the end of one service ends the run, and {', '.join(last)} may be meant, as "
            "no other waits for them",
            remedy=remedy,
        )
    return last[0]


def main_warnings(main: str, services: Sequence[ServiceRequest]) -> list[str]:
    """Return a warning of a main service that starts again whenever it ends."""
    (restart,) = (service.restart for service in services if service.name == main)
    if restart != ALWAYS:
        return []
    return [
        f"service {main} is the main one and starts again whenever it ends, so that the run ends "
        "at its timeout"
    ]


def require_order(services: Sequence[ServiceRequest]) -> None:
    """Raise BadInputError for services that wait for each other in a circle, with all its names."""
    waits = {service.name: [one.service for one in service.waits_for] for service in services}
    done: set[str] = set()
    for start in waits:
        way: list[str] = [start]
        todo = [iter(waits[start])]
        while todo:
            other = next(todo[-1], None)
            if other is None:
                todo.pop()
                done.add(way.pop())
            elif other in way:
                circle = [*way[way.index(other) :], other]
                raise BadInputError(
                    option="depends_on",
                    problem=f"services wait for each other: {' -> '.join(circle)}",
                    remedy="leave one of these out",
                )
            elif other not in done:
                way.append(other)
                todo.append(iter(waits[other]))


def require_own_names(services: Sequence[ServiceRequest]) -> None:
    """Raise BadInputError for two services that have a name in common."""
    owners: Mapping[str, str] = {}
    for service in services:
        for name in service.names:
            if name in owners:
                raise BadInputError(
                    option="services",
                    problem=f"{owners[name]} and {service.name} are both called {name}, and which "
                    "of them answers is not defined",
                    remedy="give each names of its own",
                )
        owners = {**owners, **dict.fromkeys(service.names, service.name)}
