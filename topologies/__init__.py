"""Topologies: a file here for each, which wires it for a plan; ``paths`` holds named paths.

A file is called like its topology (``parking_lot.py`` for parking-lot) and holds it as
``TOPOLOGY``, a ``farpath.spec.topology.Topology``. Nothing else has to be changed for a new one.
Further directories can hold some too: add them to ``topologies.__path__``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from farpath.base.errors import BadInputError
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.topology import Topology


def topology_modules() -> Mapping[str, str]:
    """Return the module of each topology by name.

    What a plan names is looked up here, never imported as it is.
    """
    return _modules(tuple(__path__))


@cache
def _modules(places: tuple[str, ...]) -> Mapping[str, str]:
    return {
        module.name.replace("_", "-"): f"{__name__}.{module.name}"
        for module in pkgutil.iter_modules(places)
    }


def find_topology(name: str) -> Topology:
    """Return the topology of this name in ``topology_modules``.

    Raises BadInputError if its file cannot be imported or holds no topology.
    """
    try:
        topology: Topology = importlib.import_module(topology_modules()[name]).TOPOLOGY
    except (ImportError, SyntaxError, NameError, AttributeError, TypeError) as error:
        raise BadInputError(
            option="topology", given=name, problem=f"its file cannot be used: {error}"
        ) from error
    return topology


def lay_out(plan: Plan) -> Layout:
    """Return the layout of the topology that a plan names.

    The plan's seed decides which packets are lost.
    """
    return find_topology(plan.topology).lay_out(plan).seeded(plan.seed)


# Looked for with the import: in a guest later reads may move packets
topology_modules()
