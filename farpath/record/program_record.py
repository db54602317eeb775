"""Program record: the output of a client and its servers, and the state of the path meanwhile.

It is a directory with ``exec.json``, ``client.out`` and ``client.err``, the same of each server,
the files that came back (``collected``), and the tables ``ping``, ``queue``, ``queue_back`` and
``connections`` as Parquet. ``exec.json`` is written last.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import LabFailedError
from farpath.base.frames import add_to_hash, read_frame, typed_frame
from farpath.mechanisms.mechanism import RecordPart
from farpath.mechanisms.trace import rows as trace_rows
from farpath.mechanisms.trace.trace_table import NUMBERS, state_columns
from farpath.record.bounds import most_program_rows
from farpath.record.description import write_description
from farpath.record.record import COLUMNS as SAMPLE_COLUMNS
from farpath.record.record import columns_of as sample_columns_of
from farpath.record.record import ping_rows
from farpath.record.record_directory import (
    RecordDirectory,
    directories_with,
    require_tables,
    table_file,
    write_tables,
)
from farpath.spec.plan import Plan
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, TIMED_OUT, Programs
from farpath.spec.protocol import COLLECTED_DIR, CONNECTIONS_FILE
from farpath.spec.wire import as_wire, from_wire
from farpath.tools import ping, tc
from topologies import lay_out

if TYPE_CHECKING:
    import pandas as pd

FORMAT_VERSION = 1
EXEC_FILE = "exec.json"
#: Files of a record beside its output that no fingerprint covers as they are.
CONSOLE_LOG = "console.log"
#: Directory of a preset's verdict and figure, which are made of what the fingerprint covers.
VERDICT_DIR = "verdict"
#: Columns of the table of TCP connections: the host of this end, the connection's number there in
#: the order of their first samples, the port of the server's host, and TCP's state.
CONNECTION_COLUMNS = {
    "host": "str",
    "connection": "int",
    "port": "int",
    "t_s": "float",
    "ca_state": "str",
    **dict.fromkeys(NUMBERS, "int"),
}
#: Bytes of a file that are read at once.
_PART_BYTES = 1 << 20
TABLES = ("ping", "queue", "queue_back", "connections")


def columns_of(plan: Plan) -> dict[str, dict[str, str]]:
    """Return the columns of each table; active queues have marks too."""
    queue = sample_columns_of("queue", marks=plan.path.queue is not None)
    return {
        "ping": SAMPLE_COLUMNS["ping"],
        "queue": queue,
        "queue_back": queue,
        "connections": CONNECTION_COLUMNS,
    }


def status_words(status: int) -> str:
    """Return what the status of a program means to a test.

    >>> status_words(0), status_words(28), status_words(124)
    ('pass', 'fail: status 28', 'fail: status 124 (time limit)')
    """
    if status == TIMED_OUT:
        return f"fail: status {status} (time limit)"
    return f"fail: status {status}" if status else "pass"


@dataclass(frozen=True)
class ServerEnding:
    """The end of a server: its status and time.

    ``t_s``: virtual s since the client's start; None if it outlived the client.
    """

    label: str
    status: int
    t_s: float | None


@dataclass(frozen=True)
class Ending:
    """The end of a client: its exit status, its virtual s, and the ends of its servers.

    ``killed_for_memory``: how many processes the kernel killed because all programs together took
    more memory than they have.
    """

    status: int
    took_s: float
    servers: tuple[ServerEnding, ...] = ()
    killed_for_memory: int = 0


def tables(raw_dir: FilePath, plan: Plan) -> dict[str, pd.DataFrame]:
    """Build the tables of ``columns_of`` from a lab's raw output; raises LabFailedError."""
    _, *others = lay_out(plan).bottlenecks
    queues = {"queue": "queue.txt", "queue_back": f"queue-{others[0]}.txt"}
    columns = columns_of(plan)
    pings = ping.parse(read_raw(raw_dir / "ping.out").decode())
    rows: dict[str, Any] = {"ping": ping_rows(pings, plan.settings.ping_interval_s)}
    for name, file in queues.items():
        samples = tc.parse_samples(read_raw(raw_dir / file).decode())
        rows[name] = [tuple(getattr(each, column) for column in columns[name]) for each in samples]
    frames = {name: typed_frame(columns[name], data) for name, data in rows.items()}
    return {**frames, "connections": _connections(raw_dir, plan)}


def no_flows() -> pd.DataFrame:
    """Return the samples of flows of a lab in which none run."""
    return typed_frame(SAMPLE_COLUMNS["flows"], [])


