"""The output of pgbench, and the log of its transactions (PostgreSQL's documentation, pgbench)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from farpath.base.errors import LabFailedError

#: The line of client.sh between pgbench's report and its log.
LOG_BEGINS = "\ntransactions\n"
_TPS = re.compile(r"^tps = ([0-9.]+) \(without initial connection time\)", re.MULTILINE)
_LATENCY = re.compile(r"^latency average = ([0-9.]+) ms", re.MULTILINE)
_CONNECT = re.compile(r"^initial connection time = ([0-9.]+) ms", re.MULTILINE)


@dataclass(frozen=True)
class Transaction:
    """A transaction of the log: its end in s since the first begins, and its latency in ms."""

    client: int
    end_s: float
    latency_ms: float


@dataclass(frozen=True)
class PgbenchReport:
    """What pgbench reports: transactions per second without connecting, and its times in ms.

    ``connect_ms``: of all clients, which connect one after the other.
    """

    tps: float
    latency_mean_ms: float
    connect_ms: float
    transactions: Sequence[Transaction]

    @property
    def latency_p99_ms(self) -> float:
        """The 99th percentile of the latency of a transaction, in ms."""
        import numpy as np

        return float(np.percentile([one.latency_ms for one in self.transactions], 99))


def parse(text: str) -> PgbenchReport:
    """Parse the report and the log; raises LabFailedError if a part is missing."""
    report, _, log = text.partition(LOG_BEGINS)
    found = [pattern.search(report) for pattern in (_TPS, _LATENCY, _CONNECT)]
    rows = [line.split() for line in log.splitlines() if line]
    if not all(found) or not rows:
        raise LabFailedError("pgbench left no report with a log of its transactions", text[-2000:])
    tps, latency_ms, connect_ms = (float(match[1]) for match in found if match)
    try:
        # client, transaction, latency in us, script, and the end in s and us of Unix time
        ends = [(int(row[0]), int(row[2]), int(row[4]) + int(row[5]) / 1e6) for row in rows]
    except (IndexError, ValueError) as error:
        raise LabFailedError("the log of pgbench is damaged", text[-2000:]) from error
    begin_s = min(end_s - latency_us / 1e6 for _, latency_us, end_s in ends)
    transactions = [
        Transaction(client, end_s - begin_s, latency_us / 1e3) for client, latency_us, end_s in ends
    ]
    return PgbenchReport(tps, latency_ms, connect_ms, tuple(transactions))
