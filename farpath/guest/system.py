"""The guest's system: mounts, kernel settings, clock, Open vSwitch, power off."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path as FilePath

from farpath.tools.commands import run
from farpath.tools.sysctl import BACKLOG, BACKLOG_PACKETS, write_setting

#: Mounts of kernel file systems that the tools expect, and of a tmpfs where they write; the root
#: file system is read-only and shared by all runs. Each is type, source, target, options.
MOUNTS = (
    ("sysfs", "sysfs", "/sys", ""),
    ("devtmpfs", "devtmpfs", "/dev", ""),
    ("tmpfs", "tmpfs", "/tmp", ""),
    ("tmpfs", "tmpfs", "/var/log", ""),
    ("cgroup2", "cgroup2", "/sys/fs/cgroup", ""),
)
NS_PER_S = 1_000_000_000
#: Period of the kernel's tick (HZ is 1000), and how long after it ``wait_after_tick`` returns;
#: a process's timer may be 50 us late.
TICK_NS = 1_000_000
AFTER_TICK_NS = 20_000
OVS_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
OVS_RUN_DIR = "/run/openvswitch"


def mount_all() -> None:
    """Mount the file systems that the lab's tools need."""
    for fs_type, source, target, options in MOUNTS:
        extra = ("-o", options) if options else ()
        run("mount", "-t", fs_type, *extra, source, target)
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
    """Set the guest's kernel to panic when out of memory and to drop no packet between ports."""
    write_setting("vm.panic_on_oom", "1")
    write_setting(BACKLOG, str(BACKLOG_PACKETS))
    run("ip", "link", "set", "lo", "up")


def wait_for_whole_second(announce: Callable[[int], None] = lambda _second: None) -> float:
    """Wait for the next whole second of the monotonic clock, and return it in s.

    Each reading of the virtual clock takes time, so the number of earlier readings shifts all
    later events against the kernel's ticks. From a whole second on it no longer does.
    ``announce`` is called with the second before the wait.

    sleep() rounds up, so half a nanosecond is subtracted to end the wait exactly at the second.
    A nanosecond more or less, by the number of earlier readings, would be another run.
    """
    second = -(-time.monotonic_ns() // NS_PER_S)
    announce(second)
    time.sleep(max(0.0, (second * NS_PER_S - time.monotonic_ns() - 0.5) / NS_PER_S))
    return float(second)


def wait_after_tick() -> None:
    """Wait until just after the kernel's next tick.

    The process that runs at a tick is charged for it, and the charges decide which of several
    runnable processes runs first. A process that reads the clock less than 3900 times after
    this, which takes a millisecond, is charged for no tick and so does not change the run.
    """
    time.sleep((-time.monotonic_ns() % TICK_NS + AFTER_TICK_NS - 0.5) / NS_PER_S)


def start_open_vswitch() -> None:
    """Start Open vSwitch's database server and switch daemon, without its shell scripts."""
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
    """Return how many packets were lost between ends of veth pairs; there should be none.

    Source: /proc/net/softnet_stat, second column (softnet_seq_show in
    net/core/net-procfs.c), one line per processor.
    """
    lines = FilePath("/proc/net/softnet_stat").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1], 16) for line in lines)


def is_user_mode_linux() -> bool:
    """Whether the kernel is User Mode Linux (show_cpuinfo in arch/um/kernel/um_arch.c)."""
    return "User Mode Linux" in FilePath("/proc/cpuinfo").read_text(encoding="ascii")


def power_off() -> None:
    """Power the guest off at once; raises RuntimeError on any other kernel."""
    if not is_user_mode_linux():
        raise RuntimeError("BUG: this is not a UML guest: it is not powered off")
    os.sync()
    FilePath("/proc/sysrq-trigger").write_text("o", encoding="ascii")
