"""Program record: what a client and its servers said, and the state of the path meanwhile.

It is a directory with ``exec.json``, ``client.out`` and ``client.err``, the same of each server,
the files that came back (``collected``), and the tables ``ping``, ``queue``, ``queue_back`` and
``connections`` as Parquet. ``exec.json`` is written last.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import LabFailedError
from farpath.record import trace_rows
from farpath.record.frames import add_to_hash, typed_frame
from farpath.record.record import COLUMNS as SAMPLE_COLUMNS
from farpath.record.record import ping_rows
from farpath.record.trace_table import NUMBERS, state_columns
from farpath.spec.plan import Plan
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, Programs
from farpath.spec.protocol import COLLECTED_DIR, CONNECTIONS_FILE
from farpath.tools import ping, tc
from topologies import lay_out

if TYPE_CHECKING:
    import pandas as pd

FORMAT_VERSION = 1
EXEC_FILE = "exec.json"
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
COLUMNS = {
    "ping": SAMPLE_COLUMNS["ping"],
    "queue": SAMPLE_COLUMNS["queue"],
    "queue_back": SAMPLE_COLUMNS["queue"],
    "connections": CONNECTION_COLUMNS,
}


@dataclass(frozen=True)
class Ending:
    """How a client ended: its exit status, and after how many virtual s."""

    status: int
    took_s: float


def tables(raw_dir: FilePath, plan: Plan) -> dict[str, pd.DataFrame]:
    """Build the tables of ``COLUMNS`` from a lab's raw output; raises LabFailedError."""
    _, *others = lay_out(plan).bottlenecks
    queues = {"queue": "queue.txt", "queue_back": f"queue-{others[0]}.txt"}
    pings = ping.parse(_read(raw_dir / "ping.out").decode())
    rows: dict[str, Any] = {"ping": ping_rows(pings, plan.settings.ping_interval_s)}
    for name, file in queues.items():
        samples = tc.parse_samples(_read(raw_dir / file).decode())
        rows[name] = [(q.t_s, q.backlog_bytes, q.backlog_packets, q.drops) for q in samples]
    frames = {name: typed_frame(COLUMNS[name], data) for name, data in rows.items()}
    return {**frames, "connections": _connections(raw_dir, plan)}


def _read(file: FilePath) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise LabFailedError(f"the lab left no {file.name} in {file.parent}") from error


def _connections(raw_dir: FilePath, plan: Plan) -> pd.DataFrame:
    import pandas as pd

    parts = []
    for host in (CLIENT_HOST, SERVER_HOST):
        _, blocks = trace_rows.parse(_read(raw_dir / CONNECTIONS_FILE.format(host=host)))
        numbers: dict[int, int] = {}
        for block in blocks:
            columns = state_columns(block, plan.settings.sample_interval_s)
            of_rows = [
                numbers.setdefault(int(cookie), len(numbers) + 1)
                for cookie in columns.pop("cookie")
            ]
            data = {"host": host, "connection": of_rows, "port": block["port"], **columns}
            parts.append(typed_frame(CONNECTION_COLUMNS, data))
    return pd.concat(parts, ignore_index=True) if parts else typed_frame(CONNECTION_COLUMNS, [])


def fingerprint(directory: FilePath, ending: Ending, frames: dict[str, pd.DataFrame]) -> str:
    """Return the SHA-256 over how the client ended, all output, collected files and tables.

    ``directory``: the record's, without its tables yet.
    """
    digest = hashlib.sha256(f"status {ending.status}\ntook_s {ending.took_s!r}\n".encode())
    for file in sorted(file for file in directory.rglob("*") if file.is_file()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(directory)} {len(content)}\n".encode() + content)
    for name, columns in COLUMNS.items():
        add_to_hash(digest, name, columns, frames[name])
    return digest.hexdigest()


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
) -> str:
    """Write a record into a fresh directory, which the caller renames; return its fingerprint.

    ``output``: directory with the programs' output. ``collected``: that of the files that came
    back, which need not exist.
    """
    shutil.copytree(output, directory, dirs_exist_ok=True)
    if collected.is_dir():
        shutil.copytree(collected, directory / COLLECTED_DIR)
    frames = tables(raw_dir, plan)
    stamp = fingerprint(directory, ending, frames)
    for name, frame in frames.items():
        frame.to_parquet(directory / f"{name}.parquet", index=False)
    data = {
        "format_version": FORMAT_VERSION,
        "plan": plan.as_dict(),
        "programs": dataclasses.asdict(programs),
        "status": ending.status,
        "took_s": ending.took_s,
        "provenance": provenance,
        "readback": readback,
        "warnings": list(warnings),
        "fingerprint": stamp,
    }
    text = json.dumps(data, indent=1, sort_keys=True, allow_nan=False) + "\n"
    (directory / EXEC_FILE).write_text(text, encoding="utf-8")
    return stamp
