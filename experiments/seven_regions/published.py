"""The numbers that the paper prints.

Source: Cottrell et al., *Characterization and Evaluation of TCP and UDP-based Transport on Real
Networks*, SLAC, 2005: tables 1 and 2 (SLAC to CERN) and section IV.A.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath

from farpath.metrics.published_measures import rows_of
from farpath.programs.catalog import catalogue
from farpath.spec.plan import Plan
from farpath.spec.schedule import SEVEN_REGIONS

#: The only path for which the paper prints tables.
PUBLISHED_PATH = "cern"


@dataclass(frozen=True)
class PublishedRegion:
    """One cell of table 2: stability and fairness of one region."""

    number: int
    stability: float
    fairness: float


@dataclass(frozen=True)
class Published:
    """The rows of tables 1 and 2 of one stack.

    Throughputs are in Mbit/s, ``rtt_std_ms`` in ms. ``cpu_util_as_printed`` has no unit, because
    the paper's heading (per cent) does not fit its values.
    """

    stack: str
    mean_mbps: float
    std_mbps: float
    stability: float
    fairness_min: float
    fairness_max: float
    cpu_util_as_printed: float
    mhz_per_mbps: float
    rtt_std_ms: float
    regions: tuple[PublishedRegion, ...]


@dataclass(frozen=True)
class PublishedPath:
    """The means of S and F over all tests on one path (section IV.A), and the path's parameters."""

    path: str
    rtt_ms: float
    bottleneck_mbps_low: float
    bottleneck_mbps_high: float
    mean_stability: float
    mean_fairness: float


def _rows(name: str) -> list[dict[str, str]]:
    return rows_of((FilePath(__file__).parent / name).read_text(encoding="utf-8"))


@cache
def all_published() -> dict[str, Published]:
    """Return the published rows of every stack, by the paper's name of the stack."""
    regions: dict[str, list[PublishedRegion]] = {}
    for row in _rows("table2.csv"):
        regions.setdefault(row["stack"], []).append(
            PublishedRegion(int(row["region"]), float(row["stability"]), float(row["fairness"]))
        )
    return {
        stack: Published(
            stack=stack,
            regions=tuple(regions[stack]),
            **{name: float(value) for name, value in row.items() if name != "stack"},
        )
        for row in _rows("table1.csv")
        for stack in [row["stack"]]
    }


@cache
def repeated_means_mbps() -> dict[str, float]:
    """Return the means of table 1 as the study's extended abstract prints them, by stack.

    That is the only table printed twice: where the two differ the stack was run twice.
    """
    return {row["stack"]: float(row["mean_mbps"]) for row in _rows("table1-abstract.csv")}


@cache
def published_paths() -> dict[str, PublishedPath]:
    """Return the published means of every path, by the path's name, the shortest first."""
    return {
        row["path"]: PublishedPath(
            path=row["path"],
            **{name: float(value) for name, value in row.items() if name != "path"},
        )
        for row in _rows("path-means.csv")
    }


def published(stack: str, path_name: str) -> Published | None:
    """Return the published rows for a stack of the catalogue on a path, or None."""
    entry = catalogue().get(stack)
    if path_name != PUBLISHED_PATH or entry is None or not entry.published:
        return None
    return all_published()[entry.published]


def published_for(plan: Plan) -> Published | None:
    """Return the published rows for a run: the 2005 test with one stack on its path, else None.

    The paper has no rows for a stack with changed parameters, nor for other hosts, disks, IPv6 or
    other regions.
    """
    labels = {flow.stack for flow in plan.schedule.all_flows}
    senders = {flow.sender for flow in plan.schedule.all_flows}
    mixed_or_ipv6 = len(labels) != 1 or len(senders) != 1 or plan.ip_version != 4
    if plan.schedule.name != SEVEN_REGIONS or mixed_or_ipv6 or plan.disks:
        return None
    rows = published(labels.pop(), plan.path.name)
    return rows if rows and len(rows.regions) == len(plan.schedule.regions()) else None
