"""The guest's system: mounts, kernel settings, Open vSwitch, power off."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path as FilePath

from farpath.tools.commands import run
from farpath.tools.sysctl import BACKLOG, BACKLOG_PACKETS, write_setting

#: Kernel file systems the tools expect, and memory where they write: the root
#: itself is read-only and shared by every run.
MOUNTS = (
    ("sysfs", "sysfs", "/sys", ""),
    ("devtmpfs", "devtmpfs", "/dev", ""),
    ("tmpfs", "tmpfs", "/tmp", ""),
    ("tmpfs", "tmpfs", "/var/log", ""),
    ("cgroup2", "cgroup2", "/sys/fs/cgroup", ""),
)
NS_PER_S = 1_000_000_000
#: HZ is 1000; a timer of a process may be 50 us late.
TICK_NS = 1_000_000
AFTER_TICK_NS = 20_000
OVS_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
OVS_RUN_DIR = "/run/openvswitch"


def mount_all() -> None:
    """Mount what the tools of the lab need."""
    for kind, source, target, options in MOUNTS:
        extra = ("-o", options) if options else ()
        run("mount", "-t", kind, *extra, source, target)
    for directory in ("/dev/pts", "/dev/shm"):
        os.makedirs(directory, exist_ok=True)
    run("mount", "-t", "devpts", "-o", "mode=620,ptmxmode=666", "devpts", "/dev/pts")
    run("mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if not os.path.lexists(f"/dev/{name}"):
            os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")
    if not os.path.lexists("/dev/fd"):
        os.symlink("/proc/self/fd", "/dev/fd")


def prepare_kernel() -> None:
    """Settings of the whole guest: fail loudly, lose nothing."""
    write_setting("vm.panic_on_oom", "1")
    write_setting(BACKLOG, str(BACKLOG_PACKETS))
    run("ip", "link", "set", "lo", "up")


def whole_second(announce: Callable[[int], None] = lambda _second: None) -> float:
    """Wait for the next whole second of the monotonic clock, and give it.

    Each reading of the virtual clock takes time, so what the lab does before moves all that
    comes after against the kernel's ticks; from a whole second on it no longer does.
    ``announce`` is told the second before it has come.

    Half a nanosecond less makes what sleep() rounds up come out whole. A nanosecond more
    or less, by how many readings there were before, would be another run.
    """
    second = -(-time.monotonic_ns() // NS_PER_S)
    announce(second)
    time.sleep(max(0.0, (second * NS_PER_S - time.monotonic_ns() - 0.5) / NS_PER_S))
    return float(second)


def after_tick() -> None:
    """Wait until just after the kernel's next tick.

    Who runs when a tick comes is charged for it, and who was charged decides who runs first
    where several can. What reads the clock less than 3900 times, a millisecond, after this
    is charged for none, and so leaves no trace in the run.
    """
    time.sleep((-time.monotonic_ns() % TICK_NS + AFTER_TICK_NS - 0.5) / NS_PER_S)


def start_open_vswitch() -> None:
    """Start Open vSwitch's database and switch daemon, without its shell scripts."""
    os.makedirs(OVS_RUN_DIR, exist_ok=True)
    os.makedirs("/var/log/openvswitch", exist_ok=True)
    database = f"{OVS_RUN_DIR}/conf.db"
    run("ovsdb-tool", "create", database, OVS_SCHEMA)
    run(
        "ovsdb-server",
        database,
        f"--remote=punix:{OVS_RUN_DIR}/db.sock",
        "--detach",
        "--pidfile",
        "--log-file",
    )
    run("ovs-vsctl", "--no-wait", "init")
    run("ovs-vswitchd", "--detach", "--pidfile", "--log-file")


def dropped_between_ports() -> int:
    """Packets lost between two ends of a virtual cable; none may be.

    Source: /proc/net/softnet_stat, second column (softnet_seq_show in
    net/core/net-procfs.c), one line per processor.
    """
    lines = FilePath("/proc/net/softnet_stat").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1], 16) for line in lines)


def is_user_mode_linux() -> bool:
    """Whether the kernel is a guest's own (show_cpuinfo in arch/um/kernel/um_arch.c)."""
    return "User Mode Linux" in FilePath("/proc/cpuinfo").read_text(encoding="ascii")


def power_off() -> None:
    """End the guest at once: nothing in it outlives its run. Never a machine."""
    if not is_user_mode_linux():
        raise RuntimeError("BUG: this is no guest, it will not be switched off")
    os.sync()
    FilePath("/proc/sysrq-trigger").write_text("o", encoding="ascii")
