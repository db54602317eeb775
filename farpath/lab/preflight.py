"""Preflight: checks of everything that a lab needs of this machine, before anything starts."""

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
#: The system's Python, for which Mininet is installed; farpath may run in another one.
PYTHON = "/usr/bin/python3"
#: Tools that the host lab runs, each with its Debian package.
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
#: Tools that only some runs need.
NFT = {"nft": "nftables"}
SOCAT = {"socat": "socat"}
TRACEROUTE = {"traceroute": "traceroute"}
#: Options of a run that need tools or kernel features beyond the basic set.
FURTHER_WORDS = ("DROP", "TRACE", "BACKGROUND", "IP=6", "TOPOLOGY=routed")
#: Capabilities by their bit (include/uapi/linux/capability.h): to configure networks, send
#: pings, load modules, unshare and mount.
CAPABILITIES = {12: "NET_ADMIN", 13: "NET_RAW", 16: "SYS_MODULE", 21: "SYS_ADMIN"}
#: First kernel release in which netem takes a seed (net/sched/sch_netem.c).
LEAST_KERNEL = (6, 6)
#: Kernel options of the lab's modules, for kernels with built-in ones.
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
#: Kernel options that are not modules: the ingress hook of droppers.
DROPPER_OPTIONS = ("CONFIG_NETFILTER_INGRESS", "CONFIG_NF_TABLES_NETDEV")
#: Least tick rate. H-TCP and the retransmission timer count in jiffies, and a busy core switches
#: tasks once a tick; 4 ms is Debian's choice, 10 ms a fortieth of a long path's RTT.
LEAST_HZ = 250
#: Clock sources that are read through a port or by counting ticks, with an error of a
#: microsecond or a tick.
POOR_CLOCKS = ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit")
#: Governors that keep the frequency of a busy core low.
POOR_GOVERNORS = ("powersave",)
#: Least number of cores: one for senders and receivers, one for packet processing.
LEAST_CORES = 2


@dataclass(frozen=True)
class Check:
    """Result of one check.

    ``name``: the thing checked. ``verdict``: ``OK``, ``POOR`` or ``MISSING``. ``finding``: the
    state of the machine. ``remedy``: a sentence.
    """

    name: str
    verdict: str
    finding: str
    remedy: str = ""


def _judged(name: str, good: bool, finding: str, remedy: str, bad: str = MISSING) -> Check:
    return Check(name, OK, finding) if good else Check(name, bad, finding, remedy)


def _read(file: FilePath) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def kernel_config(root: FilePath, release: str) -> str | None:
    """Return the running kernel's configuration from /proc or /boot; None if there is none."""
    try:
        return gzip.decompress((root / "proc/config.gz").read_bytes()).decode()
    except OSError:
        return _read(root / f"boot/config-{release}") or None


@dataclass(frozen=True)
class Modules:
    """The modules of a kernel.

    ``present``: loaded or built in. ``loadable``: with a file under /lib/modules. ``config``: the
    kernel's options.
    """

    present: frozenset[str]
    loadable: frozenset[str]
    config: Mapping[str, str]

    @classmethod
    def of(cls, root: FilePath, release: str) -> Modules:
        """Read the running kernel's modules from /sys, /lib/modules and its configuration."""
        folder = root / "lib/modules" / release
        built_in = _read(folder / "modules.builtin").splitlines()
        depends = [line.partition(":")[0] for line in _read(folder / "modules.dep").splitlines()]
        loaded = [directory.name for directory in (root / "sys/module").glob("*")]
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
        """Describe how a module is available; empty if it is not."""
        if name in self.present or self.config.get(option) == "y":
            return "there"
        return "can be loaded" if name in self.loadable else ""


def _module_name(file: str) -> str:
    """Return the module's name of a file, which may be compressed and have - for _."""
    return file.rpartition("/")[2].partition(".ko")[0].replace("-", "_")


def module_checks(
    modules: Modules,
    release: str,
    stacks: Iterable[Stack],
    module_file: Callable[[Stack], FilePath],
) -> list[Check]:
    """Check the lab's modules and those of stacks.

    ``module_file``: function that returns where the module of a stack must be.
    """
    options = {}
    own_checks = []
    for stack in stacks:
        if stack.module:
            own_checks.append(_own_module(stack, release, module_file(stack)))
        elif stack.congestion not in ("", "reno"):
            option = OPTIONS.get(stack.congestion, stack.congestion.upper())
            options[f"tcp_{stack.congestion}"] = f"CONFIG_TCP_CONG_{option}"
    return [
        *kernel_module_checks(modules, release, LAB_MODULES),
        *_by_option(modules, release, options),
        *own_checks,
    ]


def kernel_module_checks(modules: Modules, release: str, names: Iterable[str]) -> list[Check]:
    """Check modules of ``MODULE_OPTIONS``."""
    return _by_option(modules, release, {name: MODULE_OPTIONS[name] for name in names})


