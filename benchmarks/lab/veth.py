"""The benchmark of a bare veth pair on this machine's kernel: a packet's cost without a lab."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path as FilePath

from benchmarks.lab.figure import Figure, UnavailableError, peer_figures
from benchmarks.lab.proc import Thread, core_worked_s, foreign_s, thread_of
from farpath.lab.machine import reserved_cores

#: Tools, each with the Debian package that contains it.
TOOLS = {
    "ip": "iproute2",
    "iperf3": "iperf3",
    "ethtool": "ethtool",
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "taskset": "util-linux",
}
PORT_NAME = "veth0"
SENDER, RECEIVER = "192.0.2.1", "192.0.2.2"
#: Whole seconds to count, after one second in which the window opens.
QUICK_SECONDS = 3
FULL_SECONDS = 10
OFFLOADS = ("tso", "off", "gso", "off", "gro", "off")
#: The text that each of iperf3's lines about one second contains, and no earlier line.
INTERVAL_MARK = "bits/sec"
#: iperf3 ends long before; other commands take milliseconds.
COMMAND_LIMIT_S = 30.0

#: Runs a child that is killed when this process ends, however it ends.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")


@contextmanager
def _child(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a process with its output in a pipe; kill it at the end if it still runs."""
    child = subprocess.Popen(
        [*DIE_WITH_PARENT, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        if child.stdout:
            child.stdout.close()


def _await(child: subprocess.Popen[str], mark: str, times: int = 1) -> None:
    """Read a child's lines until that many of them contained ``mark``."""
    assert child.stdout is not None
    lines = []
    for line in child.stdout:
        lines.append(line.strip())
        times -= mark in line
        if times == 0:
            return
    raise UnavailableError(f"{child.args!r} ended: {' '.join(lines[-3:]) or 'it said nothing'}")


def _run(command: list[str]) -> str:
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=COMMAND_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(str(error)) from error
    if result.returncode:
        raise UnavailableError(f"'{' '.join(command)}' said: {result.stderr.strip()}")
    return result.stdout


@dataclass(frozen=True)
class _Namespace:
    """A network namespace that exists as long as the process that holds it."""

    pid: int

    def inside(self, *command: str) -> list[str]:
        """Return a command that runs in this namespace."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", "--", *command]

    def set_port(self, address: str) -> None:
        """Give the port its address, turn its offloads off, and set it up."""
        _run(self.inside("ip", "address", "add", f"{address}/24", "dev", PORT_NAME))
        _run(self.inside("ethtool", "-K", PORT_NAME, *OFFLOADS))
        _run(self.inside("ip", "link", "set", PORT_NAME, "gso_max_segs", "1", "up"))

    def sent_packets(self) -> int:
        """Return the packets that the port has sent so far."""
        links = json.loads(_run(self.inside("ip", "-j", "-s", "link", "show", PORT_NAME)))
        return int(links[0]["stats64"]["tx"]["packets"])


@dataclass(frozen=True)
class _Reading:
    """The packets and work so far, and the CPU time of every thread."""

    at_s: float
    worked_s: float
    threads: dict[int, Thread]
    packets: int


def _threads() -> dict[int, Thread]:
    """Return every visible thread, by its number."""
    threads = {}
    for folder in FilePath("/proc").glob("[0-9]*/task/*"):
        with suppress(OSError):  # it may end while it is read
            stat, schedstat = ((folder / name).read_text() for name in ("stat", "schedstat"))
            threads[int(folder.name)] = thread_of(int(folder.parent.parent.name), stat, schedstat)
    return threads


def _read(core: int, sender: _Namespace) -> _Reading:
    """Read clock, work, threads and packets, one after the other."""
    return _Reading(
        time.monotonic(),
        core_worked_s(FilePath("/proc/stat").read_text(), core, os.sysconf("SC_CLK_TCK")),
        _threads(),
        sender.sent_packets(),
    )


@contextmanager
def _namespace() -> Iterator[_Namespace]:
    """Create a network namespace without a name, so that none can be left behind."""
    with _child(["unshare", "--net", "sh", "-c", "echo ready; exec sleep infinity"]) as holder:
        _await(holder, "ready")
        yield _Namespace(holder.pid)


@contextmanager
def _pair() -> Iterator[tuple[_Namespace, _Namespace]]:
    """Create two network namespaces joined by a veth cable that carries single packets."""
    with _namespace() as sender, _namespace() as receiver:
        link = ["ip", "link", "add", PORT_NAME, "type", "veth"]
        _run(sender.inside(*link, "peer", "name", PORT_NAME, "netns", str(receiver.pid)))
        sender.set_port(SENDER)
        receiver.set_port(RECEIVER)
        yield sender, receiver


def _flow(core: int, seconds: int) -> tuple[_Reading, _Reading, frozenset[int]]:
    """Return readings around that many seconds of iperf3 on one core, and iperf3's processes."""
    with _pair() as (sender, receiver), ExitStack() as stack:
        pinned = ["taskset", "--cpu-list", str(core), "iperf3", "--forceflush"]
        serve = receiver.inside(*pinned, "--server", "--one-off")
        server = stack.enter_context(_child(serve))
        _await(server, "listening")
        length = ["--time", str(seconds + 3), "--interval", "1"]
        client = stack.enter_context(_child(sender.inside(*pinned, "--client", RECEIVER, *length)))
        _await(client, INTERVAL_MARK)
        before = _read(core, sender)
        _await(client, INTERVAL_MARK, times=seconds)
        return before, _read(core, sender), frozenset((server.pid, client.pid))


def _packets_per_cpu_s(seconds: int) -> tuple[float, str]:
    """Return data packets per CPU second, and how the CPU time was determined."""
    with reserved_cores(1) as [core]:
        before, after, own_pids = _flow(core, seconds)
    worked_s = after.worked_s - before.worked_s
    others_s = foreign_s(before.threads, after.threads, core, own_pids)
    if worked_s <= others_s:
        raise UnavailableError(f"core {core} did no work of its own by /proc/stat")
    how = (
        f"the core's busy time by /proc/stat, {worked_s:.1f} of {after.at_s - before.at_s:.1f} s, "
        f"less {others_s:.1f} s of other programs on it"
    )
    return (after.packets - before.packets) / (worked_s - others_s), how


def _check() -> None:
    if os.geteuid() != 0:
        raise UnavailableError("network namespaces need root: run the benchmark as root")
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    if missing:
        raise UnavailableError(f"tools are missing: apt-get install {' '.join(missing)}")


def veth_figures(lab_packets_per_cpu_s: float | None, quick: bool) -> dict[str, Figure]:
    """Measure this machine's own kernel between two namespaces, and compare the lab with it."""

    def measure() -> tuple[float, str]:
        _check()
        value, cpu_time = _packets_per_cpu_s(QUICK_SECONDS if quick else FULL_SECONDS)
        return value, (
            "iperf3 over veth, no delay, switches or rate, offloads off, both ends on one core: "
            f"packets by the port's counter over CPU time ({cpu_time})"
        )

    return peer_figures(
        "veth",
        ("bare veth on this kernel", "lab against bare veth"),
        lab_packets_per_cpu_s,
        measure,
        "data packets per CPU second of the lab by those of bare veth",
    )
