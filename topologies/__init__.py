"""Topologies: a file here for each, which wires it for a plan; ``paths`` holds named paths.

A file is called like its topology (``parking_lot.py`` for parking-lot) and has a function
``lay_out(plan)`` that returns a :class:`~farpath.spec.layout.Layout`.
"""

from __future__ import annotations

import importlib
import pkgutil

from farpath.spec.layout import Layout
from farpath.spec.plan import Plan

#: The module of each topology; what a plan names is looked up here, never imported as it is.
MODULES = {
    module.name.replace("_", "-"): f"{__name__}.{module.name}"
    for module in pkgutil.iter_modules(__path__)
}


def lay_out(plan: Plan) -> Layout:
    """The layout of the topology that a plan names."""
    layout: Layout = importlib.import_module(MODULES[plan.topology]).lay_out(plan)
    return layout
