"""Containerlab: topologies of containerlab, of which each node is a site of its own.

Nodes of the kind ``linux`` are services. ``defaults``, ``kinds`` and ``groups`` are merged into
them as containerlab does. What links do stands in their ``vars``, by the names and in the units of
``containerlab tools netem set``, as containerlab's file has no impairments of its own:

    topology:
      nodes:
        server: {kind: linux, image: ./mine.tar, cmd: iperf3 -s}
        client: {kind: linux, image: ./mine.tar, exec: [iperf3 -c server]}
      links:
        - endpoints: ["server:eth1", "client:eth1"]
          vars: {delay: 40ms, jitter: 1ms, loss: 0.1, rate: 100000}

``loss`` is in per cent and ``rate`` in kbit/s; values with units, and ``buffer`` and ``queue``,
are those of ``planning.site_links``. ``vars`` of an endpoint are of the packets that leave it.
Addresses are the lab's, and nodes find each other by name. Commands of ``exec`` run in a shell
before the node's own, or in its place where the file has none. The label ``farpath.main: "true"``
names the node whose end ends the run.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from farpath.base.errors import BadInputError, on_one_line
from farpath.planning.compose.service_requests import (
    Keys,
    Surroundings,
    health_command,
    host_names,
    image_of,
    require_name,
    restart_of,
    user_of,
)
from farpath.planning.compose.variables import Interpolation, parse_variables
from farpath.planning.deployment import MACHINE, Deployment, ServiceRequest, plain_name
from farpath.planning.faults import Targets, read_faults
from farpath.planning.file_models import (
    Keyed,
    Text,
    Texts,
    Variables,
    Whole,
    Words,
    checked,
    in_part,
    mapping_of,
)
from farpath.planning.site_links import read_links
from farpath.planning.sites import (
    main_service,
    main_warnings,
    require_number,
    require_own_names,
)
from farpath.planning.volumes import Volumes
from farpath.planning.yaml_text import nearest, parse_yaml, read_text, shown, text_of
from farpath.spec.services import Healthcheck

LINUX = "linux"
MAIN_LABEL = "farpath.main"
_TOP = ("name", "topology", "prefix", "mgmt", "settings", "debug")
_TOPOLOGY = ("nodes", "links", "defaults", "kinds", "groups")
_LINK_TYPES = ("veth", "veth-stitch")
#: Names in an endpoint that are no nodes (containerlab, topo-def-file.md).
_NO_NODES = ("host", "mgmt-net", "macvlan")
_ADDRESSES = "the lab gives addresses, and nodes find each other by name"
_KERNEL = "all nodes share the lab's kernel and have no rights over it"
#: Keys of a node that would change what happens, and why they cannot be had.
REFUSED: Mapping[str, str] = {
    "startup-config": "nodes of the kind linux have none",
    "license": "nodes of the kind linux have none",
    "config": "nodes of the kind linux have none",
    "extras": "nodes of the kind linux have none",
    "components": "nodes of the kind linux have none",
    "credentials": "nodes of the kind linux have none",
    "certificate": "write the files, and give them as binds",
    "volumes": "give binds",
    "stages": "nodes start together; write the order into a compose file's depends_on",
    "startup-delay": "nodes start together; write the order into a compose file's depends_on",
    "dns": "nothing outside the lab answers; nodes find each other by name",
    "network-mode": "each node is a host of its own",
    "pid-mode": "each node is a host of its own",
    "sysctls": _KERNEL,
    "cap-add": _KERNEL,
    "devices": _KERNEL,
}
WITHOUT_MEANING = (
    *("image-pull-policy", "type", "enforce-startup-config", "suppress-startup-config"),
    *("auto-remove", "ports", "runtime", "mgmt-ipv4", "mgmt-ipv6", "link-apply-mode", "cpu"),
    *("memory", "cpu-set", "shm-size", "cgroupns-mode", "cgroup-parent", "security-opts"),
    *("privileged", "position", "tmpfs"),
)
#: Mappings and lists of a node that are joined with those of its group, kind and the defaults
#: (types/topology.go).
_JOINED_MAPPINGS, _JOINED_LISTS = ("env", "labels"), ("exec", "binds", "env-files", "aliases")
#: Commands that give addresses and set up interfaces.
_SETS_UP = ("ip", "ifconfig", "route", "tc", "ethtool", "brctl", "bridge")


class HealthModel(Keyed):
    """A node's health check; times are in s."""

    test: Texts
    interval: Whole = 30
    timeout: Whole = 30
    retries: Whole = 3
    start_period: Annotated[Whole, Field(alias="start-period")] = 0


