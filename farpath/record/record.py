"""Record: every raw sample of a run and everything that decided them, on disk.

A record is a directory that holds ``record.json``, ``flows.parquet``, ``ping.parquet``,
``queue.parquet`` and ``raw/``, the compressed output of the tools. A run with a trace has
``trace.parquet`` too, one with short flows ``short_flows.parquet``, one with several queues
``queues.parquet``, and one with captures their files in ``captures/``. ``record.json`` is written
last, so a directory that has it is complete.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeVar

from farpath.base import frames
from farpath.base.errors import BadInputError, LabFailedError
from farpath.mechanisms.mechanism import RecordPart
from farpath.programs.program import Program
from farpath.programs.registry import program_of
from farpath.record.bounds import most_rows
from farpath.record.description import write_description
from farpath.record.record_directory import RecordDirectory, directories_with, table_file
from farpath.spec.hosts import SIDES
from farpath.spec.plan import Plan
from farpath.spec.protocol import RAW_DIR, SCHEDULE_START_FILE
from farpath.spec.schedule import Flow
from farpath.spec.trace import SUFFIX
from farpath.tools import accepts, ping, tc
from farpath.tools.iperf3 import SenderInterval
from farpath.tools.iperf3_like import SHORTEST_S

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

FORMAT_VERSION = 3
#: The last format in which the flows' times were not those of their connections, and whose rows
#: held neither their interval's length nor what was sent.
LAST_WITHOUT_BEGIN = 2
RECORD_FILE = "record.json"

#: The tables, with the name and type of each column.
COLUMNS = {
    "flows": {
        "flow": "str",
        "t_s": "float",
        "interval_s": "float",
        "throughput_bps": "float",
        "sent_bps": "float",
        "retransmits": "int",
        "cwnd_bytes": "int",
        "snd_wnd_bytes": "int",
        "rtt_us": "int",
    },
    "ping": {"t_s": "float", "rtt_ms": "float"},
    "queue": {"t_s": "float", "backlog_bytes": "int", "backlog_packets": "int", "drops": "int"},
}
#: A further column of the queue in runs whose bottleneck has an active queue.
MARKS = {"marks": "int"}
NEW_IN_3 = ("interval_s", "sent_bps")
#: By how many intervals, or by which fraction of them, iperf3's report may differ from the
#: schedule: iperf3 ends a test up to one interval late.
INTERVALS_OFF = 1
INTERVALS_OFF_PART = 0.02
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a run; ``t_s`` counts virtual seconds from the schedule's start.

    ``flows``: one row per flow and second. ``t_s`` is the end of the receiver's interval,
    ``interval_s`` its length, ``throughput_bps`` the payload that the receiver read in it. The
    other columns are of the sender's interval of the same number, which begins and ends half a
    round trip later: ``sent_bps`` is the payload that the program handed to TCP, the rest the state
    of TCP at its end (``retransmits`` counts within the interval). A flow's last row may cover a
    short interval, with data that arrived after the sender stopped; the sender's columns are 0
    there. Records of older formats have NaN as ``sent_bps``, and times that are early by the
    duration of a connection's start. ``ping``: when each ping was sent and its ``rtt_ms``, NaN if
    it was lost. ``queue``: the bottleneck's backlog in bytes and packets, and its drops since the
    start; with an active queue also its marks.
    """

    flows: pd.DataFrame
    ping: pd.DataFrame
    queue: pd.DataFrame

    def frame(self, name: str) -> pd.DataFrame:
        """Return the table ``flows``, ``ping`` or ``queue``."""
        frame: pd.DataFrame = getattr(self, name)
        return frame


def columns_of(
    name: str, format_version: int = FORMAT_VERSION, marks: bool = False
) -> dict[str, str]:
    """Return the name and type of each column that a table has in a version of the format.

    ``marks``: whether the bottleneck has an active queue.
    """
    missing = NEW_IN_3 if format_version <= LAST_WITHOUT_BEGIN and name == "flows" else ()
    columns = {column: kind for column, kind in COLUMNS[name].items() if column not in missing}
    return columns | (MARKS if marks and name == "queue" else {})


