"""Program hosts: end hosts on which a user's own programs run, each on a root of its own.

A root is a directory of the host's, which is read only, below a layer in memory that takes what
programs write. So a program of this machine finds its libraries, settings and directories as
they are there, and nothing that it writes reaches the machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import IO, Any

from farpath.guest import system
from farpath.guest.addresses import address
from farpath.guest.containers import BUNDLES, ENVIRONMENT, LISTENING, bundle
from farpath.guest.network import Network
from farpath.guest.program_groups import ProgramGroup, ProgramGroups
from farpath.spec.hosts import CLIENT, SERVER
from farpath.spec.programs import NAMES, WRITTEN_PART, Programs
from farpath.spec.protocol import COLLECTED_DIR, READABLE_DIR, SHARED_DIRECTORY
from farpath.tools.commands import note

#: Where the guest mounts what the hosts share: what programs may read, and what comes back.
SHARED = FilePath("/run/shared")
#: Mounts of a host beside its root (runtime-spec 1.0, Default Filesystems).
MOUNTS: Sequence[Mapping[str, Any]] = (
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {
        "destination": "/sys",
        "type": "sysfs",
        "source": "sysfs",
        "options": ["nosuid", "noexec", "nodev", "ro"],
    },
    {
        "destination": "/dev",
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["mode=755", "nosuid"],
    },
    {
        "destination": "/dev/pts",
        "type": "devpts",
        "source": "devpts",
        "options": ["newinstance", "ptmxmode=0666", "mode=0620"],
    },
)
#: crun without control groups of its own: a program's is made before it starts.
CRUN = ("crun", "--cgroup-manager=disabled")
#: First process of a host, which waits for ever, and its namespaces beside the network's.
INIT = ("sleep", "infinity")
NAMESPACES = {"pid": "pid", "ipc": "ipc"}
#: What glibc prefers of two addresses (gai.conf(5)): a server of IPv4 alone would else cost each
#: client a round trip. Go, Java and musl prefer it by themselves (RFC 6724, section 2.1, for
#: unique local addresses).
IPV4_FIRST = "precedence ::ffff:0:0/96 100\n"
#: Directory in /run that sshd(8) requires and cannot be told otherwise; its service makes it.
PRIVILEGE_SEPARATION = "sshd"
#: What programs read of the processor.
PROCESSOR = FilePath("/proc/cpuinfo")
#: A resource without limit, as runtime-spec has it (RLIM_INFINITY of a 64-bit kernel).
NO_LIMIT = (1 << 64) - 1
#: What root may do inside, as in containers of Docker's, without devices of its own: it can
#: neither mount nor load anything, and so reach no file of the machine but by its root.
CAPABILITIES = (
    *("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL"),
    *("CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP"),
    *("CAP_SETUID", "CAP_SYS_CHROOT"),
)


class Program:
    """A program that was started on a host: the process that waits for it, and its group."""

    def __init__(
        self, process: subprocess.Popen[bytes], group: ProgramGroup, label: str = ""
    ) -> None:
        self.process = process
        self.group = group
        self.label = label

    @property
    def status(self) -> int | None:
        """The status with which it ended, 128 and the signal's number if one ended it."""
        status = self.process.poll()
        return status if status is None or status >= 0 else 128 - status

    @property
    def is_over(self) -> bool:
        """Whether it and all its descendants have ended."""
        return self.process.poll() is not None and self.group.is_empty

    def ask_to_end(self) -> None:
        """Send SIGTERM to it and all its descendants, as systemd ends a service."""
        self.group.end(waiting=self.process.pid)

    def kill(self) -> None:
        """Kill it and all its descendants."""
        self.group.kill()
        self.process.wait()


