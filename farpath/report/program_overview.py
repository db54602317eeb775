"""The tables of programs: how they ended, the path meanwhile, and their TCP connections."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from farpath.base.column import NOTHING, number
from farpath.base.errors import on_one_line
from farpath.mechanisms.registry import mechanisms
from farpath.metrics.rtt import ping_counts
from farpath.metrics.short_flow import summarise_short_flows
from farpath.report.overview import short_flows_table
from farpath.report.table import Table
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, server_label

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.program_record import ProgramRecord
    from farpath.spec.plan import Plan

#: The most connections that the table shows.
MOST_CONNECTIONS = 20
#: The most changes of ports that the table shows.
MOST_CHANGES = 40
#: The table of the queue before each host.
_QUEUES = {SERVER_HOST: "queue", CLIENT_HOST: "queue_back"}
_CONNECTIONS_NOTE = (
    "For each end of a connection: what it sent and the other end acknowledged, the largest "
    "congestion window, the median of the smoothed RTT, the least RTT, and the congestion state in "
    "the last sample."
)


def program_overview(record: ProgramRecord) -> tuple[Table, ...]:
    """Return all tables of a record of programs."""
    metrics = program_metrics(record)
    changes, short = metrics["link_changes"], record.short_flows
    took_s = record.ending.took_s
    return (
        _programs_table(record),
        _path_table(record.plan, metrics),
        *([_changes_table(changes)] if changes else []),
        *([] if short is None else [short_flows_table(summarise_short_flows(short, took_s))]),
        connections_table(metrics["connections"]),
    )


def program_metrics(record: ProgramRecord) -> dict[str, Any]:
    """Return the metrics of path and connections of a record of programs, as plain values."""
    return {
        **ping_counts(record.tables["ping"]["rtt_ms"]),
        "queues": {
            host: {
                "max_bytes": int(frame["backlog_bytes"].max()) if len(frame) else 0,
                "drops": _counted(frame, "drops"),
            }
            | _marks(frame)
            for host, name in _QUEUES.items()
            for frame in [record.tables[name]]
        },
        "connections": connection_metrics(record.tables["connections"]),
        "link_changes": record.readback.get("link_changes", []),
        "droppers": record.readback.get("after", {}).get("droppers", []),
    }


def connection_metrics(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what the samples of each end of each connection say, as plain values."""
    return [_connection(rows) for _, rows in frame.groupby(["host", "connection"], sort=False)]


def _counted(frame: pd.DataFrame, column: str) -> int:
    """Return what a queue has counted from its first sample to its last."""
    return int(frame[column].iloc[-1] - frame[column].iloc[0]) if len(frame) else 0


def _marks(frame: pd.DataFrame) -> dict[str, int]:
    """Return the marks of an active queue; nothing of one that drops at its tail."""
    return {"marks": _counted(frame, "marks")} if "marks" in frame else {}


