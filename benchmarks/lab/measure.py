"""All figures, measured one after the other, with progress on stderr."""

from __future__ import annotations

import logging
import os
import platform
from typing import Any

from benchmarks.lab.determinism import determinism_figures
from benchmarks.lab.figure import Figure
from benchmarks.lab.first_plan import first_plan_figures
from benchmarks.lab.lab_runs import lab_figures
from benchmarks.lab.ns3 import ns3_figures
from benchmarks.lab.scale import measure_scale
from benchmarks.lab.services import service_figures
from benchmarks.lab.sites import site_figures
from benchmarks.lab.veth import veth_figures
from farpath import __version__
from farpath.lab.machine import available_cores, cpu_model

LOG = logging.getLogger(__name__)


def _machine() -> dict[str, Any]:
    """Describe the machine that the figures depend on; the load is that of the last minute."""
    return {
        "cpu_model": cpu_model(),
        "cores": available_cores(),
        "kernel": platform.release(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def measure(quick: bool, scale_alone: bool = False) -> dict[str, object]:
    """Measure every figure by name, and what scale costs; return plain data.

    Only a cached program is left behind. ``quick``: use short runs, and leave out scale. Raises
    what the lab raises. Figures that need more than the lab (ns-3, veth) are None where this
    machine lacks something.
    """
    machine = _machine()
    figures = {} if scale_alone else _figures(quick)
    results: dict[str, object] = {
        "farpath": __version__,
        "quick": quick,
        "machine": machine,
        "figures": {name: figure.as_dict() for name, figure in figures.items()},
    }
    if not quick:
        LOG.info("bench: scale: fast and long paths, and many flows")
        results["scale"] = measure_scale()
    return results


def _figures(quick: bool) -> dict[str, Figure]:
    LOG.info("bench: the lab: speed, memory, accuracy")
    figures: dict[str, Figure] = {**first_plan_figures(), **lab_figures(quick)}
    LOG.info("bench: the same path in ns-3")
    figures |= ns3_figures(figures["lab_packets_per_s"].value, quick)
    LOG.info("bench: a bare veth pair on this machine's kernel")
    figures |= veth_figures(figures["lab_packets_per_cpu_s"].value, quick)
    LOG.info("bench: a guest for each site against one guest")
    figures |= site_figures(quick)
    if not quick:
        figures |= service_figures()
    LOG.info("bench: equal runs on a busy machine")
    return figures | determinism_figures(quick)