def typed_frame(name: str, data: Sequence[tuple[object, ...]] | pd.DataFrame) -> pd.DataFrame:
    """Build the table ``name`` with the columns, order and types of ``COLUMNS``."""
    return frames.typed_frame(COLUMNS[name], data)


def _read(raw_dir: FilePath, name: str) -> str:
    try:
        return (raw_dir / name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LabFailedError(f"the lab left no {name} in {raw_dir}") from error


def _parsed(raw_dir: FilePath, name: str, parse: Callable[[str], T]) -> T:
    """Parse a raw file; LabFailedError names the file."""
    try:
        return parse(_read(raw_dir, name))
    except LabFailedError as error:
        raise LabFailedError(f"{name}: {error.message}", error.detail) from error


def _begin_s(raw_dir: FilePath, flow: Flow, program: Program) -> float:
    """Return when a flow's receiver began its first interval, in s from the schedule's start.

    A program that does not say so is taken to begin at the flow's start.
    """
    accepted = accepts.parse(_read(raw_dir, f"{flow.name}-receiver.err"))
    begin_ns = _parsed(raw_dir, f"{flow.name}-receiver.out", program.parse_begin_ns)
    if begin_ns is None and not accepted:
        return flow.start_s
    # iperf3's last connection is the one that carries data
    begin_ns = begin_ns if begin_ns is not None else accepted[-1]
    start_ns = int(_read(raw_dir, SCHEDULE_START_FILE.format(flow=flow.name)))
    begin_s = (begin_ns - start_ns) / NS_PER_S
    if not flow.start_s <= begin_s <= flow.stop_s:
        raise LabFailedError(
            f"{flow.name}'s receiver began at {begin_s:.6f} s, not between the flow's "
            f"{flow.start_s:g} s and {flow.stop_s:g} s: its first packets were lost or waited; "
            "take a longer `region` or `time`"
        )
    return begin_s


def of_each_interval(printed: Sequence[SenderInterval], interval_s: float) -> list[SenderInterval]:
    """Return what a sender printed, with an entry for each interval of the schedule.

    iperf3 prints nothing while it waits for a lost packet of its control connection, and then one
    interval that is as long as several. It is repeated for each of them, and its retransmissions
    count in the last.
    """
    found: list[SenderInterval] = []
    ended = 0
    for interval in printed:
        before, ended = ended, math.floor(interval.end_s / interval_s + 0.25)
        silent = dataclasses.replace(interval, retransmits=0)
        found += [silent] * (ended - before - 1) + [interval]
    return found


def _flow_rows(
    raw_dir: FilePath, flow: Flow, interval_s: float, program: Program
) -> list[tuple[str, float, float, float, float, int, int, int, int]]:
    """Return the rows of one flow; the k-th intervals of sender and receiver form one row."""
    printed = _parsed(raw_dir, f"{flow.name}-sender.out", program.parse_sender)
    sent = of_each_interval(printed, interval_s)
    received = _parsed(raw_dir, f"{flow.name}-receiver.out", program.parse_receiver)
    expected_count = (flow.stop_s - flow.start_s) / interval_s
    if abs(len(sent) - expected_count) > max(INTERVALS_OFF, INTERVALS_OFF_PART * expected_count):
        raise LabFailedError(f"{flow.name} sent in {len(sent)} intervals of {expected_count:g}")
    if len(received) < len(sent):
        raise LabFailedError(
            f"{flow.name}'s receiver reported {len(received)} intervals, its sender {len(sent)}"
        )
    begin_s = _begin_s(raw_dir, flow, program)
    rows = []
    for sender, receiver in zip_longest(sent, received):
        length_s = receiver.end_s - receiver.start_s
        if length_s < SHORTEST_S:
            continue
        sent_bps, state = 0.0, (0, 0, 0, 0)
        if sender:
            sent_bps = 8 * sender.bytes / max(sender.end_s - sender.start_s, SHORTEST_S)
            state = (sender.retransmits, sender.snd_cwnd_bytes, sender.snd_wnd_bytes, sender.rtt_us)
        throughput_bps = 8 * receiver.bytes / length_s
        end_s = begin_s + receiver.end_s
        rows.append((flow.name, end_s, length_s, throughput_bps, sent_bps, *state))
    return rows


def ping_rows(pings: ping.Pings, interval_s: float) -> list[tuple[float, float]]:
    """Return when each ping was sent, in s from the schedule's start, and its RTT in ms or NaN.

    The first ping is sent at the schedule's start. The sending time is the reply's timestamp
    less the RTT. ping keeps its interval only to about a millisecond, so the time of a lost
    ping is counted from the last one answered before it.
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
    """Parse the output of a run's tools into samples.

    Raises LabFailedError that names the file if the output is missing, is cut short, reports
    an error or does not cover the schedule.
    """
    interval_s = plan.settings.flow_interval_s
    flows = [
        row
        for flow in plan.schedule.all_flows
        for row in _flow_rows(raw_dir, flow, interval_s, program_of(plan.stack_of(flow)))
    ]
    pings = _parsed(raw_dir, "ping.out", ping.parse)
    queue = _parsed(raw_dir, "queue.txt", tc.parse_samples)
    return Samples(
        flows=typed_frame("flows", flows),
        ping=typed_frame("ping", ping_rows(pings, plan.settings.ping_interval_s)),
        queue=queue_frame(queue, plan),
    )


def queue_frame(samples: Sequence[tc.QueueSample], plan: Plan) -> pd.DataFrame:
    """Return the table of a bottleneck's samples."""
    columns = columns_of("queue", marks=plan.path.queue is not None)
    return frames.typed_frame(
        columns, [tuple(getattr(sample, column) for column in columns) for sample in samples]
    )


def fingerprint(samples: Samples, format_version: int = FORMAT_VERSION) -> str:
    """Return the SHA-256 over all samples in a version of the format, in hexadecimal.

    The hashed bytes do not depend on any library. For each of the tables flows, ping and
    queue there is one line ``name row-count``. For each of its columns, in the order of
    ``columns_of``, there is one line ``name type`` and then the values: floats as IEEE 754
    doubles and integers as 64-bit two's complement, both little-endian, and texts as UTF-8
    with a newline after each. A missing RTT is the double 0x7ff8000000000000, and negative
    zero is hashed as zero.
    """
    digest = hashlib.sha256()
    for name in COLUMNS:
        frame = samples.frame(name)
        columns = columns_of(name, format_version, marks="marks" in frame)
        frames.add_to_hash(digest, name, columns, frame)
    return digest.hexdigest()


def _with_new_columns(flows: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Give a table of flows of an older format the columns that it lacks.

    There a flow's intervals follow each other from its start on, and the sent bytes are unknown.
    """
    starts_s = {flow.name: flow.start_s for flow in plan.schedule.all_flows}
    ends_s = flows["t_s"].groupby(flows["flow"]).shift().fillna(flows["flow"].map(starts_s))
    return typed_frame("flows", flows.assign(interval_s=flows["t_s"] - ends_s, sent_bps=math.nan))


@dataclass(frozen=True)
class Record(RecordDirectory):
    """The record of one run; samples and trace are read from disk when they are first used."""

    DESCRIPTION = RECORD_FILE
    FORMAT = FORMAT_VERSION
    REMEDY = "the record was changed; repeat the run"

    @property
    def has_kernels_by_side(self) -> bool:
        """Whether each side had a kernel of its own."""
        return bool(self.data["provenance"].get("kernels"))

    @property
    def kernel(self) -> str:
        """The kernel's release, for people; of a run with a kernel for each side both, by side."""
        provenance = self.data["provenance"]
        if self.has_kernels_by_side:
            kernels = provenance["kernels"]
            return ", ".join(f"{side} {kernels[side].get('release', '')}" for side in SIDES)
        return str(provenance.get("kernel", {}).get("release", ""))

    @property
    def request(self) -> Mapping[str, str] | None:
        """The options of the run as they were typed, by their names; None in older records."""
        request: Mapping[str, str] | None = self.data.get("request")
        return request

    @property
    def readback(self) -> Mapping[str, Any]:
        """The settings and counts that the lab read, with the findings of mechanisms."""
        readback: Mapping[str, Any] = self.data["readback"]
        return readback

    @property
    def cpu(self) -> dict[str, float] | None:
        """CPU time of the sending programs (``senders_s``, ``mhz``); None if not measured."""
        cpu: dict[str, float] | None = self.data["readback"].get("cpu")
        return cpu

    @cached_property
    def samples(self) -> Samples:
        """All samples, read from disk at first use and checked by their fingerprint.

        Raises CheckFailedError if they are not the samples that were stored.
        """
        version = self.data["format_version"]
        marks = self.plan.path.queue is not None
        samples = Samples(
            **{
                name: frames.read_frame(
                    table_file(self.directory, name),
                    columns_of(name, version, marks),
                    most_rows(self.plan, name),
                )
                for name in COLUMNS
            }
        )
        self.check_fingerprint(fingerprint(samples, version))
        if version <= LAST_WITHOUT_BEGIN:
            flows = _with_new_columns(samples.flows, self.plan)
            samples = dataclasses.replace(samples, flows=flows)
        return samples

    @cached_property
    def trace(self) -> pd.DataFrame | None:
        """The TCP trace, read from disk at first use and checked; None if the run has none.

        Its columns are ``farpath.mechanisms.trace.trace_table.COLUMNS``. Raises CheckFailedError if
        it is not the trace that was stored.
        """
        return self._further_table("trace")

    @cached_property
    def queues(self) -> pd.DataFrame | None:
        """The table of all queues, read from disk at first use and checked.

        None of a run with one queue, and of records that were made before there was such a table.
        Its columns are ``farpath.record.queue_table.COLUMNS``. Raises CheckFailedError if it is not
        the table that was stored.
        """
        return self._further_table("queues")


def _compress_raw(source: FilePath, target: FilePath) -> None:
    """Compress every file of ``source`` but traces and captures; equal files give equal bytes."""
    target.mkdir()
    files = (file for file in source.iterdir() if file.is_file() and file.suffix != SUFFIX)
    for file in sorted(files):
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
    parts: Sequence[RecordPart] = (),
    request: Mapping[str, str] | None = None,
) -> Record:
    """Write a complete record into a fresh directory, which the caller renames.

    ``provenance``: the commit, kernel and tools that made the samples. ``readback``: the
    settings that the lab read back. ``raw_dir``: the tools' output. ``parts``: further ones.
    ``request``: the options of the run as they were typed. Raises BadInputError if ``directory`` is
    not empty.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise BadInputError(
            file=str(directory), problem="is not empty", remedy="a record needs a fresh directory"
        )
    _compress_raw(raw_dir, directory / RAW_DIR)
    for name in COLUMNS:
        samples.frame(name).to_parquet(table_file(directory, name), index=False)
    data = {
        "format_version": FORMAT_VERSION,
        "plan": plan.as_dict(),
        "provenance": provenance,
        "readback": readback,
        "warnings": list(warnings),
        "fingerprint": fingerprint(samples),
    }
    if request is not None:
        data["request"] = dict(request)
    for part in parts:
        part.write(directory)
        data[part.name] = part.entry
    return Record(directory, write_description(directory / RECORD_FILE, data))


def records_in(directory: FilePath) -> list[FilePath]:
    """Return the record directories in a directory, complete or damaged, but none in the making."""
    return directories_with(directory, RECORD_FILE)


def load_record(directory: FilePath, *, verify: bool = True) -> Record:
    """Load the record in a directory.

    Without ``verify`` its samples are read and checked only when they are first used. Raises
    BadInputError if the directory is missing, is not a complete record, has a newer format or
    a damaged record.json, and CheckFailedError if the samples were changed.
    """
    from farpath.record.schema import check_description

    if not directory.is_dir():
        several = any(letter in str(directory) for letter in "*?[")
        remedy = "; for several give them without quotes to farpath compare" if several else ""
        raise BadInputError(
            problem=f"{directory}: is not a directory",
            remedy=f"give the directory of a record{remedy}",
        )
    needed = [directory / RECORD_FILE, *(table_file(directory, name) for name in COLUMNS)]
    absent = [file.name for file in needed if not file.is_file()]
    if absent:
        raise BadInputError(
            problem=f"{directory}: is not a complete record, it lacks {', '.join(absent)}",
            remedy="give the directory of a finished run",
        )
    record = Record(directory, Record.read(directory, check_description))
    if verify:
        _ = record.samples
    return record
