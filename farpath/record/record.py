"""Record: every raw sample of a run and everything that decided them, on disk.

A record is a directory: ``record.json``, ``flows.parquet``, ``ping.parquet``,
``queue.parquet`` and ``raw/``, the tools' own output, compressed; of a run with a trace
``trace.parquet`` too. ``record.json`` is written last, so a directory with one is whole.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeVar

from farpath.base.documents import read_json
from farpath.base.errors import BadInputError, CheckFailedError, LabFailedError
from farpath.record import frames, trace_table
from farpath.record.trace_table import Trace
from farpath.spec.plan import Plan
from farpath.spec.protocol import RAW_DIR
from farpath.spec.schedule import Flow
from farpath.spec.stack import IPERF3
from farpath.spec.trace import SUFFIX
from farpath.tools import iperf3, ping, tc
from farpath.tools.iperf3_like import SHORTEST_S

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

FORMAT_VERSION = 2
RECORD_FILE = "record.json"

#: The tables, their columns and what these hold.
COLUMNS = {
    "flows": {
        "flow": "str",
        "t_s": "float",
        "throughput_bps": "float",
        "retransmits": "int",
        "cwnd_bytes": "int",
        "snd_wnd_bytes": "int",
        "rtt_us": "int",
    },
    "ping": {"t_s": "float", "rtt_ms": "float"},
    "queue": {"t_s": "float", "backlog_bytes": "int", "backlog_packets": "int", "drops": "int"},
}
#: By how many intervals, or which part of them, iperf3's reports may miss the
#: schedule: it ends a test up to one interval late.
INTERVALS_OFF = 1
INTERVALS_OFF_PART = 0.02


@dataclass(frozen=True, eq=False)
class Samples:
    """Everything a run measured; ``t_s`` counts virtual s from the schedule's start.

    ``flows``: one row per flow and second, ``t_s`` the interval's end;
    ``throughput_bps`` is what the receiver took, the other columns the sender's TCP
    at the interval's end (``retransmits`` within it). A flow's last row may be
    short: data that arrived after its sender stopped; the sender's columns are 0
    there. ``ping``: when each was sent and its ``rtt_ms``, NaN if lost. ``queue``:
    the bottleneck's backlog in bytes and packets, and drops since it was made.
    """

    flows: pd.DataFrame
    ping: pd.DataFrame
    queue: pd.DataFrame

    def frame(self, name: str) -> pd.DataFrame:
        """The table ``flows``, ``ping`` or ``queue``."""
        frame: pd.DataFrame = getattr(self, name)
        return frame


def typed_frame(name: str, data: Sequence[tuple[object, ...]] | pd.DataFrame) -> pd.DataFrame:
    """A table with exactly the columns, order and types of :data:`COLUMNS`."""
    return frames.typed_frame(COLUMNS[name], data)


def _read(raw_dir: FilePath, name: str) -> str:
    try:
        return (raw_dir / name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LabFailedError(f"the lab left no {name} in {raw_dir}") from error


def _parsed(raw_dir: FilePath, name: str, parse: Callable[[str], T]) -> T:
    """A raw file through its parser; errors name the file."""
    try:
        return parse(_read(raw_dir, name))
    except LabFailedError as error:
        raise LabFailedError(f"{name}: {error.message}", error.detail) from error


def _flow_rows(
    raw_dir: FilePath, flow: Flow, interval_s: float, tcp: bool
) -> list[tuple[str, float, float, int, int, int, int]]:
    """Rows of one flow: the k-th intervals of sender and receiver belong together."""
    parse_sender = partial(iperf3.parse_sender, tcp=tcp)
    sent = _parsed(raw_dir, f"{flow.name}-sender.out", parse_sender)
    taken = _parsed(raw_dir, f"{flow.name}-receiver.out", iperf3.parse_receiver)
    wanted = (flow.stop_s - flow.start_s) / interval_s
    if abs(len(sent) - wanted) > max(INTERVALS_OFF, INTERVALS_OFF_PART * wanted):
        raise LabFailedError(f"{flow.name} sent in {len(sent)} intervals of {wanted:g}")
    if len(taken) < len(sent):
        raise LabFailedError(
            f"{flow.name}'s receiver reported {len(taken)} intervals, its sender {len(sent)}"
        )
    rows = []
    for sender, receiver in zip_longest(sent, taken):
        length_s = receiver.end_s - receiver.start_s
        if length_s < SHORTEST_S:
            continue
        state = (0, 0, 0, 0)
        if sender:
            state = (sender.retransmits, sender.snd_cwnd_bytes, sender.snd_wnd_bytes, sender.rtt_us)
        throughput_bps = 8 * receiver.bytes / length_s
        rows.append((flow.name, flow.start_s + receiver.end_s, throughput_bps, *state))
    return rows


def _ping_rows(pings: ping.Pings, interval_s: float) -> list[tuple[float, float]]:
    """When each ping was sent, from the schedule's start, and its RTT or NaN.

    The first is sent at the start. Sent is answered less RTT; ping keeps its
    interval only to about a millisecond, so lost ones lie between their neighbours.
    """
    sent_s = {reply.seq: reply.timestamp_s - reply.rtt_ms / 1e3 for reply in pings.replies}
    rtt_ms = {reply.seq: reply.rtt_ms for reply in pings.replies}
    rows = []
    first = min(sent_s, default=1)
    start_s = sent_s.get(first, 0.0) - (first - 1) * interval_s
    seq_before, t_before_s = 1, 0.0
    for seq in range(1, pings.sent + 1):
        if seq in sent_s:
            seq_before, t_before_s = seq, sent_s[seq] - start_s
        t_s = t_before_s + (seq - seq_before) * interval_s
        rows.append((round(t_s, 6), rtt_ms.get(seq, float("nan"))))
    return rows


def samples_from_raw(raw_dir: FilePath, plan: Plan) -> Samples:
    """The samples in the tools' own output of a run.

    Raises :class:`LabFailedError` that names the file for output that is missing,
    cut short, reports an error or does not cover the schedule.
    """
    interval_s = plan.settings.sample_interval_s
    flows = [
        row
        for flow in plan.schedule.all_flows
        for row in _flow_rows(raw_dir, flow, interval_s, plan.stack_of(flow).program == IPERF3)
    ]
    pings = _parsed(raw_dir, "ping.out", ping.parse)
    queue = _parsed(raw_dir, "queue.txt", tc.parse_samples)
    return Samples(
        flows=typed_frame("flows", flows),
        ping=typed_frame("ping", _ping_rows(pings, plan.settings.ping_interval_s)),
        queue=typed_frame(
            "queue", [(q.t_s, q.backlog_bytes, q.backlog_packets, q.drops) for q in queue]
        ),
    )


def fingerprint(samples: Samples) -> str:
    """SHA-256 over all samples, in hexadecimal.

    What is hashed depends on no library: for each of the tables flows, ping and
    queue one line ``name row-count``; for each of its columns, in the order of
    ``COLUMNS``, one line ``name kind`` and then the values: floats as IEEE
    754 doubles and integers as 64-bit two's complement, both little-endian, texts
    as UTF-8 with a newline after each. A missing RTT is the double
    0x7ff8000000000000, and there is no negative zero.
    """
    digest = hashlib.sha256()
    for name, columns in COLUMNS.items():
        frames.add_to_hash(digest, name, columns, samples.frame(name))
    return digest.hexdigest()


@dataclass(frozen=True)
class Record:
    """One run's record: where it is and its ``record.json``; samples and trace on demand."""

    directory: FilePath
    data: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        """The SHA-256 over the samples, as stored."""
        return str(self.data["fingerprint"])

    @cached_property
    def plan(self) -> Plan:
        """What decided the run."""
        return Plan.from_dict(self.data["plan"])

    @property
    def droppers(self) -> list[dict[str, Any]]:
        """What each dropper saw and lost."""
        found: list[dict[str, Any]] = self.data["readback"].get("after", {}).get("droppers", [])
        return found

    @property
    def cpu(self) -> dict[str, float] | None:
        """CPU time of the sending programs, where it was counted."""
        found: dict[str, float] | None = self.data["readback"].get("cpu")
        return found

    @cached_property
    def samples(self) -> Samples:
        """All samples, read from disk at first use and checked by fingerprint.

        Raises :class:`CheckFailedError` if they are not those that were stored.
        """
        samples = Samples(
            **{
                name: frames.read_frame(_table_file(self.directory, name), columns)
                for name, columns in COLUMNS.items()
            }
        )
        found = fingerprint(samples)
        if found != self.fingerprint:
            raise CheckFailedError(
                f"{self.directory}: the samples' fingerprint is {found[:12]}..., stored is "
                f"{self.fingerprint[:12]}...: the record was changed; repeat the run"
            )
        return samples

    @cached_property
    def trace(self) -> pd.DataFrame | None:
        """The trace, if the run has one; read from disk at first use and checked.

        Columns are :data:`farpath.record.trace_table.COLUMNS`. Raises :class:`CheckFailedError` if
        it is not what was stored.
        """
        stored = self.data.get("trace")
        if stored is None:
            return None
        file = _table_file(self.directory, trace_table.NAME)
        frame = frames.read_frame(file, trace_table.COLUMNS)
        if trace_table.fingerprint(frame) != stored["fingerprint"]:
            raise CheckFailedError(f"{file}: the record was changed; repeat the run")
        return frame


