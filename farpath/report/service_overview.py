"""The tables of services: how they ended, the links between their sites, faults, connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from farpath.base.column import NOTHING, number
from farpath.metrics.rtt import ping_counts
from farpath.planning.faults import fault_text
from farpath.report.program_overview import connection_metrics, connections_table
from farpath.report.table import Table, command_text
from topologies.sites import site_switches

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.service_record import ServiceRecord


def service_overview(record: ServiceRecord) -> tuple[Table, ...]:
    """Return all tables of a record of services; those without rows are left out."""
    metrics = service_metrics(record)
    tables = (
        _services_table(record),
        _sites_table(metrics["sites"]),
        _links_table(metrics["links"]),
        _faults_table(record),
        connections_table(metrics["connections"]),
    )
    return tuple(table for table in tables if table.rows)


def service_metrics(record: ServiceRecord) -> dict[str, Any]:
    """Return the metrics of sites, links and connections of a record, as plain values."""
    frames = record.tables
    return {
        "sites": [
            {"sites": str(name), **ping_counts(rows["rtt_ms"])}
            for name, rows in _groups(frames["pings"], "sites")
        ],
        "links": [_link(str(name), rows) for name, rows in _groups(frames["queues"], "link")],
        "connections": connection_metrics(frames["connections"]),
    }


def _groups(frame: pd.DataFrame, key: str) -> Any:
    return frame.groupby(key, sort=False)


def _link(name: str, rows: pd.DataFrame) -> dict[str, Any]:
    first, last = rows.iloc[0], rows.iloc[-1]
    return {
        "link": name,
        "bytes": int(last["bytes"] - first["bytes"]),
        "max_queue_bytes": int(rows["backlog_bytes"].max()),
        "drops": int(last["drops"] - first["drops"]),
    }


def _services_table(record: ServiceRecord) -> Table:
    sites = _sites_of_hosts(record)
    rows = []
    for service in record.services.services:
        end = record.ending.services[service.name]
        rows.append(
            (
                service.name,
                sites[service.host],
                command_text(service.command),
                NOTHING if end.status is None else str(end.status),
                str(end.starts),
                "at the end" if end.ended_s is None else f"{end.ended_s:.3f}",
            )
        )
    header = ("service", "site", "command", "status", "starts", "ended at s")
    return Table.of_texts("Services", header, tuple(rows))


def _sites_of_hosts(record: ServiceRecord) -> dict[str, str]:
    """Return the sites of each host."""
    network = record.plan.user_network
    assert network
    switches = site_switches(network, record.services.probes)
    sites = {switch: site for site, switch in switches.items()}
    return {
        host: ", ".join(sites[step.end] for step in network.steps[host]) for host in network.hosts
    }


def _sites_table(pairs: list[dict[str, Any]]) -> Table:
    rows = tuple(
        (
            pair["sites"],
            number(pair["rtt_median_ms"], 1),
            number(pair["rtt_max_ms"], 1),
            f"{pair['pings_lost']:,} of {pair['pings']:,}",
        )
        for pair in pairs
    )
    header = ("sites", "ping RTT median ms", "max ms", "pings lost")
    return Table.of_texts("Pings between sites", header, rows)


def _links_table(links: list[dict[str, Any]]) -> Table:
    rows = tuple(
        (
            link["link"],
            f"{link['bytes'] / 1e3:,.1f}",
            f"{link['max_queue_bytes'] / 1e3:,.1f}",
            f"{link['drops']:,}",
        )
        for link in links
    )
    header = ("link", "sent kB", "longest queue kB", "drops")
    return Table.of_texts("Links with a rate", header, rows)


def _faults_table(record: ServiceRecord) -> Table:
    rows = []
    for fault, note in zip(record.services.faults, record.ending.faults, strict=True):
        dropped = note.get("dropped_packets")
        found = NOTHING if dropped is None else f"{dropped:,} packets dropped"
        if "found" in note and dropped is None:
            found = "; ".join(f"{of}: {_words(values)}" for of, values in note["found"].items())
        rows.append(
            (
                fault_text(fault),
                _seconds(note.get("began_s")),
                _seconds(note.get("ended_s")),
                found,
            )
        )
    header = ("fault", "began at s", "ended at s", "read back")
    return Table.of_texts("Faults", header, tuple(rows))


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.6f}"


def _words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())
