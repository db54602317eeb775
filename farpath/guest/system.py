"""The guest's system: mounts, kernel settings, clock, Open vSwitch, power off."""

from __future__ import annotations

import ctypes
import fcntl
import os
import time
from pathlib import Path as FilePath

from farpath.tools.commands import note, run
from farpath.tools.sysctl import BACKLOG, BACKLOG_PACKETS, write_setting

#: Mounts of kernel file systems that the tools expect, and of a tmpfs where they write; the root
#: file system is read-only and shared by all runs. Each is type, source, target, options.
MOUNTS = (
    ("sysfs", "sysfs", "/sys", ""),
    ("devtmpfs", "devtmpfs", "/dev", ""),
    ("tmpfs", "tmpfs", "/tmp", ""),
    ("tmpfs", "tmpfs", "/var/log", ""),
    ("cgroup2", "cgroup2", "/sys/fs/cgroup", ""),
    ("devpts", "devpts", "/dev/pts", "mode=620,ptmxmode=666"),
    ("tmpfs", "tmpfs", "/dev/shm", ""),
)
#: Flag of mount(2) (include/uapi/linux/mount.h).
MS_RDONLY = 1
#: Operation of prctl(2) (include/uapi/linux/prctl.h).
PR_SET_TIMERSLACK = 29
#: The timer slack of Linux's first process, which all others inherit (init/init_task.c).
LINUX_SLACK_NS = 50_000
#: Request of ioctl(2) for a new key of the random numbers (include/uapi/linux/random.h).
RNDRESEEDCRNG = 0x5207
NS_PER_S = 1_000_000_000
#: Period of the kernel's tick (HZ is 1000), and how long after it ``wait_after_tick`` returns;
#: a process's timer may be 50 us late.
TICK_NS = 1_000_000
AFTER_TICK_NS = 20_000
OVS_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
OVS_RUN_DIR = "/run/openvswitch"


def mount(
    fs_type: str, source: str, target: str, options: str = "", read_only: bool = False
) -> None:
    """Mount a file system without a process of its own, which takes 20 ms of real time.

    Raises OSError if the kernel refuses.
    """
    note(["mount", "-t", fs_type, *(["-o", options] if options else []), source, target])
    libc = ctypes.CDLL(None, use_errno=True)
    words = [word.encode() for word in (source, target, fs_type)]
    if libc.mount(*words, ctypes.c_ulong(MS_RDONLY if read_only else 0), options.encode()):
        raise OSError(ctypes.get_errno(), f"{os.strerror(ctypes.get_errno())}: mount", target)


def mount_all() -> None:
    """Mount the file systems that the lab's tools need."""
    for fs_type, source, target, options in MOUNTS:
        os.makedirs(target, exist_ok=True)
        mount(fs_type, source, target, options)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if not os.path.lexists(f"/dev/{name}"):
            os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")
    if not os.path.lexists("/dev/fd"):
        os.symlink("/proc/self/fd", "/dev/fd")


def prepare_kernel() -> None:
    """Set the guest's kernel to panic when out of memory and to drop no packet between ports."""
    write_setting("vm.panic_on_oom", "1")
    write_setting(BACKLOG, str(BACKLOG_PACKETS))


def wait_until(at_ns: int) -> None:
    """Wait until a time of the monotonic clock, in ns; return at once if it has passed.

    Each reading of the virtual clock takes time, so the number of earlier readings shifts all
    later events against the kernel's ticks. After a wait for a time that the plan decides it no
    longer does.

    sleep() rounds up, so half a nanosecond is subtracted to end the wait exactly at that time.
    A nanosecond more or less, by the number of earlier readings, would be another run.
    """
    time.sleep(max(0.0, (at_ns - time.monotonic_ns() - 0.5) / NS_PER_S))


def renew_random_numbers() -> None:
    """Give the kernel's random numbers a new key.

    In the lab's kernel it follows from the run's seed, the kernel's command line and the number of
    keys (images/kernel/run_start.h). So nothing before it decides a later draw: not how a guest's
    programs were started, and not how many random bytes they took.
    """
    with open("/dev/urandom", "wb") as urandom:
        fcntl.ioctl(urandom, RNDRESEEDCRNG)


def start_second() -> None:
    """Wait until the next whole second, from which packets follow from the plan alone.

    Linux lets a wait last up to 50 us longer, until another timer ends (timer slack, prctl(2)).
    The time from boot decides which one that is, so this wait has no slack.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(1))
    wait_until(next_second_ns())
    libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(LINUX_SLACK_NS))
    renew_random_numbers()


def next_second_ns() -> int:
    """Return the next whole second of the monotonic clock, in ns."""
    return -(-time.monotonic_ns() // NS_PER_S) * NS_PER_S


def monotonic_ns_of(real_ns: int) -> int:
    """Return the time of the monotonic clock at which the real-time clock shows ``real_ns``.

    Every reading of a virtual clock takes the same time, so the one in the middle is exact.
    """
    before_ns = time.time_ns()
    monotonic_ns = time.monotonic_ns()
    after_ns = time.time_ns()
    return real_ns - (before_ns + after_ns) // 2 + monotonic_ns


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
