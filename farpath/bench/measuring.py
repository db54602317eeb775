"""All figures, one after the other, with progress on stderr."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from farpath import __version__
from farpath.bench.determinism import determinism_figures
from farpath.bench.figure import Figure
from farpath.bench.labruns import lab_figures
from farpath.bench.ns3 import ns3_figures
from farpath.bench.veth import veth_figures
from farpath.lab.machine import cpu_model


def _machine() -> dict[str, Any]:
    """What the figures depend on beside the lab; the load is that of the last minute."""
    return {
        "cpu_model": cpu_model(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _say(text: str) -> None:
    sys.stderr.write(f"bench: {text}\n")


def measure(quick: bool) -> dict[str, object]:
    """Every figure by name, as plain data; nothing is left behind but a cached program.

    Raises what the lab raises. Figures of what is beside the lab (ns-3, veth) are
    None where this machine lacks something.
    """
    machine = _machine()
    _say("the lab: speed, memory, accuracy")
    figures: dict[str, Figure] = lab_figures(quick)
    speed = figures["lab_packets_per_cpu_s"].value
    _say("the same path in ns-3")
    figures |= ns3_figures(speed, quick)
    _say("a bare veth pair on this machine's kernel")
    figures |= veth_figures(speed, quick)
    _say("equal runs on a busy machine")
    figures |= determinism_figures(quick)
    return {
        "farpath": __version__,
        "quick": quick,
        "machine": machine,
        "figures": {name: figure.as_dict() for name, figure in figures.items()},
    }
