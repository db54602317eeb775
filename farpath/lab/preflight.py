"""What a lab needs of this machine, each thing checked and said before anything starts."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from farpath.base.errors import MachineLacksError
from farpath.lab import machine
from farpath.lab.artifacts.images import OPTIONS, find_images
from farpath.lab.host_kernel import (
    BACKGROUND_MODULES,
    DROPPER_MODULES,
    LAB_MODULES,
    TRACE_MODULES,
)
from farpath.spec.settings import HOST, Settings
from farpath.spec.stack import Stack

OK, POOR, MISSING = "ok", "poor", "missing"
CONTAINER = "run 'make experiment LAB=host', which starts the lab in its container"
#: Python of the system: Mininet is there, whatever farpath itself runs in.
PYTHON = "/usr/bin/python3"
#: What the host lab calls, each with the Debian package that brings it.
HOST_TOOLS = {
    "setpriv": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "modprobe": "kmod",
    "rmmod": "kmod",
    "insmod": "kmod",
    "ovsdb-tool": "openvswitch-switch",
    "ovsdb-server": "openvswitch-switch",
    "ovs-vsctl": "openvswitch-switch",
    "ovs-vswitchd": "openvswitch-switch",
    "mnexec": "mininet",
    "crun": "crun",
    "ip": "iproute2",
    "tc": "iproute2",
    "ethtool": "ethtool",
    "ping": "iputils-ping",
    "stdbuf": "coreutils",
}
#: What only some runs call.
NFT = {"nft": "nftables"}
SOCAT = {"socat": "socat"}
#: Words of a run that need more than others do.
FURTHER_WORDS = ("DROP", "TRACE", "BACKGROUND", "IP=6")
#: Capabilities by their bit (include/uapi/linux/capability.h): set up networks, send
#: pings, load modules, unshare and mount.
CAPABILITIES = {12: "NET_ADMIN", 13: "NET_RAW", 16: "SYS_MODULE", 21: "SYS_ADMIN"}
#: netem takes a seed from here on (net/sched/sch_netem.c).
LEAST_KERNEL = (6, 6)
#: Kernel options of the lab's modules, for kernels that have them built in.
MODULE_OPTIONS = {
    "veth": "CONFIG_VETH",
    "openvswitch": "CONFIG_OPENVSWITCH",
    "sch_netem": "CONFIG_NET_SCH_NETEM",
    "sch_tbf": "CONFIG_NET_SCH_TBF",
    "nf_tables": "CONFIG_NF_TABLES",
    "nft_numgen": "CONFIG_NFT_NUMGEN",
    "inet_diag": "CONFIG_INET_DIAG",
    "tcp_diag": "CONFIG_INET_TCP_DIAG",
    "sch_fq": "CONFIG_NET_SCH_FQ",
}
#: Options that are no module: the hook at which droppers stand.
DROPPER_OPTIONS = ("CONFIG_NETFILTER_INGRESS", "CONFIG_NF_TABLES_NETDEV")
#: H-TCP and the retransmission timer count in jiffies, and a core that is busy hands
#: over once a tick; 4 ms is Debian's choice, 10 ms a fortieth of a long path's RTT.
LEAST_HZ = 250
#: Clocks that are read through a port or by counting ticks: a microsecond or a tick each.
POOR_CLOCKS = ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit")
#: Governors that keep a core slow although there is work for it.
POOR_GOVERNORS = ("powersave",)
#: One core for senders and receivers, one for packets on their way.
LEAST_CORES = 2


@dataclass(frozen=True)
class Check:
    """One thing a lab needs: its name, ok, poor or missing, what was found, the remedy."""

    name: str
    verdict: str
    found: str
    remedy: str = ""


def _judged(name: str, good: bool, found: str, remedy: str, bad: str = MISSING) -> Check:
    return Check(name, OK, found) if good else Check(name, bad, found, remedy)


def _read(file: FilePath) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def kernel_config(root: FilePath, release: str) -> str | None:
    """The running kernel's configuration, if it or its package tells it."""
    try:
        return gzip.decompress((root / "proc/config.gz").read_bytes()).decode()
    except OSError:
        return _read(root / f"boot/config-{release}") or None


