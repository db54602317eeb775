"""Subflow table: the TCP connections of which flows of MPTCP are made, over time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from statistics import median
from typing import TYPE_CHECKING, Any

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.base.frames import typed_frame
from farpath.mechanisms.mechanism import Curve, FurtherTable, Panel
from farpath.spec.mptcp import mptcp_flows
from farpath.spec.plan import Plan
from farpath.spec.protocol import SUBFLOWS_FILE

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "flow": "str",
    "subflow": "int",
    "t_s": "float",
    "local": "str",
    "remote": "str",
    "congestion": "str",
    "bytes_acked": "int",
    "rtt_us": "int",
    "cwnd_packets": "int",
    "retransmits": "int",
}
#: Far more subflows than the kernel's limits allow a connection, with those that come again.
_MOST_SUBFLOWS = 64


def _most_rows(plan: Plan) -> float:
    samples = plan.schedule.duration_s / plan.settings.flow_interval_s
    return len(mptcp_flows(plan)) * samples * _MOST_SUBFLOWS


#: ``subflow``: its number in the flow, which began with 1. ``local``: its address and port at the
#: sender. ``bytes_acked``, ``retransmits``: since it began.
TABLE = FurtherTable("subflows", COLUMNS, _most_rows)


def _samples(raw_dir: FilePath, host: str) -> list[dict[str, Any]]:
    file = raw_dir / SUBFLOWS_FILE.format(host=host)
    try:
        return [json.loads(line) for line in file.read_text().splitlines()]
    except (OSError, ValueError) as error:
        raise LabFailedError(f"the lab left no samples of subflows in {file}") from error


def from_raw(raw_dir: FilePath, plan: Plan) -> pd.DataFrame:
    """Return the table of a plan's flows of MPTCP.

    Raises LabFailedError for raw output that is missing or broken, and CheckFailedError for a flow
    that fell back to TCP.
    """
    rows: list[tuple[Any, ...]] = []
    for flow in mptcp_flows(plan):
        numbers: dict[str, int] = {}
        samples = _samples(raw_dir, flow.sender)
        own = [
            (sample["t_s"], row)
            for sample in samples
            for row in sorted(sample["rows"], key=lambda row: not row["is_first"])
            if row["port"] == flow.port
        ]
        if own and all(row["token"] is None for _, row in own):
            raise CheckFailedError(
                f"{flow.name} fell back to TCP: an end of it, or a host between, did not agree to "
                "MPTCP"
            )
        for t_s, row in own:
            number = numbers.setdefault(row["local"] + row["remote"], len(numbers) + 1)
            values = (row[name] for name in COLUMNS if name in row)
            rows.append((flow.name, number, t_s, *values))
    return typed_frame(COLUMNS, rows)


def summary(frame: pd.DataFrame, plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Return a summary of each subflow, by flow: addresses, rate, RTT, retransmissions.

    ``rate_bps``: acknowledged payload between its first and its last sample; ``rtt_ms``: median of
    the smoothed RTT (RFC 6298).
    """
    found: dict[str, list[dict[str, Any]]] = {flow.name: [] for flow in mptcp_flows(plan)}
    for (flow, _), samples in frame.groupby(["flow", "subflow"], sort=True):
        first, last = samples.iloc[0], samples.iloc[-1]
        took_s = float(last["t_s"] - first["t_s"])
        acked_bytes = int(last["bytes_acked"])
        during = acked_bytes - int(first["bytes_acked"])
        found[str(flow)].append(
            {
                "subflow": int(first["subflow"]),
                "local": str(first["local"]),
                "remote": str(first["remote"]),
                "congestion": str(last["congestion"]),
                "from_s": float(first["t_s"]),
                "to_s": float(last["t_s"]),
                "bytes_acked": acked_bytes,
                "rate_bps": 8 * during / took_s if took_s else 0.0,
                "rtt_ms": median(samples["rtt_us"].tolist()) / 1e3,
                "retransmits": int(last["retransmits"]),
            }
        )
    return found


def rates_over_time(frame: pd.DataFrame) -> Panel:
    """Return what of each subflow was acknowledged from sample to sample, in Mbit/s."""
    curves = []
    for (flow, subflow), samples in frame.groupby(["flow", "subflow"], sort=True):
        took_s, acked_bytes = samples["t_s"].diff()[1:], samples["bytes_acked"].diff()[1:]
        rates_mbps = 8 * acked_bytes / took_s / 1e6
        label = f"{flow}, subflow {subflow} from {samples['local'].iloc[0]}"
        curves.append(Curve(label, samples["t_s"][1:].tolist(), rates_mbps.tolist()))
    return Panel("subflows (Mbit/s)\nacknowledged", curves)


def lines(subflows: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return a line for each subflow, below a heading."""
    rows = [
        f"  {flow:6} {one['subflow']:>7}  {one['local']:>21}  {one['remote']:>15}  "
        f"{one['congestion']:>10} {one['rate_bps'] / 1e6:7.2f} {one['rtt_ms']:8.1f} "
        f"{one['retransmits']:>12}"
        for flow, all_of_it in subflows.items()
        for one in all_of_it
    ]
    heading = (
        f"  {'flow':6} {'subflow':>7}  {'from':>21}  {'to':>15}  {'congestion':>10} "
        f"{'Mbit/s':>7} {'RTT ms':>8} {'retransmits':>12}"
    )
    return ["Subflows of MPTCP", "", heading, *rows] if rows else []
