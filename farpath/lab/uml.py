"""The virtual lab: one run inside a User Mode Linux guest, which is an ordinary process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path as FilePath

from farpath.lab import far_link, machine, process
from farpath.lab.artifacts.images import Images
from farpath.lab.process import Guest, RawRun, Watch
from farpath.lab.progress import SHARED
from farpath.lab.watchdog import Patience, VirtualClock
from farpath.planning.memory import run_bytes
from farpath.spec.hosts import BACKGROUND
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import SHARED_DIRECTORY, SITE_VARIABLE
from farpath.spec.sites import CLOCK_START_NS, FIRST_WINDOW_NS, check_sides
from topologies import lay_out
from topologies.sites import with_control_links

#: Kernel arguments of each clock: User Mode Linux's time-travel parameter
#: (arch/um/kernel/time.c).
CLOCKS = {"virtual": ["time-travel=inf-cpu"], "cpu": ["time-travel"], "wall": []}
#: Kernel arguments that save real time and change no packet. They disable accounting of socket
#: memory to control groups, and stopping of the tick when idle: a busy path is idle 100,000
#: times in a virtual second, which has 1000 ticks.
TUNING = ("cgroup.memory=nosocket,nokmem", "nohz=off")
#: Kernel argument for a kernel that ends when it warns of a fault, such as a congestion control
#: that sleeps, since what follows would be no result.
STRICT = ("panic_on_warn=1",)
#: Kernel arguments for paths of IPv4. Without them every network namespace announces IPv6
#: addresses (ipv6_defaults in net/ipv6/addrconf.c; a sysctl does not affect later namespaces).
QUIET = ("quiet", "ipv6.disable_ipv6=1")
#: Longest time without an event, in virtual s, apart from the flows' end: start of network and
#: end hosts, and pings of an idle path.
OTHER_SILENCE_S = 120.0
#: Longest time in which iperf3 ends, in virtual s and round trips: some retransmission timeouts,
#: each twice the last (RFC 6298, section 5), and some round trips with full buffers.
BUSY_SILENCE_S, BUSY_ROUND_TRIPS = 5.0, 6
#: Path of the guest's first process in the lab's root file system.
INIT = "/usr/lib/farpath/init"
#: Bits of a plan's seed.
SEED_BITS = 31


def _parameters(plan: Plan) -> list[str]:
    """Return kernel arguments with the parameters of built-in congestion controls."""
    return [
        f"{stack.kernel_parameters}.{name}={value}"
        for stack in plan.stacks
        if stack.congestion and not stack.module
        for name, value in stack.parameters.items()
    ]


def kernel_command(
    images: Images, plan: Plan, core: int, site: int = 0, clock_start_ns: int = CLOCK_START_NS
) -> list[str]:
    """Return the command that boots a site's guest, to be run in the shared directory.

    The guest ends with its parent and runs on one core. The kernel arguments depend on the plan
    alone and contain no directory name. The kernel mixes its command line into its random
    numbers (random_init_early in drivers/char/random.c), so a name would decide which ports
    are drawn.
    """
    settings = plan.settings
    parameters = [*_parameters(plan), *([f"{SITE_VARIABLE}={site}"] if site else [])]
    return guest_command(
        *(images, core, settings.memory_bytes, CLOCKS[settings.clock], parameters),
        clock_start_ns=clock_start_ns,
    )


def guest_command(
    images: Images,
    core: int,
    memory_bytes: int,
    clock: Sequence[str] = tuple(CLOCKS["virtual"]),
    parameters: Sequence[str] = (),
    ipv6: bool = False,
    clock_start_ns: int = CLOCK_START_NS,
) -> list[str]:
    """Return ``kernel_command`` for a guest without a plan; ``ipv6``: whether it has IPv6."""
    start = [f"time-travel-start={clock_start_ns}"] if clock else []
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
        *STRICT,
        *parameters,
        *clock,
        *start,
    ]


def guest_environment(images: Images, seed: int, memory_bytes: int) -> dict[str, str]:
    """Return the guest's environment: seeded random numbers, and a directory for its memory.

    ``memory_bytes``: of all guests of the run.

    Raises MachineLacksError if there is no directory for the memory.
    """
    return {
        "LD_PRELOAD": str(images.seedrandom),
        "FARPATH_SEED": str(seed),
        "TMPDIR": str(machine.memory_directory(memory_bytes)),
        "HOME": "/tmp",
    }


def patience_with(plan: Plan) -> Patience:
    """Return how long a plan's guest may go without an event, as when flows end or pings wait.

    A program of a user's image that ends may read the clock in a loop until its path is empty, as
    a static iperf3 does, which takes much CPU time. A process that waits for a timer takes little.
    """
    return Patience(
        busy_virtual_s=BUSY_SILENCE_S + BUSY_ROUND_TRIPS * plan.drain_s,
        virtual_s=plan.grace_s + OTHER_SILENCE_S,
    )


@contextmanager
def play(
    plan: Plan,
    images: Images,
    log: FilePath,
    watch: Watch,
    patience: Patience | None = None,
    beside: Callable[[FilePath], AbstractContextManager[None]] | None = None,
    started: Callable[[int], None] = lambda _pid: None,
    clock_start_ns: int = CLOCK_START_NS,
    environment: Callable[[int], Mapping[str, str]] = lambda _site: {},
) -> Iterator[RawRun]:
    """Run a plan in a new guest; its raw output exists as long as the context.

    ``watch``: called with every event; if it raises, the run ends. ``patience``: by default that of
    ``patience_with``. ``beside``: a context in the shared directory, from before the guest boots
    until the directory is removed. ``started``: called with the id of each guest's first process.
    ``clock_start_ns``: what the guests' clocks show at their start. ``environment``: returns
    further variables of a site's guest, which its kernel alone sees.
    Raises MachineLacksError before the guest boots, and as ``farpath.lab.process.run_guests``.
    """
    machine.check_machine()
    layout = lay_out(plan)
    if images.sides:
        check_sides(layout)
    for site in range(layout.sites):
        images.at_site(layout, site).check_stacks(plan.stacks)
    flows = len(plan.schedule.all_flows)
    windows = f"{flows} flows with windows of {plan.path.window_bytes >> 20} MiB"
    machine.check_memory(run_bytes(plan), windows)
    with ExitStack() as stack:
        cores = stack.enter_context(machine.reserved_cores(layout.sites))
        _tell_of_other_runs(cores, layout.sites, watch)
        share = stack.enter_context(process.shared_directory(images, plan))
        if beside:
            stack.enter_context(beside(share))
        memory = None
        if layout.far_links:
            linked = with_control_links(plan, layout)
            first_ns = clock_start_ns + FIRST_WINDOW_NS - CLOCK_START_NS
            memory = stack.enter_context(far_link.shared_memory(plan, linked, share, first_ns))
        guests = [
            _guest(
                *(images.at_site(layout, site), plan, layout, cores[site % len(cores)], site),
                clock_start_ns,
            )
            for site in range(layout.sites)
        ]
        guests = [
            dataclasses.replace(
                guest,
                started=started,
                environment={**guest.environment, **environment(guest.site)},
            )
            for guest in guests
        ]
        raw = process.run_guests(
            *(guests, share, log, watch, patience or patience_with(plan)),
            [memory.descriptor] if memory else [],
        )
        yield dataclasses.replace(raw, critical_cpu_s=memory.critical_cpu_s()) if memory else raw


def _tell_of_other_runs(cores: Sequence[int], sites: int, watch: Watch) -> None:
    """Tell of runs that keep this one from having a core for each site: it does not wait."""
    wanted = min(sites, machine.available_cores())
    beside = machine.runs_beside(cores)
    if beside or len(cores) < wanted:
        shared = f", shared with {beside} of them" if beside else ""
        watch({"event": SHARED, "what": f"{len(cores)} of {wanted} cores{shared}"})


def _guest(
    images: Images, plan: Plan, layout: Layout, core: int, site: int, clock_start_ns: int
) -> Guest:
    """Return how the guest of a site is started; ``images``: those of the site."""
    hosts = [
        node.name
        for node in layout.nodes
        if node.is_host and node.site == site and node.name != BACKGROUND
    ]
    return Guest(
        kernel_command(images, plan, core, site, clock_start_ns),
        guest_environment(images, _site_seed(plan, site), run_bytes(plan)),
        VirtualClock(images.linux_elf) if CLOCKS[plan.settings.clock] else None,
        site,
        f"site of {hosts[0]}" if layout.sites > 1 else "",
    )


def _site_seed(plan: Plan, site: int) -> int:
    """Return the seed of a site's guest: each draws random numbers of its own."""
    return plan.seed + (site << SEED_BITS)
