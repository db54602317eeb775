"""Walks through what programs expect of a host, as a client of ``farpath exec``, and prints it.

With the argument ``serve`` it is the server of the walk.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import pty
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

PORT, GROUP = 9000, "239.1.2.3"
#: Option of sockets (include/uapi/asm-generic/socket.h), which Python does not name.
SO_TIMESTAMPING = 37


def tcp(host: str, port: int = PORT, family: int = socket.AF_UNSPEC) -> str:
    """Connect, and return the server's address as it was resolved."""
    found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0]
    with socket.socket(found[0], socket.SOCK_STREAM) as connection:
        connection.connect(found[4])
        return str(found[4][0])


def ask(host: str, family: int = socket.AF_INET) -> str:
    """Send a datagram to a host, to all or to a group, and return who answers."""
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        asking.settimeout(2)
        asking.sendto(b"who", (host, PORT))
        return str(asking.recvfrom(100)[1][0])


def transmit_stamps() -> list[float]:
    """Return when each transmit time stamp of a datagram was taken, in s after it was sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        # Software time stamps of sent packets (Documentation/networking/timestamping.rst)
        sending.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, 1 << 1 | 1 << 4)
        sending.connect(("server", PORT))
        sent_s = time.time()
        sending.send(b"who")
        time.sleep(0.1)
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                flags = socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT
                for _, kind, data in sending.recvmsg(100, 500, flags)[1]:
                    if kind == SO_TIMESTAMPING:
                        seconds, nanoseconds = struct.unpack("2q", data[:16])
                        found.append(round(seconds + nanoseconds / 1e9 - sent_s, 3))
        return found


def own_address() -> str:
    """Return the address from which packets to anywhere would leave."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards:
        towards.connect(("192.0.2.1", 53))
        return str(towards.getsockname()[0])


def orphans() -> list[str]:
    """Leave a grandchild behind, and return the states of all processes after its end."""
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(0.1)
        os._exit(0)
    os.wait()
    time.sleep(0.2)
    stats = [Path(file).read_text() for file in glob.glob("/proc/[0-9]*/stat")]
    return sorted({stat.rpartition(")")[2].split()[0] for stat in stats})


def terminal() -> str:
    """Return the name of a new terminal as its program sees it."""
    child, descriptor = pty.fork()
    if child == 0:
        os.execvp("tty", ["tty"])
    name = os.read(descriptor, 100).decode().strip()
    os.wait()
    return name


def taken_shared_memory() -> bool:
    """Whether POSIX shared memory can be had."""
    memory = shared_memory.SharedMemory(create=True, size=100)
    memory.close()
    memory.unlink()
    return True


def ended_by(number: int) -> int:
    """Return how a process ends that sends itself a signal."""
    return subprocess.call([sys.executable, "-c", f"import os; os.kill(os.getpid(), {number})"])


def says(*command: str) -> list[str]:
    """Return the first words of the lines that a command prints; an error's text if it fails."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        return [ended.stderr.strip()]
    return [line.split()[0] for line in ended.stdout.splitlines() if line.strip()]


FACTS: dict[str, Callable[[], Any]] = {
    "pid": os.getpid,
    "init": lambda: Path("/proc/1/comm").read_text().strip(),
    "server": lambda: tcp("server"),
    "server over IPv6": lambda: tcp("server", family=socket.AF_INET6),
    "server of the link": lambda: tcp("fe80::ff:fe00:1%sender-eth0"),
    "localhost": lambda: [one[4][0] for one in socket.getaddrinfo("localhost", 80, type=1)],
    "closed port": lambda: tcp("server", PORT + 1),
    "nobody there": lambda: tcp("10.0.0.99"),
    "name elsewhere": lambda: tcp("example.org"),
    "all hosts": lambda: ask("255.255.255.255"),
    "group": lambda: ask(GROUP),
    "group over IPv6": lambda: ask("ff02::1%sender-eth0", socket.AF_INET6).partition("%")[0],
    "transmit time stamps": transmit_stamps,
    "own address": own_address,
    "orphans": orphans,
    "terminal": terminal,
    "SIGABRT": lambda: ended_by(signal.SIGABRT),
    "files": lambda: resource.getrlimit(resource.RLIMIT_NOFILE),
    "processes": lambda: resource.getrlimit(resource.RLIMIT_NPROC),
    "date": lambda: time.strftime("%Y-%m-%d %H:%M:%S"),
    "locale": lambda: os.environ["LC_ALL"],
    "shared memory": taken_shared_memory,
    "temporary file": lambda: Path("/tmp/there").write_text("here"),
    "full": lambda: Path("/dev/full").write_text("x"),
    "random": lambda: len(os.urandom(16)),
    "ps": lambda: says("ps", "-ef")[0],
    "free": lambda: says("free")[1],
    "uptime": lambda: len(says("uptime")),
    "routes": lambda: says("ip", "route"),
    "input": sys.stdin.read,
}


def serve() -> None:
    """Answer datagrams of both families at once and for ever, and connections by the kernel."""
    listening = socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
    answering = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    answering.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    answering.bind(("::", PORT))
    member = socket.inet_aton(GROUP) + socket.inet_aton("0.0.0.0")
    answering.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
    with listening, answering:
        while True:
            answering.sendto(b"me", answering.recvfrom(100)[1])


def walk() -> None:
    """Print each fact, or the error that it gave."""
    found = {}
    for name, fact in FACTS.items():
        try:
            found[name] = fact()
        except OSError as error:
            found[name] = f"{type(error).__name__}: {error.strerror}"
    print(json.dumps(found), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else walk()
