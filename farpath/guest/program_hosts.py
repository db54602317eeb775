"""Program hosts: end hosts on which a user's own programs run, each on a root of its own.

A root is a directory of the host's, which is read only, below a layer in memory that takes what
programs write. So a program of this machine finds its libraries, settings and directories as
they are there, and nothing that it writes reaches the machine.
"""

from __future__ import annotations

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
        """Mount the root, with names of the lab's hosts and no name server."""
        lower, layer, root = (BUNDLES / self.name / part for part in ("lower", "layer", "root"))
        for directory in (lower, layer, root):
            directory.mkdir(parents=True)
        source = f"{SHARED_DIRECTORY}/{self.place.root}"
        system.mount("hostfs", "none", str(lower), source, read_only=True)
        system.mount("tmpfs", "tmpfs", str(layer), "mode=755")
        upper, work = layer / "upper", layer / "work"
        for directory in (upper / "etc", work):
            directory.mkdir(parents=True)
        (upper / "etc" / "hosts").write_text(hosts_file(self.network))
        (upper / "etc" / "resolv.conf").write_text("")
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        system.mount("overlay", "overlay", str(root), options)

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
        directories = {
            READABLE_DIR: (self.programs.share, ["bind", "ro", "nosuid", "nodev"]),
            COLLECTED_DIR: (self.programs.collect, ["bind", "nosuid", "nodev"]),
        }
        return [
            {
                "destination": destination,
                "type": "bind",
                "source": str(SHARED / name),
                "options": options,
            }
            for name, (destination, options) in directories.items()
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
