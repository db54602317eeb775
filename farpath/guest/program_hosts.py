"""Program hosts: end hosts on which a user's own programs run, each on a root of its own.

A root is a directory of the host's, which is read only, below a layer in memory that takes what
programs write. So a program of this machine finds its libraries, settings and directories as
they are there, and nothing that it writes reaches the machine.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import IO, Any

from farpath.guest import system
from farpath.guest.containers import BUNDLES, ENVIRONMENT, bundle, start_container
from farpath.guest.network import Network
from farpath.guest.platforms import Platform
from farpath.spec.programs import NAMES, Programs
from farpath.spec.protocol import COLLECTED_DIR, READABLE_DIR, SHARED_DIRECTORY

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
    {
        "destination": "/dev/shm",
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["mode=1777", "nosuid", "nodev"],
    },
)
#: What root may do inside, as in containers of Docker's, without devices of its own: it can
#: neither mount nor load anything, and so reach no file of the machine but by its root.
CAPABILITIES = (
    *("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL"),
    *("CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP"),
    *("CAP_SETUID", "CAP_SYS_CHROOT"),
)


class ProgramHost:
    """A host with a root of its own; each program runs in a new container on it."""

    def __init__(self, name: str, programs: Programs, network: Network, platform: Platform) -> None:
        self.name = name
        self.programs = programs
        self.place = programs.places[name]
        self.network = network
        self.platform = platform
        self._mount_root()

    def _mount_root(self) -> None:
        """Mount the root, with names of the lab's hosts and no name server, and what is shared."""
        lower = BUNDLES / self.name / "lower"
        lower.mkdir(parents=True)
        source = f"{SHARED_DIRECTORY}/{self.place.root}"
        system.mount("hostfs", "none", str(lower), source, read_only=True)
        system.mount("tmpfs", "tmpfs", str(self._layers), "mode=755")
        settings = self._layers / "root" / "etc"
        settings.mkdir(parents=True)
        (settings / "hosts").write_text(hosts_file(self.network))
        (settings / "resolv.conf").write_text("")
        self._mount_layered(lower, "root")
        if self.programs.share:
            self._mount_layered(SHARED / READABLE_DIR, READABLE_DIR)

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
        self, label: str, command: Sequence[str], stdout: IO[bytes], stderr: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Start a program; ``label``: the name of its container."""
        place, programs = self.place, self.programs
        environment = ENVIRONMENT | dict(text.partition("=")[::2] for text in place.environment)
        config = bundle(
            *(self.name, self.network.pid(self.name), list(command), environment, place.directory)
        )
        config["root"]["readonly"] = False
        config["process"]["user"] = {"uid": programs.user, "gid": programs.group}
        if programs.user == 0:
            sets = ("bounding", "effective", "permitted")
            config["process"]["capabilities"] = dict.fromkeys(sets, CAPABILITIES)
        config["mounts"] = [*MOUNTS, *self._shared_mounts()]
        return start_container(self.platform, label, config, stdout, stderr)

    def _shared_mounts(self) -> list[dict[str, Any]]:
        sources = {
            BUNDLES / self.name / READABLE_DIR: self.programs.share,
            SHARED / COLLECTED_DIR: self.programs.collect,
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

    def signal(self, label: str, name: str) -> None:
        """Send a signal to a program, by the name of its container; it may have ended already."""
        subprocess.run([*self.platform.crun, "kill", label, name], capture_output=True, check=False)


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


def hosts_file(network: Network) -> str:
    """Return the lines of /etc/hosts for the lab's hosts."""
    lines = ["127.0.0.1 localhost"]
    for host in network.layout.hosts:
        names = NAMES.get(host, (host,))
        lines.append(f"{network.address(host)} {' '.join(names)}")
    return "\n".join(lines) + "\n"
