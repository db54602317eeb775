"""``db``: transactions of pgbench against PostgreSQL at the other end of the path.

A statement is a round trip, since pgbench waits for each answer. So a client makes at most one
transaction in as many RTTs as it has statements: seven in pgbench's TPC-B, one in ``select-only``.
Transactions of TPC-B lock a row of branches from their fifth statement to the end of their last,
which are two RTTs, so that each branch takes part in at most one in that time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.base.column import Column
from farpath.metrics.finding import Finding, at_least, at_most
from farpath.presets.db.pgbench import PgbenchReport, parse
from farpath.presets.preset import Commands, Preset, PresetOutput
from farpath.programs.entry import Parameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PORT = 5432
TPCB, SIMPLE, SELECT = "tpcb-like", "simple-update", "select-only"
#: Statements of each builtin script, with BEGIN and END (pgbench.c, builtin_script).
STATEMENTS = {TPCB: 7, SIMPLE: 5, SELECT: 1}
#: RTTs for which a transaction of TPC-B holds the lock of a branch.
LOCKED_RTTS = 2
#: RTTs of a connection without TLS: TCP, and the start-up packet with its answer.
CONNECT_RTTS = 2

QUANTITIES: Mapping[str, Column[PgbenchReport]] = {
    column.key: column
    for column in (
        Column[PgbenchReport]("tps", "", lambda one: one.tps, 2, "transactions per s"),
        Column[PgbenchReport](
            "latency_mean_ms", "", lambda one: one.latency_mean_ms, 2, "mean latency (ms)"
        ),
        Column[PgbenchReport](
            "latency_p99_ms", "", lambda one: one.latency_p99_ms, 2, "99th percentile (ms)"
        ),
        Column[PgbenchReport](
            "connect_ms", "", lambda one: one.connect_ms, 2, "connecting of all clients (ms)"
        ),
    )
}


class Db(Preset):
    """The preset ``db``."""

    name = "db"
    summary = "transactions per second of pgbench and PostgreSQL"
    parameters = (
        Parameter("script", TPCB, "builtin script of pgbench", choices=tuple(STATEMENTS)),
        Parameter("clients", "4", "connections at once", low=1, high=250),
        Parameter("transactions", "25", "of each client", low=1, high=100_000),
        Parameter("scale", "10", "branches, of 100,000 accounts each", low=1, high=100),
    )
    refuses_root = True
    account = "postgres"

    def packages(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return the programs, which are one package."""
        return dict.fromkeys(("pgbench", "initdb", "postgres"), "postgresql")

    def commands(self, values: Mapping[str, str]) -> Commands:
        """Return pgbench, and a server that fills its tables before it listens."""
        client = (
            "sh",
            "client.sh",
            *(values[key] for key in ("script", "clients", "transactions")),
        )
        return Commands(client, (("sh", "server.sh", values["scale"]),), (PORT,))

    def findings(self, output: PresetOutput) -> Sequence[Finding]:
        """Return pgbench's report and the bounds of the path."""
        report, rtt_s = parse(output.text("client.out")), output.rtt_s
        clients, statements = int(output.values["clients"]), STATEMENTS[output.values["script"]]
        bounds = {
            "tps": at_most(*tps_bound(output)),
            "latency_mean_ms": at_least(
                1e3 * statements * rtt_s, f"statements x RTT = {statements} x RTT"
            ),
            "connect_ms": at_least(
                1e3 * CONNECT_RTTS * clients * rtt_s,
                f"clients x (TCP + start-up) = {clients} x {CONNECT_RTTS} x RTT",
            ),
        }
        return [
            Finding.of_column(column, report, bounds.get(key)) for key, column in QUANTITIES.items()
        ]

    def figure(self, output: PresetOutput) -> Figure:
        """Draw the latency of each transaction over time."""
        from farpath.presets.db.figure import draw_transactions

        statements = STATEMENTS[output.values["script"]]
        report = parse(output.text("client.out"))
        return draw_transactions(report, 1e3 * statements * output.rtt_s, tps_bound(output)[0])


def tps_bound(output: PresetOutput) -> tuple[float, str]:
    """Return the most transactions per second, and why; infinite on a path without RTT."""
    values, rtt_s = output.values, output.rtt_s
    clients, statements = int(values["clients"]), STATEMENTS[values["script"]]
    if not rtt_s:
        return math.inf, ""
    of_clients = clients / (statements * rtt_s), f"clients / ({statements} RTT)"
    of_locks = int(values["scale"]) / (LOCKED_RTTS * rtt_s), f"scale / ({LOCKED_RTTS} RTT)"
    return min(of_clients, of_locks) if values["script"] == TPCB else of_clients


PRESET = Db()
