"""Layouts: what each topology is made of, for a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from farpath.layout import Layout
from farpath.layouts.dumbbell import dumbbell
from farpath.layouts.parking_lot import parking_lot
from farpath.plan import Plan
from farpath.spec.hosts import DUMBBELL, PARKING_LOT

LAYOUTS: Mapping[str, Callable[[Plan], Layout]] = {
    DUMBBELL: dumbbell,
    PARKING_LOT: parking_lot,
}


def lay_out(plan: Plan) -> Layout:
    """The topology that a plan names."""
    return LAYOUTS[plan.topology](plan)
