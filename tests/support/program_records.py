"""Records of programs without a lab: a client that downloads from a server."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

from farpath.planning.program_plan import program_plan
from farpath.planning.request import RunRequest
from farpath.record.program_record import (
    Ending,
    ProgramRecord,
    load_program_record,
    write_program_record,
)
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, Place, Programs
from farpath.spec.protocol import CONNECTIONS_FILE
from farpath.tools import tcp_info
from tests.support.sock_diag import packed_tcp_info
from tests.support.synthetic_run import write_pings, write_queue

CLIENT = ("curl", "-w", "%{time_total} s\n", "http://server/page")
SECONDS = 10


def write_programs(directory: FilePath, recorded_at: str = "", status: int = 28) -> ProgramRecord:
    """Write a record of ten seconds in which the server sends 1 MB a second."""
    raw, output = directory.with_name("raw"), directory.with_name("output")
    for new in (raw, output):
        new.mkdir(parents=True, exist_ok=True)
    plan = program_plan(RunRequest(rtt="164ms", rate="100Mbit", loss="1e-4", sample="1s", seed="3"))
    write_pings(raw, SECONDS)
    write_queue(raw, SECONDS)
    write_queue(raw, 2 * SECONDS, "queue-s1-eth2.txt")
    _write_connections(raw)
    (output / "client.out").write_text("10.0 s\n")
    (output / "client.err").write_text("too slow\n")
    place = Place("machine", (), "/srv")
    programs = Programs(
        client=CLIENT,
        servers=(("python3", "-m", "http.server", "80"),),
        places={CLIENT_HOST: place, SERVER_HOST: place},
        user=os.getuid(),
        group=os.getgid(),
        timeout_s=60.0,
    )
    write_program_record(
        *(directory, plan, programs, Ending(status, float(SECONDS)), output, raw / "none", raw),
        *({"recorded_at": recorded_at}, {}, ["take care"]),
    )
    return load_program_record(directory)


def _write_connections(raw: FilePath) -> None:
    """The connection as both its ends see it: the client only asks."""
    for host, bytes_per_s in ((CLIENT_HOST, 0), (SERVER_HOST, 1_000_000)):
        rows = tcp_info.Rows()
        for tick in range(1, SECONDS + 1):
            state = packed_tcp_info(
                bytes_acked=100 + tick * bytes_per_s, snd_cwnd=10 * tick, snd_mss=1448,
                rtt=165_000, min_rtt=164_000, total_retrans=tick, ca_state=3,
            )  # fmt: skip
            rows.add(tick, 80, 1, 7, state)
        data = b"".join(rows.parts(ticks=SECONDS, asked=SECONDS))
        (raw / CONNECTIONS_FILE.format(host=host)).write_bytes(data)
