"""Reader of compose files, with the network of their services in ``x-farpath``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Annotated, Any

from pydantic import BeforeValidator

from farpath.base.errors import BadInputError, on_one_line
from farpath.mechanisms import quantities
from farpath.planning.compose.model import ServiceModel
from farpath.planning.compose.service_requests import (
    FILES_BELOW,
    Surroundings,
    read_service,
    require_name,
    service_request,
)
from farpath.planning.compose.variables import Interpolation, parse_variables
from farpath.planning.deployment import Deployment, SiteLink, plain_name
from farpath.planning.faults import Targets, read_faults
from farpath.planning.file_models import Keyed, Switch, Text, checked, in_part, mapping_of
from farpath.planning.mininet_sites import Accesses, read_hosts, sites_of
from farpath.planning.program_plan import parse_date_s
from farpath.planning.request import parse_seed
from farpath.planning.site_links import read_links
from farpath.planning.site_mptcp import read_mptcp
from farpath.planning.sites import (
    main_service,
    main_warnings,
    read_sites,
    require_number,
    require_order,
    require_own_names,
)
from farpath.planning.volumes import Volumes
from farpath.planning.yaml_text import nearest, read_text, shown, text_of
from farpath.spec.programs import TIMEOUT_S_RANGE
from farpath.spec.services import Fault
from farpath.spec.user_network import UserNetwork

#: Reads the network of a Mininet topology by its text (``./mine.py:Tree,2``); None for any other.
NetworkOf = Callable[[str], UserNetwork | None]
#: The key with what farpath needs beside compose-spec.
OWN = "x-farpath"
#: Keys at a file's top: those that are read, those that are refused, and one that has no meaning.
_READ = ("name", "services", "networks", "volumes", "secrets", "configs")
_REFUSED = {
    "include": "farpath reads one file: write its services here",
    "models": "farpath runs services alone",
}
_OBSOLETE = "version"
#: Keys of a volume that name what is outside the lab.
_OUTSIDE = ("external", "driver_opts", "driver")
#: Names that say nothing about a file, whose folder names it then, as Compose does.
_USUAL_NAMES = ("compose", "docker-compose")
_CHOOSE_MAIN = f"name one with {OWN}: main"


def _optional_text(value: object) -> object:
    return None if value is None else text_of(value)


class OwnModel(Keyed):
    """``x-farpath``: seed, limits and clock of a run, the sites of services and their network."""

    seed: Annotated[Any, BeforeValidator(_optional_text)] = None
    timeout: Text | None = None
    date: Text | None = None
    main: Text | None = None
    topology: Text | None = None
    hosts: Any = None
    stack: Text = "cubic"
    guest_per_site: Switch = False
    sites: Any = None
    links: Any = None
    mptcp: Any = None
    faults: Any = None


def no_network(_text: str) -> UserNetwork | None:
    """Read no topology."""
    return None


def compose_deployment(
    data: Mapping[str, Any],
    file: FilePath,
    seed: int | None,
    faults: Sequence[str],
    environment: Mapping[str, str] | None,
    no_faults: bool,
    network_of: NetworkOf = no_network,
) -> Deployment:
    """Return what the mapping of a compose file asks for.

    ``seed``: in place of the file's. ``faults``: texts as of ``planning.faults``, beside those of
    the file. ``environment``: values of variables, of this process unless given; they have
    precedence over ``.env`` beside the file. ``no_faults``: leaves out the file's faults, and the
    changes of its links, so that the faults are those of the texts. ``network_of``: reads a Mininet
    topology that the file names. Raises BadInputError, in one line that names file, service and
    key, for what is no compose file and for what the lab does not have.
    """
    with in_part(str(file)):
        values = os.environ if environment is None else environment
        deployment, entries, changes = _read(data, file, seed, values, network_of)
    if no_faults:
        entries, changes = None, ()
    part = f"{file}: {OWN}"
    targets = Targets.of(deployment)
    found = read_faults(faults, entries, targets, deployment.seed, changes, part)
    return replace(deployment, faults=found)


def _read(
    data: Mapping[str, Any],
    file: FilePath,
    seed: int | None,
    environment: Mapping[str, str],
    network_of: NetworkOf,
) -> tuple[Deployment, object, tuple[Fault, ...]]:
    """Return a deployment without faults, the file's faults as entries, and changes of links."""
    _require_keys(data)
    named = mapping_of(data.get("services"), "services")
    require_number(list(named), "services")
    for name in named:
        require_name(name)
    values = _variables(file.parent, environment)
    interpolation = Interpolation(values)
    with in_part("volumes"):
        volumes = _declared(interpolation.of(data.get("volumes")))
    around = Surroundings(
        file.parent,
        interpolation,
        Volumes(file.parent, values.get("HOME", "/"), volumes),
        tuple(mapping_of(data.get("networks"), "networks")),
        {key: _files(interpolation.of(data.get(key)), key) for key in FILES_BELOW},
    )
    models: dict[str, ServiceModel] = {}
    for name, own in named.items():
        with in_part(f"service {name}"):
            models[name] = read_service(name, own, around)
    running = _without_profiles(models, around)
    requests = []
    for name, model in running.items():
        with in_part(f"service {name}"):
            requests.append(service_request(name, model, running, around))
    require_own_names(requests)
    require_order(requests)
    if len(around.networks) > 1:
        around.warnings.append(
            "networks separate no services here: all reach each other over the links of their sites"
        )
    with in_part(OWN):
        own_model = checked(OwnModel, interpolation.of(data.get(OWN) or {}))
        timeout_s = Deployment.timeout_s
        if own_model.timeout is not None:
            timeout_s = quantities.MOMENT_S.parse(own_model.timeout, "timeout", TIMEOUT_S_RANGE)
        if seed is None:
            seed = Deployment.seed if own_model.seed is None else parse_seed(own_model.seed)
        left_out = [name for name in named if name not in running]
        access: Accesses = {}
        if own_model.topology is not None:
            changes: tuple[Fault, ...] = ()
            sites, links, access = _of_mininet(own_model, list(running), file.parent, network_of)
        else:
            if own_model.hosts is not None:
                raise BadInputError(
                    option="hosts",
                    problem="they are those of a topology, and the file names none",
                    remedy="give it one, as in topology: ./mine.py, or leave hosts out",
                )
            sites = read_sites(own_model.sites, list(running), left_out)
            links, changes = read_links(own_model.links, list(sites), timeout_s)
        mptcp = read_mptcp(own_model.mptcp, sites)
        main = main_service(own_model.main, requests, _CHOOSE_MAIN)
        date_s = None if own_model.date is None else parse_date_s(own_model.date)
    deployment = Deployment(
        name=_name(data.get("name"), file, interpolation),
        services=tuple(requests),
        sites=sites,
        links=links,
        main=main,
        seed=seed,
        timeout_s=timeout_s,
        date_s=date_s,
        stack=own_model.stack,
        directory=str(file.parent),
        access=access,
        guest_per_site=own_model.guest_per_site,
        mptcp=mptcp,
        warnings=(*around.all_warnings(), *main_warnings(main, requests)),
    )
    return deployment, own_model.faults, changes