def _by_option(modules: Modules, release: str, options: Mapping[str, str]) -> list[Check]:
    """Check mainline modules, given with their options."""
    checks = []
    for name, option in options.items():
        availability = modules.where(name, option)
        if modules.loadable or option in modules.config or modules.config:
            problem = f"this kernel, {release}, has no {option}"
            remedy = "take a kernel that has it, as Debian's and Ubuntu's own; or LAB=virtual"
        else:
            problem = f"no modules of this kernel, {release}, under /lib/modules"
            remedy = f"{CONTAINER} and sees /lib/modules; or install the kernel's modules"
        checks.append(
            _judged(f"module {name}", bool(availability), availability or problem, remedy)
        )
    return checks


def option_checks(modules: Modules, release: str, options: Iterable[str]) -> list[Check]:
    """Check options that the kernel must be built with; none if its configuration is unknown."""
    remedy = "take a kernel that has it, as Debian's and Ubuntu's own; or LAB=virtual"
    return [
        _judged(option, modules.config.get(option) == "y", f"of this kernel, {release}", remedy)
        for option in options
        if modules.config
    ]


def _own_module(stack: Stack, release: str, file: FilePath) -> Check:
    remedy = f"run 'make modules KDIR=/lib/modules/{release}/build', which puts it there"
    finding = f"{file}" if file.is_file() else f"there is no {file}"
    return _judged(f"module {stack.module}", file.is_file(), finding, remedy)


def capability_check(status: str) -> Check:
    """Check the effective capabilities in /proc/self/status (CapEff, capabilities(7))."""
    (bits,) = [int(line.split()[1], 16) for line in status.splitlines() if line[:7] == "CapEff:"]
    lacking = [name for bit, name in CAPABILITIES.items() if not bits >> bit & 1]
    finding = f"without {', '.join(lacking)}" if lacking else ", ".join(CAPABILITIES.values())
    return _judged(
        "capabilities", not lacking, finding, f"be root; in Docker, --privileged; {CONTAINER}"
    )


def hz_check(hz: int) -> Check:
    """Check the kernel's tick rate."""
    remedy = f"a kernel with CONFIG_HZ={LEAST_HZ} or more"
    return _judged("ticks", hz >= LEAST_HZ, f"HZ={hz}", remedy, POOR)


def high_resolution_check(resolution_s: float) -> Check:
    """Check that the kernel has high-resolution timers (CONFIG_HIGH_RES_TIMERS)."""
    remedy = "a kernel with CONFIG_HIGH_RES_TIMERS, started without highres=off"
    return _judged("timers", resolution_s < 1e-6, f"resolution {resolution_s:g} s", remedy)


def clock_check(source: str) -> Check:
    """Check the kernel's clock source."""
    remedy = "a machine whose tsc is stable, or a hypervisor's own clock"
    return _judged("clock source", source not in POOR_CLOCKS, source or "unknown", remedy, POOR)


def governor_check(governors: Iterable[str]) -> Check:
    """Check the CPU frequency governors."""
    names = sorted(set(governors))
    remedy = "cpupower frequency-set -g performance"
    good = not set(names) & set(POOR_GOVERNORS)
    return _judged("CPU governor", good, ", ".join(names) or "none", remedy, POOR)


def cores_check(cores: int) -> Check:
    """Check the number of cores."""
    return _judged("cores", cores >= LEAST_CORES, str(cores), "two cores or more", POOR)


