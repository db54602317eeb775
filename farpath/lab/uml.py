"""The virtual lab: one run inside a User Mode Linux guest, an ordinary process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.lab import machine, process
from farpath.lab.artifacts.images import Images
from farpath.lab.process import RawRun, Watch
from farpath.lab.watchdog import Patience, VirtualClock
from farpath.spec.plan import Plan
from farpath.spec.protocol import SHARED_DIRECTORY

#: The guest's clock for each of the lab's (VIRTUAL, CPU, WALL): User Mode Linux's
#: time-travel parameter (arch/um/kernel/time.c).
CLOCKS = {"virtual": ["time-travel=inf-cpu"], "cpu": ["time-travel"], "wall": []}
#: Every guest begins at this moment, in ns: 9 November 2004, 11:33:20 UTC.
START_NS = 1_100_000_000_000_000_000
#: What costs real time and changes no packet: accounting of socket memory to
#: control groups, and stopping the tick at every idle moment, of which a busy path
#: has 100,000 in a virtual second against 1000 ticks.
TUNING = ("cgroup.memory=nosocket,nokmem", "nohz=off")
#: Paths carry IPv4: without this every namespace announces IPv6 addresses on them
#: (ipv6_defaults in net/ipv6/addrconf.c; a sysctl does not reach later namespaces).
QUIET = ("quiet", "ipv6.disable_ipv6=1")
#: Virtual seconds of silence beside the flows' end: network, end hosts, and pings of an idle path.
OTHER_SILENCE_S = 120.0
#: Virtual seconds in which an iperf3 has ended: some retransmission timeouts, each twice the one
#: before (RFC 6298, section 5), and some round trips over a path with full buffers.
BUSY_SILENCE_S, BUSY_ROUND_TRIPS = 5.0, 6
INIT = "/usr/lib/farpath/init"


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
    settings = plan.settings
    return guest_command(
        images, core, settings.memory_bytes, CLOCKS[settings.clock], _parameters(plan)
    )


def guest_command(
    images: Images,
    core: int,
    memory_bytes: int,
    clock: Sequence[str] = tuple(CLOCKS["virtual"]),
    parameters: Sequence[str] = (),
    ipv6: bool = False,
) -> list[str]:
    """As :func:`kernel_command`, of a guest without a plan; ``ipv6``: whether it has that."""
    start = [f"time-travel-start={START_NS}"] if clock else []
    return [
        *("setpriv", "--pdeathsig", "KILL", "--"),
        *("taskset", "--cpu-list", str(core)),
        str(images.linux),
        *("rootfstype=hostfs", f"rootflags={SHARED_DIRECTORY}/root", "ro"),
        f"mem={memory_bytes >> 20}M",
        f"init={INIT}",
        *("con=null", "con0=null,fd:1", "seccomp=on"),
        *(QUIET[:1] if ipv6 else QUIET),
        *TUNING,
        *parameters,
        *clock,
        *start,
    ]


def guest_environment(images: Images, seed: int, memory_bytes: int) -> dict[str, str]:
    """What the guest's process finds: seeded random numbers, and a place for its memory.

    Raises MachineLacksError where there is none.
    """
    return {
        "LD_PRELOAD": str(images.seedrandom),
        "FARPATH_SEED": str(seed),
        "TMPDIR": str(machine.memory_directory(memory_bytes)),
        "HOME": "/tmp",
    }


def patience_with(plan: Plan) -> Patience:
    """How long a plan's guest may be silent: flows end in silence, and pings wait for answers.

    An iperf3 that ends asks the time in a loop until its path has drained, which takes much CPU;
    who only waits for a timer takes little.
    """
    return Patience(
        busy_virtual_s=BUSY_SILENCE_S + BUSY_ROUND_TRIPS * plan.drain_s,
        virtual_s=plan.grace_s + OTHER_SILENCE_S,
    )


@contextmanager
def play(
    plan: Plan, images: Images, log: FilePath, watch: Watch, patience: Patience | None = None
) -> Iterator[RawRun]:
    """Run a plan in a fresh guest; what it brings back lives as long as the context.

    ``watch`` gets every event as it comes; what it raises ends the run. ``patience``: if not
    what its plan takes. Raises MachineLacksError before anything boots, LabFailedError for a
    guest that hangs, panics or fails, CheckFailedError for one that is not what was asked.
    """
    machine.check_machine()
    images.check_stacks(plan.stacks)
    flows = len(plan.schedule.all_flows)
    windows = f"{flows} flows with windows of {plan.path.window_bytes >> 20} MiB"
    machine.check_memory(plan.settings.memory_bytes, windows)
    environment = guest_environment(images, plan.seed, plan.settings.memory_bytes)
    with machine.reserved_core() as core, process.shared_directory(images, plan) as share:
        command = kernel_command(images, plan, core)
        yield process.run_guest(
            *(command, environment, share, log, watch),
            patience=patience or patience_with(plan),
            clock=VirtualClock(images.linux_elf) if CLOCKS[plan.settings.clock] else None,
        )
