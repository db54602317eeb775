"""The virtual lab: one run inside a User Mode Linux guest, an ordinary process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.errors import BadInputError, CheckFailedError, LabFailedError
from farpath.lab import machine
from farpath.lab.console import Console, Hang, verdict
from farpath.lab.images import PROJECT, Images
from farpath.plan import (
    CODE_DIR,
    IMAGES_DIR,
    MODULES_DIR,
    PLAN_FILE,
    RAW_DIR,
    READBACK_FILE,
    SHARE,
    Plan,
    parse_event,
)
from farpath.stack import IMAGE

#: The guest's clock for each of the lab's (VIRTUAL, CPU, WALL): User Mode Linux's
#: time-travel parameter (arch/um/kernel/time.c).
CLOCKS = {"virtual": ["time-travel=inf-cpu"], "cpu": ["time-travel"], "wall": []}
#: Every guest begins at this moment, in ns: 9 November 2004, 11:33:20 UTC.
START_NS = 1_100_000_000_000_000_000
#: A guest that says nothing for so much real time hangs; it reports every virtual
#: second, and the slowest run seen needed 3 s of real time for one.
QUIET_LIMIT_S = 120.0
#: What costs real time and changes no packet: accounting of socket memory to
#: control groups, and stopping the tick at every idle moment, of which a busy path
#: has 100,000 in a virtual second against 1000 ticks.
TUNING = ("cgroup.memory=nosocket,nokmem", "nohz=off")
#: Paths carry IPv4: without this every namespace announces IPv6 addresses on them
#: (ipv6_defaults in net/ipv6/addrconf.c; a sysctl does not reach later namespaces).
QUIET = ("quiet", "ipv6.disable_ipv6=1")
INIT = "/usr/lib/farpath/init"
#: Events of the guest that decide what a run's end means.
DECIDING = ("done", "failed", "mismatch", "refused", "traffic-failed")

Watch = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class RawRun:
    """What a lab brings back: the tools' own output, read-backs, and its cost."""

    raw: FilePath
    readback: dict[str, Any]
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int


def _parameters(plan: Plan) -> list[str]:
    """Parameters of congestion controls that are built in: they are read at boot."""
    return [
        f"{stack.kernel_parameters}.{name}={value}"
        for stack in plan.stacks
        if stack.congestion and not stack.module
        for name, value in stack.parameters.items()
    ]


def kernel_command(images: Images, plan: Plan, core: int) -> list[str]:
    """The command that boots the guest, to be run in the shared directory.

    It dies with its parent and stays on one core. Its kernel arguments depend on
    the plan alone and hold no directory's name: the kernel mixes its command line into
    its random numbers (random_init_early in drivers/char/random.c), so the name
    would decide which ports are drawn.
    """
    clock = CLOCKS[plan.settings.clock]
    start = [f"time-travel-start={START_NS}"] if clock else []
    return [
        *("setpriv", "--pdeathsig", "KILL", "--"),
        *("taskset", "--cpu-list", str(core)),
        str(images.linux),
        *("rootfstype=hostfs", f"rootflags={SHARE}/root", "ro"),
        f"mem={plan.settings.memory_bytes >> 20}M",
        f"init={INIT}",
        *("con=null", "con0=null,fd:1", "seccomp=on"),
        *QUIET,
        *TUNING,
        *_parameters(plan),
        *clock,
        *start,
    ]


def _fill(share: FilePath, images: Images, plan: Plan) -> None:
    """Give the guest its plan, its code, modules and links to root file systems."""
    (share / PLAN_FILE).write_text(plan.to_json())
    (share / "root").symlink_to((images.lab / "rootfs").resolve())
    (share / "sender").symlink_to((images.sender / "rootfs").resolve())
    (share / MODULES_DIR).mkdir()
    (share / IMAGES_DIR).mkdir()
    for stack in plan.stacks:
        module = images.module(stack)
        if module:
            shutil.copyfile(module, share / MODULES_DIR / module.name)
        if stack.program == IMAGE:
            (share / IMAGES_DIR / stack.name).symlink_to((images.build(stack) / "rootfs").resolve())
    for package in ("farpath", "topologies"):
        shutil.copytree(
            PROJECT / package,
            share / CODE_DIR / package,
            ignore=shutil.ignore_patterns("__pycache__", "lab", "*.csv", "*.toml"),
        )