def memory_check(meminfo: str, needed_bytes: int) -> Check:
    """Check that enough memory for packets and windows is available."""
    rows = dict(line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    free_bytes = int(rows.get("MemAvailable", "0 kB").split()[0]) << 10
    remedy = "free some, or take a shorter or slower path"
    finding = f"{free_bytes >> 20} MiB free, the run needs {needed_bytes >> 20}"
    return _judged("memory", free_bytes >= needed_bytes, finding, remedy)


def ipv6_check(root: FilePath) -> Check:
    """Check that the kernel has IPv6."""
    available = (root / "proc/sys/net/ipv6").is_dir()
    finding = "" if available else "off"
    return _judged("IPv6", available, finding, "modprobe ipv6, or leave IP=6 out")


def kernel_check(release: str) -> Check:
    """Check that the kernel is new enough."""
    numbers = tuple(int(part) for part in release.split("-")[0].split(".")[:2] if part.isdigit())
    least = ".".join(str(number) for number in LEAST_KERNEL)
    remedy = f"Linux {least} or later: netem takes no seed before"
    return _judged("kernel", numbers >= LEAST_KERNEL, release, remedy)


def tool_checks(tools: Mapping[str, str] = HOST_TOOLS) -> list[Check]:
    """Check that tools are installed; they are given with their Debian packages."""
    checks = []
    for tool, package in tools.items():
        tool_path = shutil.which(tool)
        remedy = f"{CONTAINER}; or install the package {package}"
        checks.append(_judged(tool, tool_path is not None, tool_path or "not found", remedy))
    return checks


def word_checks(word: str, root: FilePath = FilePath("/")) -> list[Check]:
    """Check the needs of a run with one option of ``FURTHER_WORDS`` beyond the basic set."""
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
    if word == "TOPOLOGY=routed":
        return tool_checks(TRACEROUTE)
    return [ipv6_check(root)]


def further_checks(root: FilePath = FilePath("/")) -> list[Check]:
    """Check the needs of some runs only; a missing one is ``POOR`` and names these runs."""
    return [
        replace(
            check, name=f"{check.name}, for {word}", verdict=OK if check.verdict == OK else POOR
        )
        for word in FURTHER_WORDS
        for check in word_checks(word, root)
    ]


def _mininet_check() -> Check:
    """Check that the system's Python has Mininet."""
    command = [PYTHON, "-c", "import mininet.net"]
    try:
        available = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        available = False
    finding = f"in {PYTHON}" if available else f"{PYTHON} has none"
    remedy = f"{CONTAINER}; or install the package mininet"
    return _judged("Mininet", available, finding, remedy)


def _namespace_check(root: FilePath) -> Check:
    """Check that this is the initial network namespace, where kernel-wide sysctls can be set."""
    first = os.access(root / "proc/sys/net/core/netdev_max_backlog", os.W_OK)
    finding = "the machine's first" if first else "not the machine's first, or read-only"
    remedy = f"start the container with --privileged --network=host; {CONTAINER}"
    return _judged("network namespace", first, finding, remedy)


def hz_here() -> int:
    """Return the running kernel's ticks per second, from the resolution of its coarse clock."""
    # CLOCK_MONOTONIC_COARSE (include/uapi/linux/time.h) has no name in Python.
    return round(1 / time.clock_getres(6))


def governors_here(root: FilePath) -> list[str]:
    """Return each core's frequency governor; empty if the machine has no control over it."""
    return [
        _read(file)
        for file in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    ]


def clock_source_here(root: FilePath) -> str:
    """Return the name of the clock source in use."""
    return _read(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")


def host_checks(
    stacks: Sequence[Stack],
    module_file: Callable[[Stack], FilePath],
    sender: FilePath,
    memory_bytes: int = Settings.memory_bytes,
    root: FilePath = FilePath("/"),
) -> list[Check]:
    """Check everything that the host lab needs of this machine.

    ``module_file``: function that returns where the module of a stack must be. ``sender``: built
    root file system of the end hosts.
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
        *module_checks(Modules.of(root, release), release, stacks, module_file),
        hz_check(hz_here()),
        high_resolution_check(time.clock_getres(time.CLOCK_MONOTONIC)),
        clock_check(clock_source_here(root)),
        governor_check(governors_here(root)),
        cores_check(machine.available_cores()),
        memory_check(_read(root / "proc/meminfo"), memory_bytes),
    ]


def virtual_checks(memory_bytes: int = Settings.memory_bytes) -> list[Check]:
    """Check everything that the virtual lab needs of this machine."""
    return [
        _check_by_call("platform and tools", machine.check_machine),
        _check_by_call("memory", lambda: machine.memory_directory(memory_bytes)),
        _check_by_call("images", find_images),
    ]


def _check_by_call(name: str, check: Callable[[], object]) -> Check:
    """Turn a function that raises MachineLacksError into a check; the error has the remedy."""
    try:
        result = check()
    except MachineLacksError as error:
        return Check(name, MISSING, error.message)
    return Check(name, OK, str(result) if isinstance(result, FilePath) else "")


def require(checks: Sequence[Check], lab: str = HOST) -> list[str]:
    """Raise MachineLacksError with everything that is missing; return warnings on poor findings."""
    missing = [check for check in checks if check.verdict == MISSING]
    if missing:
        contained = any(CONTAINER in check.remedy for check in missing)
        raise MachineLacksError(
            f"this machine lacks, for the {lab} lab: "
            + "; ".join(f"{check.name} ({check.finding})" for check in missing)
            + (f": {CONTAINER}" if contained else "")
            + f"; 'farpath preflight --lab={lab}' has the remedy for each"
        )
    return [
        f"this machine is poor for the {lab} lab: {check.name}: {check.finding}; {check.remedy}"
        for check in checks
        if check.verdict == POOR
    ]


def table(checks: Sequence[Check]) -> str:
    """Return one line per check: name, verdict, finding and remedy."""
    width = max((len(check.name) for check in checks), default=0)
    return "\n".join(
        f"{check.name:<{width}}  {check.verdict:<7}  {check.finding}"
        + (f": {check.remedy}" if check.remedy else "")
        for check in checks
    )
