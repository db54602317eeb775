"""Trace table: builds the table of a run's TCP trace from the tracers' files, and hashes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import LabFailedError
from farpath.base.frames import typed_frame
from farpath.mechanisms.mechanism import FurtherTable, RecordPart
from farpath.mechanisms.trace import rows as trace_rows
from farpath.spec import trace
from farpath.tools import tcp_info

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from farpath.spec.plan import Plan
    from farpath.spec.schedule import Flow

#: Value in a column for which the kernel has no number yet: no threshold, no RTT, no pacing.
NONE = -1
#: enum tcp_ca_state in include/uapi/linux/tcp.h, by number.
CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
#: Integer columns, each with its field of struct tcp_info, or None if it is computed.
NUMBERS: Mapping[str, str | None] = {
    "cwnd_packets": "snd_cwnd",
    "ssthresh_packets": "snd_ssthresh",
    "in_flight_packets": None,
    "unacked_packets": "unacked",
    "sacked_packets": "sacked",
    "lost_packets": "lost",
    "retrans_packets": "retrans",
    "reordering_packets": "reordering",
    "mss_bytes": "snd_mss",
    "rtt_us": "rtt",
    "rttvar_us": "rttvar",
    "min_rtt_us": "min_rtt",
    "rto_us": "rto",
    "retransmits": "total_retrans",
    "delivered_packets": "delivered",
    "delivered_ce_packets": "delivered_ce",
    "dsacks": "dsack_dups",
    "reorderings": "reord_seen",
    "bytes_sent": "bytes_sent",
    "bytes_retrans": "bytes_retrans",
    "bytes_acked": "bytes_acked",
    "notsent_bytes": "notsent_bytes",
    "snd_wnd_bytes": "snd_wnd",
    "pacing_rate_bps": None,
    "delivery_rate_bps": None,
    "app_limited": None,
    "busy_us": "busy_time",
    "rwnd_limited_us": "rwnd_limited",
    "sndbuf_limited_us": "sndbuf_limited",
}
COLUMNS = {"flow": "str", "t_s": "float", "ca_state": "str", **dict.fromkeys(NUMBERS, "int")}
#: For each column that can be undefined, the value of its field in that case.
_NONE = {
    "ssthresh_packets": tcp_info.INFINITE_SSTHRESH,
    "min_rtt_us": tcp_info.NO_RTT,
    "pacing_rate_bps": tcp_info.NO_RATE,
}

TABLE = FurtherTable(
    "trace",
    COLUMNS,
    lambda _plan: trace.MOST_TRACE_SAMPLES,
    # Most numbers differ little from their predecessors
    {
        "compression": "zstd",
        "use_dictionary": ["flow", "ca_state"],
        "column_encoding": dict.fromkeys(NUMBERS, "DELTA_BINARY_PACKED"),
    },
)

_Columns = dict[str, "npt.NDArray[Any]"]


@dataclass(frozen=True, eq=False)
class Trace:
    """The TCP trace of a run.

    ``frame``: one row for each traced flow and each tick at which its connection existed.
    ``ticks`` and ``asked``: by host, how many ticks passed and at how many the kernel was
    queried. The second is less if a machine in real time was late.
    """

    frame: pd.DataFrame
    ticks: Mapping[str, int]
    asked: Mapping[str, int]

    @property
    def part(self) -> RecordPart:
        """The table as a part of a record."""
        return TABLE.part(self.frame, ticks=dict(self.ticks), asked=dict(self.asked))


def from_raw(raw_dir: FilePath, plan: Plan) -> Trace | None:
    """Build the trace from a run's raw output; None if the plan has no trace.

    iperf3 opens two connections to one port; the one with more acknowledged bytes carries the
    flow's data. Raises LabFailedError if a trace is missing or broken.
    """
    import pandas as pd

    flow_parts: dict[str, list[_Columns]] = {}
    ticks, asked = {}, {}
    for host in trace.hosts(plan):
        file = raw_dir / f"{host}{trace.SUFFIX}"
        try:
            header, blocks = trace_rows.parse(file.read_bytes())
            ticks[host], asked[host] = int(header["ticks"]), int(header["asked"])
        except (OSError, KeyError) as error:
            raise LabFailedError(f"the lab left no trace in {file}") from error
        ports = {flow.port: flow for flow in trace.flows(plan) if flow.sender == host}
        parts = [part for block in blocks for part in _by_port(block, plan)]
        for port, flow in ports.items():
            flow_parts[flow.name] = [columns for number, columns in parts if number == port]
    if not ticks:
        return None
    frames = [_flow_frame(flow, flow_parts[flow.name]) for flow in trace.flows(plan)]
    return Trace(pd.concat(frames, ignore_index=True), ticks, asked)


def windows_mb(rows: pd.DataFrame) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return a flow's congestion window and slow start threshold in MB.

    The threshold is NaN as long as the flow has none.
    """
    mss_mb = rows["mss_bytes"] / 1e6
    ssthresh = rows["ssthresh_packets"].where(rows["ssthresh_packets"] != NONE)
    return rows["cwnd_packets"] * mss_mb, ssthresh * mss_mb


def _by_port(rows: npt.NDArray[np.void], plan: Plan) -> list[tuple[int, _Columns]]:
    """Split a block's rows by port, and return each port with its columns and socket cookies."""
    import numpy as np

    interval_s = plan.settings.trace_interval_s
    return [
        (int(port), state_columns(rows[rows["port"] == port], interval_s))
        for port in np.unique(rows["port"])
    ]


def state_columns(rows: npt.NDArray[np.void], interval_s: float) -> _Columns:
    """Return the state of connections at ticks, by column, and their sockets' cookies."""
    import numpy as np

    def number(field: str) -> npt.NDArray[np.int64]:
        return rows[field].astype(np.int64)

    flight = number("unacked") - number("sacked") - number("lost") + number("retrans")
    computed = {
        # tcp_packets_in_flight in include/net/tcp.h
        "in_flight_packets": flight,
        "pacing_rate_bps": number("pacing_rate") * 8,
        "delivery_rate_bps": number("delivery_rate") * 8,
        "app_limited": number("flags") & 1,
    }
    # Round away the binary fraction: multiples of 0.003 are 0.006, 0.009, ...
    t_s = np.round(rows["tick"] * interval_s, 6)
    columns: _Columns = {
        "cookie": rows["cookie"].copy(),
        "t_s": t_s,
        "ca_state": np.array(CA_STATES, dtype=object)[rows["ca_state"]],
    }
    for column, field in NUMBERS.items():
        values = number(field) if field else computed[column]
        if column in _NONE:
            values[rows[field or "pacing_rate"] == _NONE[column]] = NONE
        columns[column] = values
    return columns


def _flow_frame(flow: Flow, parts: list[_Columns]) -> pd.DataFrame:
    """Return a flow's rows, of the connection that carried its data."""
    import numpy as np

    if not parts:
        raise LabFailedError(f"{flow.name} has no trace: the tracer saw no connection of it")
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    cookies = joined.pop("cookie")
    data_cookie = cookies[int(np.argmax(joined["bytes_acked"]))]
    data_rows = {name: values[cookies == data_cookie] for name, values in joined.items()}
    return typed_frame(COLUMNS, {"flow": flow.name, **data_rows})