def _connection(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the samples of one end of a connection say."""
    rtts_us = rows["rtt_us"][rows["rtt_us"] > 0]
    least_us = rows["min_rtt_us"][rows["min_rtt_us"] > 0]
    return {
        "host": str(rows["host"].iloc[0]),
        "connection": int(rows["connection"].iloc[0]),
        "port": int(rows["port"].iloc[0]),
        "first_s": float(rows["t_s"].iloc[0]),
        "last_s": float(rows["t_s"].iloc[-1]),
        "acked_bytes": int(rows["bytes_acked"].max()),
        "retransmits": int(rows["retransmits"].max()),
        "cwnd_max_packets": int(rows["cwnd_packets"].max()),
        "rtt_median_ms": float(rtts_us.median()) / 1e3 if len(rtts_us) else None,
        "rtt_min_ms": float(least_us.min()) / 1e3 if len(least_us) else None,
        "ca_state": str(rows["ca_state"].iloc[-1]),
    }


def _programs_table(record: ProgramRecord) -> Table:
    programs, ending = record.programs, record.ending
    client = on_one_line(shlex.join(programs.client))
    rows = [("client", client, str(ending.status), f"{ending.took_s:.3f}")]
    ended = {server.label: server for server in ending.servers}
    for place, command in enumerate(programs.servers):
        server = ended.get(label := server_label(place))
        status = NOTHING if server is None else str(server.status)
        t_s = NOTHING if server is None or server.t_s is None else f"{server.t_s:.3f}"
        rows.append((label, on_one_line(shlex.join(command)), status, t_s))
    return Table.of_texts("Programs", ("", "command", "status", "virtual s"), tuple(rows))


def _path_table(plan: Plan, metrics: dict[str, Any]) -> Table:
    """Return what the path was asked to be in each direction, and what was measured."""
    path, up_bps = plan.path, plan.path.up_rate_bps
    words = [word for one in mechanisms() if one.lasts for word in one.words(plan)]
    rows = [
        ("RTT", f"{path.rtt_ms:g} ms"),
        ("rate", f"{path.rate_bps / 1e6:g} Mbit/s"),
        *(("as asked", word) for word in words),
        *([("queue", str(path.queue))] if path.queue else []),
        ("random loss", f"{path.loss:g}"),
        ("ping RTT, median", f"{number(metrics['rtt_median_ms'], 1)} ms"),
        ("ping RTT, largest", f"{number(metrics['rtt_max_ms'], 1)} ms"),
        ("pings lost", f"{metrics['pings_lost']:,} of {metrics['pings']:,}"),
    ]
    for host, queue in metrics["queues"].items():
        rows.append((f"longest queue to {host}", f"{queue['max_bytes'] / 1e3:,.0f} kB"))
        for name in ("drops", "marks"):
            if name in queue:
                rows.append((f"{name} on the way to {host}", f"{queue[name]:,} packets"))
    title = "Path" if up_bps else "Path, alike in both directions"
    return Table.of_texts(title, ("", ""), tuple(rows))


def _changes_table(changes: Sequence[Mapping[str, Any]]) -> Table:
    """Return a row for each change of a port, as the lab read it back; of many the first."""
    rows = tuple(
        (
            f"{one['at_s']:g}",
            one["port"],
            NOTHING if one.get("rate_bps") is None else f"{one['rate_bps'] / 1e6:g}",
            NOTHING if one.get("delay_ms") is None else f"{one['delay_ms']:g}",
        )
        for one in changes[:MOST_CHANGES]
    )
    left_out = len(changes) - len(rows)
    note = f"{left_out:,} later ones are left out." if left_out else ""
    return Table.of_texts("Changes", ("at s", "port", "Mbit/s", "delay ms"), rows, note)


def connections_table(connections: list[dict[str, Any]]) -> Table:
    """Return a row for each end of a connection; of many those that sent the most."""
    header = (
        "host", "connection", "port", "from s", "to s", "acked kB", "retransmits", "cwnd packets",
        "RTT median ms", "RTT min ms", "state",
    )  # fmt: skip
    largest = sorted(connections, key=lambda one: -int(one["acked_bytes"]))
    shown = [one for one in connections if one in largest[:MOST_CONNECTIONS]]
    rows = tuple(
        (
            one["host"], str(one["connection"]), str(one["port"]), f"{one['first_s']:.2f}",
            f"{one['last_s']:.2f}", f"{one['acked_bytes'] / 1e3:,.1f}", f"{one['retransmits']:,}",
            f"{one['cwnd_max_packets']:,}", number(one["rtt_median_ms"], 1),
            number(one["rtt_min_ms"], 1), one["ca_state"],
        )
        for one in shown
    )  # fmt: skip
    left_out = len(largest) - len(shown)
    note = f"{_CONNECTIONS_NOTE} {left_out:,} that sent less are left out." if left_out else ""
    return Table.of_texts("TCP connections", header, rows, note or _CONNECTIONS_NOTE)
