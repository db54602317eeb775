"""Captured packets, read by other programs than the one that wrote them.

These are tcpdump of the lab's root, and tshark of this machine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import pytest

from farpath.base.project import BUILD
from farpath.tools import pcapng

#: The lab's root, whose programs run with its own loader and libraries.
ROOT = BUILD / "lab" / "rootfs"
_LIBRARIES = ROOT / "usr" / "lib" / "x86_64-linux-gnu"
#: Ethernet, IPv4 and UDP headers of a datagram from 10.0.0.2:1 to 10.0.0.1:2.
DATAGRAM = bytes.fromhex(
    "02000000000102000000000208004500002000000000401100000a0000020a00000100010002000c000000000000"
)
_LINE = re.compile(
    r"^(?P<s>\d+)\.(?P<ns>\d{9}) IP6? (?P<sender>\S+) > (?P<receiver>\S+): .*"
    r"Flags \[(?P<flags>[^]]+)\].* length (?P<length>\d+)"
)


@dataclass(frozen=True)
class Packet:
    """A TCP packet as tcpdump printed it; ``time_ns``: from 1970, as the file says."""

    time_ns: int
    sender: str
    receiver: str
    flags: str
    payload_bytes: int
    numbers: str


def tcpdump(file: FilePath, *options: str) -> str:
    """Print a file of packets with tcpdump."""
    program = [
        str(ROOT / "lib64" / "ld-linux-x86-64.so.2"),
        *("--library-path", str(_LIBRARIES), str(ROOT / "usr" / "bin" / "tcpdump")),
    ]
    command = [*program, "-n", "-tt", "-S", "--nano", "-Z", "root", *options, "-r", str(file)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def tshark(file: FilePath, fields: Sequence[str], packets: int) -> list[dict[str, str]]:
    """Return fields of the first packets in a file, by tshark's names; empty is what one lacks.

    Skips the test where there is no tshark.
    """
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("no tshark here: images/host-packages tshark installs it")
    columns = [word for field in fields for word in ("-e", field)]
    command = [program, "-n", "-r", str(file), "-c", str(packets), "-T", "fields", *columns]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [dict(zip(fields, line.split("\t"), strict=True)) for line in printed.splitlines()]


def tcp_packets(file: FilePath, *options: str) -> list[Packet]:
    """Return the TCP packets in a file."""
    found = (_LINE.match(line) for line in tcpdump(file, *options).splitlines())
    return [
        Packet(
            time_ns=int(match["s"]) * 10**9 + int(match["ns"]),
            sender=match["sender"],
            receiver=match["receiver"],
            flags=match["flags"],
            payload_bytes=int(match["length"]),
            numbers=" ".join(re.findall(r"(?:seq|ack|val) [\d:]+", match[0])),
        )
        for match in found
        if match
    ]


def write_two_packets(file: FilePath, missed: int = 0) -> None:
    """Write a file of two packets, one of a length that is no multiple of four."""
    file.write_bytes(
        pcapng.head("receiver-eth0", "receiver", 128)
        + pcapng.packet(5_000_000_001, DATAGRAM, 1000)
        + pcapng.packet(5_000_000_001 + 2**32, DATAGRAM[:43], 1000)
        + pcapng.statistics(9_294_967_297, 2 + missed, missed)
    )