def read_raw(file: FilePath) -> bytes:
    """Return a file of the lab's raw output; raises LabFailedError if it is not there."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise LabFailedError(f"the lab left no {file.name} in {file.parent}") from error


def _connections(raw_dir: FilePath, plan: Plan) -> pd.DataFrame:
    import pandas as pd

    parts = [
        part
        for host in (CLIENT_HOST, SERVER_HOST)
        for part in host_connections(raw_dir, plan, host, host)
    ]
    return pd.concat(parts, ignore_index=True) if parts else typed_frame(CONNECTION_COLUMNS, [])


def host_connections(raw_dir: FilePath, plan: Plan, host: str, name: str) -> Iterator[pd.DataFrame]:
    """Yield the samples of the TCP connections of a host, which the table calls ``name``."""
    _, blocks = trace_rows.parse(read_raw(raw_dir / CONNECTIONS_FILE.format(host=host)))
    numbers: dict[int, int] = {}
    for block in blocks:
        columns = state_columns(block, plan.settings.sample_interval_s)
        of_rows = [
            numbers.setdefault(int(cookie), len(numbers) + 1) for cookie in columns.pop("cookie")
        ]
        data = {"host": name, "connection": of_rows, "port": block["port"], **columns}
        yield typed_frame(CONNECTION_COLUMNS, data)


def fingerprint(
    directory: FilePath, ending: Ending, frames: dict[str, pd.DataFrame], plan: Plan
) -> str:
    """Return the SHA-256 over the programs' ends, all output, collected files and tables.

    ``directory``: the record's.
    """
    from farpath.record.schema import part_names

    digest = hashlib.sha256(f"status {ending.status}\ntook_s {ending.took_s!r}\n".encode())
    for server in ending.servers:
        digest.update(f"{server.label} {server.status} {server.t_s!r}\n".encode())
    # As in a record of flows, parts of mechanisms have hashes of their own or none
    names = [*TABLES, *part_names()]
    left_out = {
        EXEC_FILE,
        CONSOLE_LOG,
        VERDICT_DIR,
        *(table_file(directory, name).name for name in names),
    }
    left_out |= set(part_names())
    add_files(digest, directory, left_out)
    for name, columns in columns_of(plan).items():
        add_to_hash(digest, name, columns, frames[name])
    return digest.hexdigest()


def add_files(digest: hashlib._Hash, directory: FilePath, left_out: set[str]) -> None:
    """Add all files of a record to a hash, but those of its own directory that are ``left_out``.

    These are files and directories.
    """
    files = [file for file in directory.rglob("*") if file.is_file()]
    for file in sorted(files):
        if file.relative_to(directory).parts[0] in left_out:
            continue
        with file.open("rb") as stream:
            length = os.fstat(stream.fileno()).st_size
            digest.update(f"{file.relative_to(directory)} {length}\n".encode())
            while part := stream.read(_PART_BYTES):
                digest.update(part)


def write_program_record(
    directory: FilePath,
    plan: Plan,
    programs: Programs,
    ending: Ending,
    output: FilePath,
    collected: FilePath,
    raw_dir: FilePath,
    provenance: dict[str, Any],
    readback: dict[str, Any],
    warnings: Sequence[str],
    parts: Sequence[RecordPart] = (),
    preset: str = "",
) -> str:
    """Write a record into a fresh directory, which the caller renames; return its fingerprint.

    ``output``: directory with the programs' output. ``collected``: directory of the files that came
    back, which need not exist. ``parts``: further ones, of mechanisms. ``preset``: the preset that
    the programs are of, with its parameters; empty for a user's own.
    """
    shutil.copytree(output, directory, dirs_exist_ok=True)
    if collected.is_dir():
        shutil.copytree(collected, directory / COLLECTED_DIR)
    frames = tables(raw_dir, plan)
    stamp = fingerprint(directory, ending, frames, plan)
    write_tables(directory, frames)
    for part in parts:
        part.write(directory)
    data = {
        "format_version": FORMAT_VERSION,
        "plan": plan.as_dict(),
        "programs": as_wire(programs),
        "status": ending.status,
        "took_s": ending.took_s,
        "servers": [dataclasses.asdict(server) for server in ending.servers],
        "killed_for_memory": ending.killed_for_memory,
        "provenance": provenance,
        "readback": readback,
        "warnings": list(warnings),
        "fingerprint": stamp,
        **({"preset": preset} if preset else {}),
        **{part.name: part.entry for part in parts},
    }
    write_description(directory / EXEC_FILE, data)
    return stamp


@dataclass(frozen=True)
class ProgramRecord(RecordDirectory):
    """A program record; its plan is the lab: path, hosts, seed."""

    DESCRIPTION = EXEC_FILE
    FORMAT = FORMAT_VERSION
    REMEDY = "the record was changed; run the command again"

    @cached_property
    def programs(self) -> Programs:
        """The client, the servers and their surroundings."""
        return from_wire(Programs, self.data["programs"])

    @property
    def readback(self) -> dict[str, Any]:
        """The settings and counts that the lab read, with the findings of mechanisms."""
        return dict(self.data["readback"])

    @property
    def preset(self) -> str:
        """The preset that the programs are of, with its parameters; empty for a user's own."""
        return str(self.data.get("preset", ""))

    @property
    def trace(self) -> None:
        """Of flows alone: programs have the table ``connections``."""
        return None

    @property
    def ending(self) -> Ending:
        """How the client ended."""
        return Ending(
            self.data["status"],
            self.data["took_s"],
            tuple(ServerEnding(**server) for server in self.data.get("servers", ())),
            self.data.get("killed_for_memory", 0),
        )

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables, read at first use and checked by the fingerprint.

        Raises CheckFailedError if they, the output or the collected files were changed.
        """
        most_rows = most_program_rows(self.plan, self.programs)
        frames = {
            name: read_frame(table_file(self.directory, name), columns, most_rows.get(name))
            for name, columns in columns_of(self.plan).items()
        }
        self.check_fingerprint(fingerprint(self.directory, self.ending, frames, self.plan))
        return frames


def program_records_in(directory: FilePath) -> list[FilePath]:
    """Return the directories of program records in a directory, but none in the making."""
    return directories_with(directory, EXEC_FILE)


def load_program_record(directory: FilePath) -> ProgramRecord:
    """Load the program record in a directory.

    Raises BadInputError if it lacks a file, has a newer format or a damaged exec.json, and
    CheckFailedError if a file that the fingerprint covers was changed.
    """
    from farpath.record.schema import check_program_description

    require_tables(directory, TABLES, ProgramRecord.REMEDY)
    record = ProgramRecord(directory, ProgramRecord.read(directory, check_program_description))
    _ = record.tables
    return record