@contextmanager
def _share(images: Images, plan: Plan) -> Iterator[FilePath]:
    """The run's shared directory, removed even if this process is killed.

    A janitor waits on a pipe that closes when this process ends, however it ends.
    """
    share = machine.share_directory()
    janitor = subprocess.Popen(
        ["sh", "-c", 'read -r _ || :; rm -rf -- "$1"', "farpath-janitor", str(share)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    assert janitor.stdin is not None
    try:
        _fill(share, images, plan)
        yield share
    finally:
        janitor.stdin.close()
        janitor.wait()


def _end(guest: subprocess.Popen[bytes]) -> None:
    """Kill every process of the guest and wait for the first."""
    with suppress(ProcessLookupError):
        os.killpg(guest.pid, signal.SIGKILL)
    guest.wait()


def _follow(console: Console, watch: Watch) -> dict[str, Any]:
    """Read the console to its end; returns the guest's last event that decides."""
    last: dict[str, Any] = {}
    for line in console.lines():
        event = parse_event(line)
        if event is None:
            continue
        watch(event)
        if event["event"] in DECIDING:
            last = event
    return last


def _judge(last: dict[str, Any], console: Console, status: int, log: FilePath) -> None:
    """Raise what a run's end means, unless it is a good end."""
    tail = console.tail()
    kind = last.get("event")
    if kind == "mismatch":
        raise CheckFailedError(
            "the lab is not what was asked for: " + "; ".join(last["differences"])
        )
    if kind == "done":
        return
    if kind == "refused":
        raise BadInputError(f"STACK: {last['what']}; the lab's console is in {log}")
    cause = last.get("what", f"the guest ended early with status {status}")
    known = verdict(last.get("traceback", cause) if last else tail)
    error = known.error if known else LabFailedError
    meaning = known.meaning if known else cause
    # A flow's program that failed has said why; the console would only repeat it.
    detail = "" if kind == "traffic-failed" else tail
    raise error(f"the lab failed: {meaning}; its console is in {log}", detail)


@contextmanager
def play(plan: Plan, images: Images, log: FilePath, watch: Watch) -> Iterator[RawRun]:
    """Run a plan in a fresh guest; what it brings back lives as long as the context.

    ``watch`` gets every event as it comes; what it raises ends the run. Raises
    MachineLacksError before anything boots, LabFailedError for a guest that hangs,
    panics or fails, CheckFailedError for one that is not what was asked.
    """
    machine.check_machine()
    images.check_stacks(plan.stacks)
    memory = machine.memory_directory(plan.settings.memory_bytes)
    environment = {
        "LD_PRELOAD": str(images.seedrandom),
        "FARPATH_SEED": str(plan.seed),
        "TMPDIR": str(memory),
        "HOME": "/tmp",
    }
    with machine.reserved_core() as core, _share(images, plan) as share:
        started = time.monotonic()
        with log.open("wb") as logged:
            guest = subprocess.Popen(
                kernel_command(images, plan, core),
                cwd=share,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**environment, "PATH": os.environ.get("PATH", os.defpath)},
                start_new_session=True,
            )
            assert guest.stdout is not None
            console = Console(guest.stdout, logged, QUIET_LIMIT_S)
            try:
                last = _follow(console, watch)
                usage = os.wait4(guest.pid, 0)
                guest.returncode = os.waitstatus_to_exitcode(usage[1])
            except Hang:
                raise LabFailedError(
                    f"the lab hangs: its console said nothing for {QUIET_LIMIT_S:g} s; "
                    f"it is in {log}",
                    console.tail(),
                ) from None
            finally:
                if guest.returncode is None:
                    _end(guest)
                guest.stdout.close()
        _judge(last, console, guest.returncode, log)
        yield RawRun(
            raw=share / RAW_DIR,
            readback=json.loads((share / READBACK_FILE).read_text()),
            wall_s=time.monotonic() - started,
            cpu_s=usage[2].ru_utime + usage[2].ru_stime,
            peak_memory_bytes=usage[2].ru_maxrss * 1024,
        )