def _labels(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("it must be a mapping")
    return {name: text_of(each) or "" for name, each in value.items()}


class NodeModel(Keyed):
    """A node, without the keys of ``REFUSED`` and ``WITHOUT_MEANING``."""

    kind: Text | None = None
    group: Text | None = None
    image: Text
    cmd: Words | None = None
    entrypoint: Words | None = None
    env: Variables = Field(default_factory=dict)
    env_files: Texts = Field(default=(), alias="env-files")
    binds: Texts = ()
    exec: Texts = ()
    user: Text | None = None
    hostname: Text | None = None
    aliases: Texts = ()
    labels: Annotated[dict[str, str], BeforeValidator(_labels)] = Field(default_factory=dict)
    restart_policy: Text | None = Field(default=None, alias="restart-policy")
    healthcheck: HealthModel | None = None


class EndpointModel(Keyed):
    """An end of a link in the extended format."""

    node: Text
    interface: Text
    vars: Any = None
    mac: Any = None


class VarsModel(Keyed):
    """What a link does, by the names of ``containerlab tools netem set``."""

    delay: Text | None = None
    jitter: Text | None = None
    loss: Text | None = None
    rate: Text | None = None
    corruption: Text | None = None
    buffer: Text | None = None
    queue: Text | None = None


def read_containerlab(
    file: FilePath,
    seed: int | None = None,
    faults: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    no_faults: bool = False,
) -> Deployment:
    """Return what a topology of containerlab asks for.

    The arguments are those of ``compose.compose_deployment``. Raises BadInputError, in one line
    that names file, node and key, for what is no topology and for what the lab does not have.
    """
    with in_part(str(file)):
        data = parse_yaml(read_text(file))
        if not isinstance(data, dict):
            raise BadInputError(problem="it is no topology", remedy="it begins with name:")
    return containerlab_deployment(data, file, seed, faults, environment, no_faults)


def containerlab_deployment(
    data: Mapping[str, Any],
    file: FilePath,
    seed: int | None,
    faults: Sequence[str],
    environment: Mapping[str, str] | None,
    no_faults: bool = False,
) -> Deployment:
    """Return what the mapping of a topology asks for, as ``read_containerlab`` does."""
    values = os.environ if environment is None else environment
    with in_part(str(file)):
        deployment, changes = _read(data, file, values)
    deployment = replace(deployment, seed=Deployment.seed if seed is None else seed)
    changes = () if no_faults else changes
    found = read_faults(faults, None, Targets.of(deployment), deployment.seed, changes)
    return replace(deployment, faults=found)


def _read(
    data: Mapping[str, Any], file: FilePath, environment: Mapping[str, str]
) -> tuple[Deployment, Any]:
    """Return a deployment without faults, and the changes of its links."""
    _require_keys(data, _TOP)
    interpolation = Interpolation(environment)
    topology = mapping_of(data.get("topology"), "topology")
    with in_part("topology"):
        _require_keys(topology, _TOPOLOGY)
        nodes = mapping_of(topology.get("nodes"), "nodes")
        require_number(list(nodes), "nodes")
        for name in nodes:
            with in_part("nodes"):
                require_name(name)
        topology = {key: interpolation.of(value) for key, value in topology.items()}
    around = Surroundings(
        file.parent,
        interpolation,
        Volumes(file.parent, environment.get("HOME", "/"), (), all_places=True),
        (),
    )
    models = {}
    for name in nodes:
        with in_part(f"node {name}"):
            models[name] = _node(name, topology, around)
    requests = []
    for name, model in models.items():
        with in_part(f"node {name}"):
            requests.append(_request(name, model, around))
    require_own_names(requests)
    with in_part("topology"):
        entries = _links(topology.get("links"), list(nodes), around)
        links, changes = read_links(entries, list(nodes), Deployment.timeout_s)
        labelled = [
            name for name, model in models.items() if model.labels.get(MAIN_LABEL) == "true"
        ]
        if len(labelled) > 1:
            raise BadInputError(
                option="labels",
                problem=f"{MAIN_LABEL} is true of {', '.join(labelled)}",
                remedy="one node's end ends the run",
            )
        remedy = f'give one node labels: {{{MAIN_LABEL}: "true"}}'
        main = main_service(labelled[0] if labelled else None, requests, remedy)
    deployment = Deployment(
        name=_name(data.get("name"), file),
        services=tuple(requests),
        sites={name: (name,) for name in nodes},
        links=links,
        main=main,
        directory=str(file.parent),
        warnings=(*around.all_warnings(), *main_warnings(main, requests)),
    )
    return deployment, changes


def _require_keys(data: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in data:
        if key not in known and not key.startswith("x-"):
            raise BadInputError(
                option=on_one_line(key),
                problem=f"there is no such key{nearest(key, known)}",
                remedy=f"the keys are {', '.join(known)}",
            )


def _node(name: str, topology: Mapping[str, Any], around: Surroundings) -> NodeModel:
    """Return a node with what it has of its group, its kind and the defaults.

    Precedence is that of containerlab: node, group, kind, defaults.
    """
    own = mapping_of(topology["nodes"][name], "nodes")
    defaults = mapping_of(topology.get("defaults"), "defaults")
    groups = mapping_of(topology.get("groups"), "groups")
    kinds = mapping_of(topology.get("kinds"), "kinds")

    def of(table: Mapping[str, Any], key: object, option: str) -> Mapping[str, Any]:
        return mapping_of(table.get(key) if isinstance(key, str) else None, option)

    by_group = of(groups, own.get("group"), "groups")
    kind = own.get("kind") or by_group.get("kind") or defaults.get("kind")
    if kind != LINUX:
        raise BadInputError(
            option="kind",
            given=shown(kind) if kind else "missing",
            problem="nodes are programs on Linux here",
            remedy=f"give kind: {LINUX}",
        )
    by_kind = of(kinds, kind, "kinds")
    by_group = by_group or of(groups, by_kind.get("group") or defaults.get("group"), "groups")
    layers = [defaults, by_kind, by_group, own]
    joined: dict[str, Any] = {key: value for layer in layers for key, value in layer.items()}
    for key in _JOINED_MAPPINGS:
        parts = [mapping_of(layer.get(key), key) for layer in layers]
        joined[key] = {each: value for part in parts for each, value in part.items()}
    for key in _JOINED_LISTS:
        lists = [layer.get(key) or [] for layer in layers]
        if not all(isinstance(each, list) for each in lists):
            raise BadInputError(option=key, problem="it must be a list")
        joined[key] = [value for each in lists for value in each]
    return _checked_node(name, joined, around)


def _checked_node(name: str, joined: Mapping[str, Any], around: Surroundings) -> NodeModel:
    """Return a node's keys as a model; raise BadInputError for what the lab does not have."""
    known = [field.alias or key for key, field in NodeModel.model_fields.items()]
    keys = Keys(known, REFUSED, WITHOUT_MEANING)
    kept = {}
    for key, value in joined.items():
        if keys.is_read(key, value, name, around) and not key.startswith("x-"):
            keys.require(key, "leave it out")
            if value is not None:
                kept[key] = value
    return checked(NodeModel, kept)


def _request(name: str, model: NodeModel, around: Surroundings) -> ServiceRequest:
    image = image_of(model.image, around.folder)
    entrypoint, command = _commands(name, model, around)
    if image == MACHINE and not (*(entrypoint or ()), *(command or ())):
        raise BadInputError(
            option="cmd",
            problem=f"with image: {MACHINE} this machine's own programs run, and none is named",
            remedy="give cmd",
        )
    volumes = [around.volumes.short(name, text) for text in model.binds]
    # What is bound later to the same place takes it
    by_target = {volume.target: volume for volume in volumes if volume}
    return ServiceRequest(
        name=name,
        image=image,
        names=host_names(name, model.hostname, [("aliases", alias) for alias in model.aliases]),
        command=command,
        entrypoint=entrypoint,
        environment=_environment(model, around),
        user=user_of(model.user),
        volumes=tuple(by_target.values()),
        health=_health(model.healthcheck),
        restart=restart_of(name, model.restart_policy, around.warnings),
    )


def _commands(
    name: str, model: NodeModel, around: Surroundings
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return entrypoint and command of a node, with what it runs by ``exec``."""
    for text in model.exec:
        try:
            word = next(iter(shlex.split(text)), "")
        except ValueError as error:
            raise BadInputError(
                option="exec", given=on_one_line(text), problem=f"{error}"
            ) from error
        if os.path.basename(word) in _SETS_UP:
            raise BadInputError(option="exec", given=on_one_line(text), remedy=_ADDRESSES)
    if not model.exec:
        command = () if model.entrypoint is not None and model.cmd is None else model.cmd
        return model.entrypoint, command
    own = (*(model.entrypoint or ()), *(model.cmd or ()))
    if not own:
        return ("/bin/sh", "-c"), ("\n".join(model.exec),)
    around.warnings.append(
        f"node {name}: the commands of its exec run before its own, not beside it"
    )
    script = "\n".join([*model.exec, 'exec "$@"'])
    return ("/bin/sh", "-c"), (script, name, *own)


def _environment(model: NodeModel, around: Surroundings) -> dict[str, str]:
    asked: dict[str, str | None] = {}
    for path in model.env_files:
        with in_part("env-files"):
            text = read_text(around.folder / path)
            with in_part(path):
                asked |= parse_variables(text, around.interpolation.values)
    asked |= model.env
    return {name: value or "" for name, value in asked.items()}


def _health(model: HealthModel | None) -> Healthcheck | None:
    if model is None or model.test in (("NONE",), ()):
        return None
    return Healthcheck(
        health_command(model.test),
        float(model.interval or 30),
        float(model.timeout or 30),
        model.retries or 3,
        float(model.start_period),
    )


def _links(entries: object, nodes: Sequence[str], around: Surroundings) -> list[dict[str, Any]]:
    """Return links in the form of ``site_links``."""
    if entries is not None and not isinstance(entries, list):
        raise BadInputError(option="links", given=shown(entries), problem="it must be a list")
    return [_link(number, entry, nodes, around) for number, entry in enumerate(entries or [], 1)]


def _link(number: int, entry: object, nodes: Sequence[str], around: Surroundings) -> dict[str, Any]:
    with in_part(f"links: number {number}"):
        own = mapping_of(entry, "links")
        kind = own.get("type", _LINK_TYPES[0])
        if kind not in _LINK_TYPES:
            raise BadInputError(
                option="type", given=shown(kind), remedy="links are of two nodes: veth"
            )
        _require_keys(own, ("type", "endpoints", "vars", "mtu", "labels"))
        if own.get("mtu") is not None:
            around.has_no_meaning("mtu", f"link {number}")
        given = own.get("endpoints")
        if not isinstance(given, list) or len(given) != 2:
            raise BadInputError(option="endpoints", remedy='give two, as in ["a:eth1", "b:eth1"]')
        ends = [_end(each, nodes) for each in given]
        directions = [_netem(end.vars) for end in ends]
        shared = _netem(own.get("vars"))
        return {
            "sites": [end.node for end in ends],
            **shared,
            **{
                key: values
                for key, values in zip(("there", "back"), directions, strict=True)
                if values
            },
        }


def _end(given: object, nodes: Sequence[str]) -> EndpointModel:
    """Return an end of a link: a text, or a mapping."""
    if isinstance(given, dict):
        for family in ("ipv4", "ipv6"):
            if given.get(family):
                raise BadInputError(option=family, given=shown(given[family]), remedy=_ADDRESSES)
        model = checked(EndpointModel, given)
    else:
        node, _, interface = (text_of(given) or "").partition(":")
        model = EndpointModel(node=node, interface=interface)
    if model.node not in nodes:
        outside = model.node in _NO_NODES
        raise BadInputError(
            option="endpoints",
            given=on_one_line(model.node),
            problem="nothing outside the lab is linked with it"
            if outside
            else f"there is no such node{nearest(model.node, nodes)}",
            remedy=f"the nodes are {', '.join(nodes)}",
        )
    return model


def _netem(given: object) -> dict[str, str]:
    """Return the values of netem as texts of ``site_links``, with their units."""
    with in_part("vars"):
        model = checked(VarsModel, mapping_of(given, "vars"))
        if model.corruption is not None and not re.fullmatch(r"0(\.0*)?%?", model.corruption):
            raise BadInputError(
                option="corruption",
                given=on_one_line(model.corruption),
                problem="the lab does not have it",
                remedy="what a checksum finds is a loss: give loss",
            )
    values = {
        key: value
        for key in ("delay", "jitter", "loss", "rate", "buffer", "queue")
        if (value := getattr(model, key)) is not None
    }
    for key, unit in (("loss", "%"), ("rate", "kbit")):
        if re.fullmatch(r"[0-9]+(\.[0-9]*)?", values.get(key, "")):
            values[key] += unit
    # netem's defaults
    return {
        key: value
        for key, value in values.items()
        if not (key == "rate" and re.fullmatch(r"0(\.0*)?kbit", value))
    }


def _name(given: object, file: FilePath) -> str:
    stem = file.name.removesuffix(".yml").removesuffix(".yaml").removesuffix(".clab")
    return plain_name(text_of(given) or stem) or "topology"
