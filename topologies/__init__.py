"""Topologies: a file here for each, which wires it for a plan; ``paths`` holds named paths.

A file is called like its topology (``parking_lot.py`` for parking-lot) and holds it as
``TOPOLOGY``, a ``farpath.spec.topology.Topology``. Nothing else has to be changed for a new one.
"""

from __future__ import annotations

import importlib
import pkgutil

from farpath.base.errors import BadInputError
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.topology import Topology

#: The module of each topology; what a plan names is looked up here, never imported as it is.
MODULES = {
    module.name.replace("_", "-"): f"{__name__}.{module.name}"
    for module in pkgutil.iter_modules(__path__)
}


def find_topology(name: str) -> Topology:
    """Return the topology of this name in ``MODULES``.

    Raises BadInputError if its file cannot be imported or holds no topology.
    """
    try:
        topology: Topology = importlib.import_module(MODULES[name]).TOPOLOGY
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
