"""MPTCP over several links: its rate, its links that fail, and programs that only know TCP."""

from __future__ import annotations

import re
import shutil
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT
from farpath.planning.deployment import Deployment
from farpath.record.service_record import load_service_record
from farpath.spec.mptcp import BACKUP, FULLMESH, NONE, SIGNAL, Mptcp
from tests.support.command_line import Farpath
from tests.support.deployments import deployment, link, run_up, service

EXAMPLE = PROJECT / "examples" / "compose" / "mptcp" / "compose.yml"
PAGE = PROJECT / "docs" / "how-to" / "mptcp.md"
RATE_BPS = 10_000_000
_SECOND = re.compile(r"server \| +(\d+) s: +([\d.]+) Mbit/s")


def rates_mbps(text: str) -> list[float]:
    """What arrived in each second, as the example's server prints it."""
    return [float(match[2]) for match in _SECOND.finditer(text)]


def test_the_example_uses_both_links_and_goes_on_without_one_and_repeats_to_the_packet(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    done = farpath("up", EXAMPLE, f"--out={tmp_path}")
    assert done.status == 0, done.err
    rates = rates_mbps(done.out)
    assert len(rates) == 10
    assert min(rates[1:4]) > 1.7 * RATE_BPS / 1e6
    # While a link is down, and until its lost packets are there, the program gets less than is sent
    assert max(rates[4:7]) < 1.3 * RATE_BPS / 1e6
    assert rates[9] > 1.2 * RATE_BPS / 1e6
    # Each call of the system takes a moment, and the machine's Python decides how many there are
    assert rates_mbps(PAGE.read_text())[:4] == pytest.approx(rates[:4], abs=0.5)
    (directory,) = tmp_path.glob("up-mptcp-*")
    record = load_service_record(directory)
    subflows = record.tables["connections"]
    acked = subflows[subflows["host"] == "phone"].groupby("connection")["bytes_acked"].max()
    assert len(acked) == 2
    assert acked.min() > 4e6
    queues = record.tables["queues"]
    without = queues[queues["t_s"].between(4.5, 6.9)].groupby("link")["bytes"]
    carried = (without.max() - without.min()) * 8 / 2.4
    assert carried["wifi>dc"] == 0
    # It first waits for timeouts of the other
    assert carried["lte>dc"] > 0.4 * RATE_BPS
    again = farpath("up", EXAMPLE, f"--out={tmp_path / 'again'}")
    assert record.fingerprint[:12] in again.err


def test_a_flow_of_mptcp_uses_both_links_as_the_page_shows(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    file = PROJECT / "examples" / "own-topology" / "two_paths.py"
    done = farpath(
        *("run", f"--topology={file}", "--flows=h1>h2:mptcp", "--time=10s", f"--out={tmp_path}")
    )
    assert done.status == 0, done.err
    subflows = [line for line in done.out.splitlines() if line.startswith("  flow1        ")]
    rates = [float(line.split()[5]) for line in subflows]
    assert len(rates) == 2
    assert min(rates) > 0.9 * RATE_BPS / 1e6
    page = PAGE.read_text()
    assert [line for line in subflows if line.strip() not in page] == []


#: Sends for some seconds over MPTCP, and prints what its kernel counted of joins.
SEND = """
import socket, sys, time
one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
one.connect(("server", 5001))
end_s = time.monotonic() + 2
while time.monotonic() < end_s:
    one.send(bytes(1 << 14))
names, values = [line.split() for line in open("/proc/net/netstat") if line.startswith("MPTcp")]
found = dict(zip(names, values))
print(found["MPJoinSynAckRx"], "joins,", found["AddAddr"], "addresses")
"""
TAKE = """
import socket
one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
one.bind(("", 5001))
one.listen()
connection, _ = one.accept()
while connection.recv(1 << 16):
    pass
"""


def two_by_two(role: str, other: str) -> Deployment:
    """A client and a server with two links each."""
    rated = {"rate_bps": RATE_BPS, "buffer_packets": 100}
    return deployment(
        [service("server", TAKE), service("client", SEND)],
        {"w": ["client"], "x": ["client"], "y": ["server"], "z": ["server"]},
        [link("w", "y", 10, **rated), link("x", "y", 30, **rated), link("y", "z", 2, **rated)],
        mptcp=Mptcp({"client": role, "server": other}),
    )


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("role", "other", "counted"),
    # Addresses of both families are told
    [(FULLMESH, SIGNAL, "3 joins, 2 addresses"), (BACKUP, NONE, "1 joins, 0 addresses")],
)
def test_roles_decide_which_subflows_there_are(
    tmp_path: FilePath, role: str, other: str, counted: str
) -> None:
    record, printed = run_up(two_by_two(role, other), tmp_path)
    assert printed.strip() == counted
    sent = record.tables["queues"].groupby("link")["bytes"].max()
    # A backup carries no data while another subflow can
    assert (sent["x>y"] > 1e6) == (role == FULLMESH)


@pytest.mark.skipif(not shutil.which("mptcpize"), reason="Debian's package mptcpize is missing")
def test_a_program_that_only_knows_tcp_runs_over_mptcp_by_mptcpize(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    server = "mptcpize run python3 -m http.server 80"
    client = "mptcpize run curl -s -o /dev/null http://server/ && grep ^MPTcp /proc/net/netstat"
    done = farpath(
        *("exec", "--rtt=20ms", f"--server={server}", f"--out={tmp_path}"),
        *("--wait-for=tcp:80", "--", "sh", "-c", client),
    )
    assert done.status == 0, done.err
    names, values = (line.split() for line in done.out.splitlines())
    found = dict(zip(names, values, strict=True))
    assert (found["MPCapableSYNACKRX"], found["MPCapableFallbackSYNACK"]) == ("1", "0")