@dataclass(frozen=True)
class Modules:
    """The modules that a kernel has: loaded, built in, or ready to be loaded."""

    present: frozenset[str]
    loadable: frozenset[str]
    config: Mapping[str, str]

    @classmethod
    def of(cls, root: FilePath, release: str) -> Modules:
        """Those of the running kernel, by /sys, /lib/modules and its configuration."""
        folder = root / "lib/modules" / release
        built_in = _read(folder / "modules.builtin").splitlines()
        depends = [line.partition(":")[0] for line in _read(folder / "modules.dep").splitlines()]
        loaded = [place.name for place in (root / "sys/module").glob("*")]
        available = _read(root / "proc/sys/net/ipv4/tcp_available_congestion_control").split()
        config = dict(
            line.split("=", 1)
            for line in (kernel_config(root, release) or "").splitlines()
            if line.startswith("CONFIG_") and "=" in line
        )
        names = [_module_name(file) for file in built_in]
        controls = [f"tcp_{name}" for name in available]
        return cls(
            present=frozenset([*names, *loaded, *controls]),
            loadable=frozenset(_module_name(file) for file in depends),
            config=config,
        )

    def where(self, name: str, option: str) -> str:
        """How a module is there; empty if it is not."""
        if name in self.present or self.config.get(option) == "y":
            return "there"
        return "can be loaded" if name in self.loadable else ""


def _module_name(file: str) -> str:
    """The name of a module's file: compressed or not, - for _."""
    return file.rpartition("/")[2].partition(".ko")[0].replace("-", "_")


def module_checks(
    modules: Modules, release: str, stacks: Iterable[Stack], own: Callable[[Stack], FilePath]
) -> list[Check]:
    """The lab's modules and each stack's, by name; ``own``: where a stack's file must be."""
    wanted = {}
    own_checks = []
    for stack in stacks:
        if stack.module:
            own_checks.append(_own_module(stack, release, own(stack)))
        elif stack.congestion not in ("", "reno"):
            option = OPTIONS.get(stack.congestion, stack.congestion.upper())
            wanted[f"tcp_{stack.congestion}"] = f"CONFIG_TCP_CONG_{option}"
    return [
        *kernel_module_checks(modules, release, LAB_MODULES),
        *_by_option(modules, release, wanted),
        *own_checks,
    ]


def kernel_module_checks(modules: Modules, release: str, names: Iterable[str]) -> list[Check]:
    """Modules of :data:`MODULE_OPTIONS`."""
    return _by_option(modules, release, {name: MODULE_OPTIONS[name] for name in names})


def _by_option(modules: Modules, release: str, wanted: Mapping[str, str]) -> list[Check]:
    """The kernel's own modules, each with its option."""
    checks = []
    for name, option in wanted.items():
        where = modules.where(name, option)
        if modules.loadable or option in modules.config or modules.config:
            why = f"this kernel, {release}, has no {option}"
            remedy = "take a kernel that has it, as Debian's and Ubuntu's own; or LAB=virtual"
        else:
            why = f"no modules of this kernel, {release}, under /lib/modules"
            remedy = f"{CONTAINER} and sees /lib/modules; or install the kernel's modules"
        checks.append(_judged(f"module {name}", bool(where), where or why, remedy))
    return checks


def option_checks(modules: Modules, release: str, options: Iterable[str]) -> list[Check]:
    """Options that the kernel must be built with; nothing where it does not tell its own."""
    remedy = "take a kernel that has it, as Debian's and Ubuntu's own; or LAB=virtual"
    return [
        _judged(option, modules.config.get(option) == "y", f"of this kernel, {release}", remedy)
        for option in options
        if modules.config
    ]


def _own_module(stack: Stack, release: str, file: FilePath) -> Check:
    remedy = f"run 'make modules KDIR=/lib/modules/{release}/build', which puts it there"
    found = f"{file}" if file.is_file() else f"there is no {file}"
    return _judged(f"module {stack.module}", file.is_file(), found, remedy)


def capability_check(status: str) -> Check:
    """Root's capabilities by /proc/self/status (CapEff, capabilities(7))."""
    (bits,) = [int(line.split()[1], 16) for line in status.splitlines() if line[:7] == "CapEff:"]
    lacking = [name for bit, name in CAPABILITIES.items() if not bits >> bit & 1]
    found = f"without {', '.join(lacking)}" if lacking else ", ".join(CAPABILITIES.values())
    return _judged(
        "capabilities", not lacking, found, f"be root; in Docker, --privileged; {CONTAINER}"
    )


