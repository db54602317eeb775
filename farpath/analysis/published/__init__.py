"""Published: the paper's numbers as printed, to stand beside measured ones, and its claims.

Source: Cottrell et al., *Characterization and Evaluation of TCP and UDP-based
Transport on Real Networks*, SLAC, 2005: tables 1 and 2 (SLAC to CERN) and section IV.A.
Claims are also of other documents, which ``claims.csv`` names.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from farpath.planning.stack_catalog import catalogue
from farpath.spec.plan import Plan
from farpath.spec.schedule import SEVEN_REGIONS

#: The only path whose tables are printed.
PUBLISHED_PATH = "cern"


@dataclass(frozen=True)
class PublishedRegion:
    """One cell of table 2: stability and fairness of one region."""

    number: int
    stability: float
    fairness: float


@dataclass(frozen=True)
class Published:
    """One stack's rows of tables 1 and 2.

    Throughputs in Mbit/s, ``rtt_std_ms`` in ms; ``cpu_util_as_printed`` without a
    unit because the paper's heading (per cent) does not fit its values.
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
    """One path's means of S and F over all tests (section IV.A), and what it was."""

    path: str
    rtt_ms: float
    bottleneck_mbps_low: float
    bottleneck_mbps_high: float
    mean_stability: float
    mean_fairness: float


@dataclass(frozen=True)
class Claim:
    """A sentence that a measurement can confirm or refute, and what decides it."""

    id: str
    source: str
    claim: str
    decided_by: str


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


@cache
def all_published() -> dict[str, Published]:
    """Every stack's published rows, by the paper's name of the stack."""
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
def published_paths() -> dict[str, PublishedPath]:
    """Every path's published means, by the path's name, the shortest first."""
    return {
        row["path"]: PublishedPath(
            path=row["path"],
            **{name: float(value) for name, value in row.items() if name != "path"},
        )
        for row in _rows("paths.csv")
    }


@cache
def claims() -> tuple[Claim, ...]:
    """Every claim, in the order of their ids."""
    return tuple(Claim(**row) for row in _rows("claims.csv"))


def published(stack: str, path_name: str) -> Published | None:
    """What the paper prints for a stack of the catalogue on a path, or None."""
    entry = catalogue().get(stack)
    if path_name != PUBLISHED_PATH or entry is None or not entry.published:
        return None
    return all_published()[entry.published]


def published_beside(plan: Plan) -> Published | None:
    """What the paper prints for a run: the 2005 test with one stack on its path.

    A stack whose parameters were set is not the paper's, nor are other hosts, IPv6 or other
    regions.
    """
    labels = {flow.stack for flow in plan.schedule.all_flows}
    senders = {flow.sender for flow in plan.schedule.all_flows}
    other = len(labels) != 1 or len(senders) != 1 or plan.ip_version != 4
    if plan.schedule.name != SEVEN_REGIONS or other:
        return None
    found = published(labels.pop(), plan.path.name)
    return found if found and len(found.regions) == len(plan.schedule.regions()) else None


@dataclass(frozen=True)
class PublishedMeasure:
    """One number that a document prints of an experiment beside the 2005 test."""

    id: str
    source: str
    experiment: str
    condition: str
    quantity: str
    value: float
    unit: str


@cache
def published_measures() -> dict[str, PublishedMeasure]:
    """Every number printed of the companion experiments, by its id."""
    return {
        row["id"]: PublishedMeasure(**{**row, "value": float(row["value"])})  # type: ignore[arg-type]
        for row in _rows("companion.csv")
    }