def _table_file(directory: FilePath, name: str) -> FilePath:
    return directory / f"{name}.parquet"


def _compress_raw(source: FilePath, target: FilePath) -> None:
    """Every file of ``source`` but traces, compressed; equal files give equal bytes."""
    target.mkdir()
    for file in sorted(file for file in source.iterdir() if file.suffix != SUFFIX):
        with (
            file.open("rb") as plain,
            (target / f"{file.name}.gz").open("wb") as packed,
            gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as stream,
        ):
            shutil.copyfileobj(plain, stream)


def write_record(
    directory: FilePath,
    plan: Plan,
    samples: Samples,
    provenance: dict[str, Any],
    readback: dict[str, Any],
    warnings: Sequence[str],
    raw_dir: FilePath,
    trace: Trace | None = None,
) -> Record:
    """Write a whole record into a fresh directory, which the caller renames.

    ``provenance``: what made the samples (commit, kernel, tools). ``readback``:
    what the lab said it is. Raises :class:`BadInputError` if ``directory`` already
    holds something.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise BadInputError(f"{directory}: is not empty: a record needs a fresh directory")
    _compress_raw(raw_dir, directory / RAW_DIR)
    for name in COLUMNS:
        samples.frame(name).to_parquet(_table_file(directory, name), index=False)
    data = {
        "format_version": FORMAT_VERSION,
        "plan": plan.as_dict(),
        "provenance": provenance,
        "readback": readback,
        "warnings": list(warnings),
        "fingerprint": fingerprint(samples),
    }
    if trace:
        trace.frame.to_parquet(
            _table_file(directory, trace_table.NAME), index=False, **trace_table.PARQUET
        )
        data["trace"] = trace.as_dict()
    text = json.dumps(data, indent=1, sort_keys=True, allow_nan=False) + "\n"
    (directory / RECORD_FILE).write_text(text, encoding="utf-8")
    return Record(directory, json.loads(text))


def _read_data(directory: FilePath) -> dict[str, Any]:
    """``record.json`` of a record, judged as :mod:`farpath.record.schema` says."""
    from farpath.record.schema import check_description

    file = directory / RECORD_FILE
    remedy = "the record was changed; repeat the run"
    data = read_json(file, remedy)
    if not isinstance(data, dict) or "format_version" not in data:
        raise BadInputError(f"{file}: describes no record: {remedy}")
    version = data["format_version"]
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise BadInputError(
            f"{file}: has format version {version!r}, this farpath reads up to {FORMAT_VERSION}: "
            f"use a newer farpath"
        )
    try:
        check_description(data)
    except BadInputError as error:
        raise BadInputError(f"{file}: {error.message}: {remedy}") from error
    return data


def load_record(directory: FilePath, *, verify: bool = True) -> Record:
    """The record in a directory; without ``verify`` its samples wait for their use.

    Raises :class:`BadInputError` for a directory that is missing, no record, half
    made, of a newer format or with a damaged description, :class:`CheckFailedError` for
    samples that were changed.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: is no directory: give the directory of a record")
    needed = [directory / RECORD_FILE, *(_table_file(directory, name) for name in COLUMNS)]
    absent = [file.name for file in needed if not file.is_file()]
    if absent:
        raise BadInputError(
            f"{directory}: is no record or a half-made one, it lacks {', '.join(absent)}: "
            f"give the directory of a finished run"
        )
    record = Record(directory, _read_data(directory))
    if verify:
        _ = record.samples
    return record
