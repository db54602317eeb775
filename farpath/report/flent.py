"""A record as a data file of Flent, format version 4, of its test ``tcp_nup``.

Source: ResultSet of flent/resultset.py, Flent 2.3: ``serialise`` and ``unserialise``. Flent plots
such files (``flent -i FILE -p totals``) and compares them with its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from farpath import __version__
from farpath.metrics.run import fairness, per_second
from farpath.report.figures.run_over_time import title
from farpath.spec.labels import flow_label

if TYPE_CHECKING:
    from farpath.record.record import Record
    from farpath.spec.schedule import Flow

FORMAT_VERSION = 4
#: Flent's test of several uploads, of which these are the names of series and units.
TEST = "tcp_nup"
UPLOAD, FAIRNESS, PING = "TCP upload", "TCP upload fairness", "Ping (ms) ICMP"
MBITS, MS = "Mbits/s", "ms"
#: The time between two points of a series in s.
STEP_S = 1.0
#: Date of a record that has none.
NO_DATE = "1970-01-01T00:00:00+00:00"


def flent_data(record: Record) -> dict[str, Any]:
    """Return the contents of the data file: metadata, series with a point a second, raw samples.

    Series are the flows (``TCP upload::1`` ...), their sum, average and fairness, and the pings,
    between which Flent's points are interpolated. Raw values are the record's samples; their times
    count from when the run was recorded.
    """
    schedule = record.plan.schedule
    recorded = datetime.fromisoformat(record.recorded_at or NO_DATE)
    flows_mbps = per_second(record.samples, schedule) / 1e6
    names = {flow.name: f"{UPLOAD}::{number}" for number, flow in enumerate(schedule.flows, 1)}
    series = {names[flow]: list(flows_mbps[flow]) for flow in names}
    total = flows_mbps.sum(axis="columns")
    results = {
        **series,
        f"{UPLOAD} sum": list(total),
        f"{UPLOAD} avg": list(total / len(names)),
        FAIRNESS: [fairness(row) for row in flows_mbps.to_numpy()],
        PING: _pings_at(record, flows_mbps.index.to_numpy(dtype=np.float64)),
    }
    raw = {
        names[flow.name]: _raw_flow(record, flow, recorded.timestamp()) for flow in schedule.flows
    }
    return {
        "version": FORMAT_VERSION,
        "metadata": _metadata(record, recorded, names, results),
        "x_values": [float(t_s) for t_s in flows_mbps.index],
        "results": {name: _plain(values) for name, values in results.items()},
        "raw_values": {**raw, PING: _raw_pings(record, recorded.timestamp())},
    }


def _metadata(
    record: Record, recorded: datetime, names: dict[str, str], results: dict[str, list[float]]
) -> dict[str, Any]:
    schedule = record.plan.schedule
    time = recorded.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    series_meta: dict[str, Any] = {
        name: {
            "UNITS": {PING: MS, FAIRNESS: "Idx"}.get(name, MBITS),
            "MEAN_VALUE": None if np.isnan(values).all() else float(np.nanmean(values)),
        }
        for name, values in results.items()
    }
    for flow in schedule.flows:
        series_meta[names[flow.name]] |= {"CONG_CONTROL": flow.stack, "LABEL": flow_label(flow)}
    return {
        "NAME": TEST,
        "TITLE": title(record.plan),
        "NOTE": f"farpath {__version__}, fingerprint {record.fingerprint}",
        "TIME": time,
        "T0": time,
        "HOST": "receiver",
        "HOSTS": ["receiver"],
        "LOCAL_HOST": "sender",
        "LENGTH": schedule.duration_s,
        "TOTAL_LENGTH": schedule.duration_s,
        "STEP_SIZE": STEP_S,
        "IP_VERSION": record.plan.ip_version,
        "TEST_PARAMETERS": {"upload_streams": str(len(names))},
        "DATA_FILENAME": f"{record.directory.name}.flent.gz",
        "FLENT_VERSION": f"farpath {__version__}",
        "SERIES_META": series_meta,
    }


def _pings_at(record: Record, times_s: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """Return ping RTTs in ms at some times, NaN outside the answered pings."""
    answered = record.samples.ping.dropna()
    if answered.empty:
        return [math.nan] * len(times_s)
    points = (answered["t_s"].to_numpy(), answered["rtt_ms"].to_numpy())
    return [float(value) for value in np.interp(times_s, *points, left=math.nan, right=math.nan)]


def _raw_flow(record: Record, flow: Flow, t0_s: float) -> list[dict[str, float]]:
    flows = record.samples.flows
    columns = ["t_s", "interval_s", "throughput_bps", "cwnd_bytes", "rtt_us", "retransmits"]
    rows = flows.loc[flows["flow"] == flow.name, columns].to_numpy(dtype=np.float64)
    return [
        {"t": t0_s + t_s, "dur": interval_s, "val": throughput_bps / 1e6,
         "tcp_cwnd": cwnd_bytes, "tcp_rtt": rtt_us / 1e3, "tcp_retrans": retransmits}
        for t_s, interval_s, throughput_bps, cwnd_bytes, rtt_us, retransmits in rows.tolist()
    ]  # fmt: skip


def _raw_pings(record: Record, t0_s: float) -> list[dict[str, float]]:
    answered = record.samples.ping.dropna()[["t_s", "rtt_ms"]].to_numpy(dtype=np.float64)
    return [{"t": t0_s + t_s, "val": rtt_ms} for t_s, rtt_ms in answered.tolist()]


def _plain(values: Iterable[float]) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]
