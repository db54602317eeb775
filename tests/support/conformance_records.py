"""Records of scenarios, made of a trace that a test writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

import pandas as pd

from farpath.record.record import Record, Samples
from farpath.uses.conformance.scenarios import scenarios_of

#: What a row of a trace has unless a test says otherwise.
_ROW = {
    "flow": "flow1", "ca_state": "open", "cwnd_packets": 100, "ssthresh_packets": -1,
    "in_flight_packets": 100, "unacked_packets": 100, "sacked_packets": 0, "rtt_us": 100_000,
    "rto_us": 300_000, "retransmits": 0, "mss_bytes": 1448, "bytes_sent": 10_000_000,
    "bytes_acked": 5_000_000, "pacing_rate_bps": -1,
}  # fmt: skip


def record_of(
    stack: str, scenario: str, rows: Sequence[dict[str, Any]] = (), samples: Samples | None = None
) -> Record:
    """A record of a scenario's plan with these rows of a trace, each with its ``t_s``."""
    (found,) = scenarios_of(stack, [scenario])
    record = Record(FilePath(), {"plan": found.request(stack).plan().as_dict()})
    vars(record)["trace"] = pd.DataFrame([{**_ROW, **row} for row in rows])
    vars(record)["samples"] = samples
    return record