def _of_mininet(
    model: OwnModel, services: Sequence[str], folder: FilePath, network_of: NetworkOf
) -> tuple[Mapping[str, tuple[str, ...]], tuple[SiteLink, ...], Accesses]:
    """Return sites, links and services' own cables of a Mininet topology that a file names."""
    if model.sites is not None or model.links is not None:
        raise BadInputError(
            option="topology",
            problem="a topology has its own switches and links, beside sites and links",
            remedy="leave one of them out",
        )
    text = str(model.topology)
    network = network_of(text if text.startswith("/") else f"{folder}/{text}")
    if network is None:
        raise BadInputError(
            option="topology",
            given=on_one_line(text),
            problem="it is no file",
            remedy="give a Python file with a class derived from Mininet's Topo, as in ./mine.py",
        )
    found = sites_of(network, read_hosts(model.hosts, services, network))
    return found.sites, found.links, found.access


def _require_keys(data: Mapping[str, Any]) -> None:
    """Raise BadInputError for a key at the top that is refused or unknown."""
    for key, value in data.items():
        if key.startswith("x-") and key != OWN and key == on_one_line(key):
            if nearest(key, [OWN]):
                raise BadInputError(
                    option=key, problem=f"there is no such key{nearest(key, [OWN])}"
                )
            continue
        if key in _REFUSED and value:
            raise BadInputError(
                option=key, problem="the lab does not have it", remedy=_REFUSED[key]
            )
        known = (*_READ, *_REFUSED, _OBSOLETE, OWN)
        if key not in known:
            raise BadInputError(
                option=on_one_line(key),
                problem=f"there is no such key{nearest(key, known)}",
                remedy=f"the keys of a compose file are {', '.join(_READ)} and {OWN}",
            )


def _variables(folder: FilePath, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of variables: of .env beside the file, and those from outside."""
    file = folder / ".env"
    if not file.is_file():
        return dict(environment)
    text = read_text(file)
    with in_part(str(file)):
        own = parse_variables(text, environment)
    return {**{name: value for name, value in own.items() if value is not None}, **environment}


def _declared(data: object) -> tuple[str, ...]:
    """Return the names of a file's volumes; raise BadInputError for one from outside the lab."""
    names = mapping_of(data, "volumes")
    for name, own in names.items():
        for key in _OUTSIDE:
            if (value := mapping_of(own, on_one_line(name)).get(key)) not in (
                *(None, False, "false", "local", {}),
            ):
                raise BadInputError(
                    option=on_one_line(name),
                    problem=f"{key} is {shown(value) or 'given'}, and a volume is an empty "
                    "directory of the lab",
                    remedy="leave it out, or name a place of this machine in the service",
                )
    return tuple(names)


def _files(data: object, key: str) -> dict[str, str]:
    """Return the files of secrets or configs by name; those of other kinds are left out."""
    named = mapping_of(data, key)
    files = {name: text_of(mapping_of(own, key).get("file")) for name, own in named.items()}
    return {name: file for name, file in files.items() if file is not None}


def _without_profiles(
    models: Mapping[str, ServiceModel], around: Surroundings
) -> dict[str, ServiceModel]:
    """Return the services that run: those without profiles (compose-spec, 15-profiles.md)."""
    running = {name: model for name, model in models.items() if not model.profiles}
    left_out = [name for name in models if name not in running]
    if not running:
        raise BadInputError(
            option="services", problem="all have profiles, and none runs", remedy="leave one out"
        )
    if left_out:
        around.warnings.append(f"left out, as they have profiles: {', '.join(left_out)}")
    return running


def _name(given: object, file: FilePath, interpolation: Interpolation) -> str:
    """Return a deployment's name, of what Compose's project names have (04-version-and-name.md)."""
    text = interpolation.text(text_of(given) or "")
    if not text:
        stem = file.name.partition(".")[0]
        text = file.absolute().parent.name if stem in _USUAL_NAMES else stem
    return plain_name(text) or "compose"
