"""Deployment files: compose files with a network of sites, and topologies of containerlab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.planning.compose import compose_deployment
from farpath.planning.compose.reader import NetworkOf, no_network
from farpath.planning.containerlab import containerlab_deployment
from farpath.planning.deployment import Deployment
from farpath.planning.file_models import in_part
from farpath.planning.yaml_text import parse_yaml, read_text


def read_deployment(
    file: FilePath,
    seed: int | None = None,
    faults: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    no_faults: bool = False,
    network_of: NetworkOf = no_network,
) -> Deployment:
    """Return what a file asks for: a topology of containerlab if it has one, else a compose file.

    The arguments are those of ``compose.compose_deployment``. Raises BadInputError.
    """
    with in_part(str(file)):
        data = parse_yaml(read_text(file))
        if not isinstance(data, dict):
            raise BadInputError(
                problem="it is neither a compose file nor a topology of containerlab",
                remedy="give one with services: or with topology: and its nodes:",
            )
    topology = data.get("topology")
    is_topology = isinstance(topology, dict) and "nodes" in topology
    if is_topology:
        return containerlab_deployment(data, file, seed, faults, environment, no_faults)
    return compose_deployment(data, file, seed, faults, environment, no_faults, network_of)