class ProgramHost:
    """A host with a root and an init of its own; each program runs in a container on it.

    All programs of a host see each other's processes and shared memory. ``groups``: where theirs
    are made.
    """

    def __init__(
        self, name: str, programs: Programs, network: Network, groups: ProgramGroups
    ) -> None:
        self.name = name
        self.programs = programs
        self.place = programs.places[name]
        self.network = network
        self.groups = groups
        self._mount_root()
        self._init = start_init()

    @property
    def disk_bytes(self) -> int:
        """The most that the host's programs may write."""
        return round(WRITTEN_PART * self.programs.memory_bytes)

    @property
    def hostname(self) -> str:
        """The name that the host's programs find as their own."""
        return self.name

    def hosts_text(self) -> str:
        """Return the lines of /etc/hosts."""
        return hosts_file(self.network, self.programs.both_families)

    def _mount_root(self) -> None:
        """Mount the root, with names of the lab's hosts and no name server, and what is shared."""
        lower = BUNDLES / self.name / "lower"
        lower.mkdir(parents=True)
        source = f"{SHARED_DIRECTORY}/{self.place.root}"
        system.mount("hostfs", "none", str(lower), source, read_only=True)
        options = f"mode=755,size={self.disk_bytes}"
        system.mount("tmpfs", "tmpfs", str(self._layers), options)
        settings = self._layers / "root" / "etc"
        settings.mkdir(parents=True)
        (settings / "hosts").write_text(self.hosts_text())
        (settings / "resolv.conf").write_text("")
        (settings / "gai.conf").write_text(IPV4_FIRST)
        self._mount_layered(lower, "root")
        if (run_directory := BUNDLES / self.name / "root" / "run").is_dir():
            (run_directory / PRIVILEGE_SEPARATION).mkdir(exist_ok=True)
        if self.programs.share:
            self._mount_layered(SHARED / READABLE_DIR, READABLE_DIR)
        self._processor.write_text(processor_file(PROCESSOR.read_text()))
        self._shared_memory.mkdir()
        self._shared_memory.chmod(0o1777)

    @property
    def _shared_memory(self) -> FilePath:
        """Directory of the host's POSIX shared memory."""
        return self._layers / "shm"

    @property
    def _processor(self) -> FilePath:
        """File of the host's processor."""
        return self._layers / "cpuinfo"

    @property
    def _layers(self) -> FilePath:
        """Directory with what the programs write."""
        layers = BUNDLES / self.name / "layers"
        layers.mkdir(exist_ok=True)
        return layers

    def _mount_layered(self, lower: FilePath, name: str) -> None:
        """Mount a directory under a layer of this host's own, beside its other mounts."""
        upper, work = self._layers / name, self._layers / f"{name}-work"
        target = BUNDLES / self.name / name
        for directory in (upper, work, target):
            directory.mkdir(exist_ok=True)
        # The mount has the mode and the owner of its layer
        shutil.copystat(lower, upper)
        os.chown(upper, lower.stat().st_uid, lower.stat().st_gid)
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        system.mount("overlay", "overlay", str(target), options)

    def start(
        self,
        label: str,
        command: Sequence[str],
        stdin: IO[bytes] | int,
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> Program:
        """Start a program; ``label``: the name of its container and of its group."""
        place, programs = self.place, self.programs
        environment = ENVIRONMENT | dict(text.partition("=")[::2] for text in place.environment)
        config = bundle(
            *(self.name, self.network.pid(self.name), list(command), environment, place.directory),
            written={},
        )
        config["hostname"] = self.hostname
        config["root"]["readonly"] = False
        process = config["process"]
        process["user"] = {
            "uid": programs.user,
            "gid": programs.group,
            "additionalGids": list(programs.groups),
        }
        process["rlimits"] = [
            {"type": f"RLIMIT_{name.upper()}", "soft": _limit(soft), "hard": _limit(hard)}
            for name, (soft, hard) in programs.limits.items()
        ]
        if programs.user == 0:
            sets = ("bounding", "effective", "permitted")
            process["capabilities"] = dict.fromkeys(sets, CAPABILITIES)
        config["mounts"] = [*MOUNTS, *self._shared_mounts()]
        for namespace in config["linux"]["namespaces"]:
            if file := NAMESPACES.get(namespace["type"]):
                namespace["path"] = f"/proc/{self._init.pid}/ns/{file}"
        directory = BUNDLES / label
        directory.mkdir()
        (directory / "config.json").write_text(json.dumps(config))
        note([*CRUN, "run", label, "--", *command])
        group = self.groups.new(label)
        return Program(
            subprocess.Popen(
                [*CRUN, "run", "--bundle", str(directory), label],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                preexec_fn=group.enter,
            ),
            group,
            label,
        )

    def _shared_mounts(self) -> list[dict[str, Any]]:
        sources = {
            BUNDLES / self.name / READABLE_DIR: self.programs.share,
            SHARED / COLLECTED_DIR: self.programs.collect,
            self._shared_memory: "/dev/shm",
            self._processor: str(PROCESSOR),
        }
        return [
            {
                "destination": destination,
                "type": "bind",
                "source": str(source),
                "options": ["bind", "nosuid", "nodev"],
            }
            for source, destination in sources.items()
            if destination
        ]

    def listens(self, port: int) -> bool:
        """Whether a TCP socket of the host listens on a port."""
        wanted = f":{port:04X}"
        for table in ("tcp", "tcp6"):
            file = FilePath(f"/proc/{self.network.pid(self.name)}/net/{table}")
            for line in file.read_text().splitlines()[1:] if file.exists() else []:
                _, local, _, state, *_ = line.split()
                if local.endswith(wanted) and state == LISTENING[table]:
                    return True
        return False


def _limit(value: int) -> int:
    return NO_LIMIT if value < 0 else value


def start_init() -> subprocess.Popen[bytes]:
    """Start the first process of new PID and IPC namespaces, which takes orphans in.

    It ignores SIGCHLD, so that the kernel itself removes what is left of an orphan that has ended
    (do_notify_parent in kernel/signal.c).
    """
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    os.unshare(os.CLONE_NEWPID)
    try:
        return subprocess.Popen(INIT, stdin=subprocess.DEVNULL, preexec_fn=_become_init)
    finally:
        os.setns(own, os.CLONE_NEWPID)
        os.close(own)


def _become_init() -> None:
    os.unshare(os.CLONE_NEWIPC)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def mount_shared(programs: Programs) -> None:
    """Mount what the hosts share: a directory of the host's, and one in memory."""
    SHARED.mkdir()
    if programs.share:
        (SHARED / READABLE_DIR).mkdir()
        source = f"{SHARED_DIRECTORY}/{READABLE_DIR}"
        system.mount("hostfs", "none", str(SHARED / READABLE_DIR), source, read_only=True)
    if programs.collect:
        (SHARED / COLLECTED_DIR).mkdir()
        system.mount("tmpfs", "tmpfs", str(SHARED / COLLECTED_DIR), "mode=1777")


def copy_collected(share: FilePath) -> None:
    """Copy the files that come back to the host; links and special files are left out.

    The programs may have changed any link since, so none is followed.
    """
    source = SHARED / COLLECTED_DIR
    for directory, _, names in source.walk():
        target = share / COLLECTED_DIR / directory.relative_to(source)
        target.mkdir(parents=True, exist_ok=True)
        for file in (directory / name for name in names):
            if stat.S_ISREG(file.lstat().st_mode):
                shutil.copyfile(file, target / file.name, follow_symlinks=False)


def processor_file(text: str) -> str:
    """Return what /proc/cpuinfo shows: that of User Mode Linux without the machine's own kernel.

    It has a core, without which ps and vmstat of procps 4.0.2 end with an error
    (stat_cores_verify in library/stat.c).
    """
    lines = [line for line in text.splitlines() if line and not line.startswith("host")]
    return "\n".join([*lines, "siblings\t: 1", "core id\t\t: 0", "cpu cores\t: 1", "", ""])


def hosts_file(network: Network, both_families: bool) -> str:
    """Return the lines of /etc/hosts for the lab's hosts, with both families or the plan's."""
    versions = (4, 6) if both_families else (network.plan.ip_version,)
    lines = ["127.0.0.1 localhost"]
    if 6 in versions:
        lines.append("::1 localhost ip6-localhost ip6-loopback")
    of_short_flows = (CLIENT, SERVER) if network.plan.path.short_flows else ()
    for host in network.layout.hosts:
        if host in of_short_flows:
            continue
        names = " ".join(NAMES.get(host, (host,)))
        lines += [f"{address(network.layout, host, one)} {names}" for one in versions]
    return "\n".join(lines) + "\n"