def hz_check(hz: int) -> Check:
    """How often the kernel ticks in a second."""
    remedy = f"a kernel with CONFIG_HZ={LEAST_HZ} or more"
    return _judged("ticks", hz >= LEAST_HZ, f"HZ={hz}", remedy, POOR)


def high_resolution_check(resolution_s: float) -> Check:
    """Whether timers are those of a clock or of the tick (CONFIG_HIGH_RES_TIMERS)."""
    remedy = "a kernel with CONFIG_HIGH_RES_TIMERS, started without highres=off"
    return _judged("timers", resolution_s < 1e-6, f"resolution {resolution_s:g} s", remedy)


def clock_check(source: str) -> Check:
    """What the kernel reads the time from."""
    remedy = "a machine whose tsc is stable, or a hypervisor's own clock"
    return _judged("clock source", source not in POOR_CLOCKS, source or "unknown", remedy, POOR)


def governor_check(governors: Iterable[str]) -> Check:
    """How the cores' frequency follows their load."""
    names = sorted(set(governors))
    remedy = "cpupower frequency-set -g performance"
    good = not set(names) & set(POOR_GOVERNORS)
    return _judged("CPU governor", good, ", ".join(names) or "none", remedy, POOR)


def cores_check(cores: int) -> Check:
    """How many cores there are for the lab."""
    return _judged("cores", cores >= LEAST_CORES, str(cores), "two cores or more", POOR)


def memory_check(meminfo: str, needed_bytes: int) -> Check:
    """Whether what packets and windows need is free."""
    rows = dict(line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    free_bytes = int(rows.get("MemAvailable", "0 kB").split()[0]) << 10
    remedy = "free some, or take a shorter or slower path"
    found = f"{free_bytes >> 20} MiB free, the run needs {needed_bytes >> 20}"
    return _judged("memory", free_bytes >= needed_bytes, found, remedy)


def ipv6_check(root: FilePath) -> Check:
    """Whether the kernel has IPv6, which a run over it needs."""
    there = (root / "proc/sys/net/ipv6").is_dir()
    return _judged("IPv6", there, "" if there else "off", "modprobe ipv6, or leave IP=6 out")


def kernel_check(release: str) -> Check:
    """Whether the kernel is new enough."""
    numbers = tuple(int(part) for part in release.split("-")[0].split(".")[:2] if part.isdigit())
    least = ".".join(str(number) for number in LEAST_KERNEL)
    remedy = f"Linux {least} or later: netem takes no seed before"
    return _judged("kernel", numbers >= LEAST_KERNEL, release, remedy)


def tool_checks(tools: Mapping[str, str] = HOST_TOOLS) -> list[Check]:
    """Each tool, by the package that brings it."""
    checks = []
    for tool, package in tools.items():
        found = shutil.which(tool)
        remedy = f"{CONTAINER}; or install the package {package}"
        checks.append(_judged(tool, found is not None, found or "not found", remedy))
    return checks


def word_checks(word: str, root: FilePath = FilePath("/")) -> list[Check]:
    """What a run with one of :data:`FURTHER_WORDS` needs beside what every run does."""
    release = os.uname().release
    modules = Modules.of(root, release)
    if word == "DROP":
        return [
            *tool_checks(NFT),
            *kernel_module_checks(modules, release, DROPPER_MODULES),
            *option_checks(modules, release, DROPPER_OPTIONS),
        ]
    if word == "TRACE":
        return kernel_module_checks(modules, release, TRACE_MODULES)
    if word == "BACKGROUND":
        needed = kernel_module_checks(modules, release, BACKGROUND_MODULES)
        return [*tool_checks(SOCAT), *needed]
    return [ipv6_check(root)]


def further_checks(root: FilePath = FilePath("/")) -> list[Check]:
    """What only some runs need: poor where it is missing, and for which."""
    return [
        replace(
            check, name=f"{check.name}, for {word}", verdict=OK if check.verdict == OK else POOR
        )
        for word in FURTHER_WORDS
        for check in word_checks(word, root)
    ]


def _mininet_check() -> Check:
    """Mininet in the system's Python."""
    command = [PYTHON, "-c", "import mininet.net"]
    try:
        there = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        there = False
    found = f"in {PYTHON}" if there else f"{PYTHON} has none"
    remedy = f"{CONTAINER}; or install the package mininet"
    return _judged("Mininet", there, found, remedy)


def _namespace_check(root: FilePath) -> Check:
    """Whether this is the machine's first network namespace: only there can some be set."""
    first = os.access(root / "proc/sys/net/core/netdev_max_backlog", os.W_OK)
    found = "the machine's first" if first else "not the machine's first, or read-only"
    remedy = f"start the container with --privileged --network=host; {CONTAINER}"
    return _judged("network namespace", first, found, remedy)


def hz_here() -> int:
    """Ticks per second of the running kernel: what its coarse clock resolves."""
    # CLOCK_MONOTONIC_COARSE (include/uapi/linux/time.h) has no name in Python.
    return round(1 / time.clock_getres(6))


def governors_here(root: FilePath) -> list[str]:
    """Each core's governor; none on a machine or guest that has no say in it."""
    return [
        _read(file)
        for file in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    ]


def clock_source_here(root: FilePath) -> str:
    """The name of the clock source in use."""
    return _read(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")


def host_checks(
    stacks: Sequence[Stack],
    own: Callable[[Stack], FilePath],
    sender: FilePath,
    memory_bytes: int = Settings.memory_bytes,
    root: FilePath = FilePath("/"),
) -> list[Check]:
    """Everything the host lab needs of this machine.

    ``own``: the file of a stack's own module. ``sender``: the end hosts' root.
    """
    release = os.uname().release
    built = (sender / "manifest.json").is_file()
    return [
        _judged("root", os.geteuid() == 0, f"user {os.geteuid()}", f"be root; {CONTAINER}"),
        capability_check(_read(root / "proc/self/status")),
        _namespace_check(root),
        *tool_checks(),
        _mininet_check(),
        _judged("sender image", built, str(sender), "run 'make setup' in the project's folder"),
        kernel_check(release),
        *module_checks(Modules.of(root, release), release, stacks, own),
        hz_check(hz_here()),
        high_resolution_check(time.clock_getres(time.CLOCK_MONOTONIC)),
        clock_check(clock_source_here(root)),
        governor_check(governors_here(root)),
        cores_check(machine.available_cores()),
        memory_check(_read(root / "proc/meminfo"), memory_bytes),
    ]


def virtual_checks(memory_bytes: int = Settings.memory_bytes) -> list[Check]:
    """Everything the virtual lab needs of this machine."""
    return [
        _tried("platform and tools", machine.check_machine),
        _tried("memory", lambda: machine.memory_directory(memory_bytes)),
        _tried("images", find_images),
    ]


def _tried(name: str, check: Callable[[], object]) -> Check:
    """A check that raises what is missing and names the remedy in the same line."""
    try:
        found = check()
    except MachineLacksError as error:
        return Check(name, MISSING, error.message)
    return Check(name, OK, str(found) if isinstance(found, FilePath) else "")


def require(checks: Sequence[Check], lab: str = HOST) -> list[str]:
    """Raise MachineLacksError that names everything missing; else what is poor, as warnings."""
    missing = [check for check in checks if check.verdict == MISSING]
    if missing:
        contained = any(CONTAINER in check.remedy for check in missing)
        raise MachineLacksError(
            f"this machine lacks, for the {lab} lab: "
            + "; ".join(f"{check.name} ({check.found})" for check in missing)
            + (f": {CONTAINER}" if contained else "")
            + f"; 'farpath preflight --lab={lab}' has the remedy for each"
        )
    return [
        f"this machine is poor for the {lab} lab: {check.name}: {check.found}; {check.remedy}"
        for check in checks
        if check.verdict == POOR
    ]


def table(checks: Sequence[Check]) -> str:
    """One line per check: its name, ok, poor or missing, what was found and the remedy."""
    width = max((len(check.name) for check in checks), default=0)
    return "\n".join(
        f"{check.name:<{width}}  {check.verdict:<7}  {check.found}"
        + (f": {check.remedy}" if check.remedy else "")
        for check in checks
    )
