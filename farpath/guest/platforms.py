"""The ground under a lab: a kernel of its own, or namespaces of the machine's.

Everything else in the guest is the same on both.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path as FilePath
from typing import Protocol

from farpath.guest import system
from farpath.guest.machine_sampler import MachineSampler
from farpath.spec.protocol import IMAGES_DIR, SHARED_DIRECTORY
from farpath.spec.stack import Stack
from farpath.tools import congestion_control, sysctl
from farpath.tools.commands import run

Sample = Callable[[float], None]

#: Where tools write on the machine's own kernel: memory, which goes with the lab.
SCRATCH = ("/run", "/tmp", "/var/log")
NO_IPV6 = ("net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.default.disable_ipv6")


class Platform(Protocol):
    """What differs between labs. ``shared``: other programs use the kernel too."""

    shared: bool
    crun: tuple[str, ...]

    def prepare(self, share: FilePath) -> None:
        """Mount what the tools need; the shared directory stays where it is."""

    def take_stacks(self, stacks: Sequence[Stack], directory: FilePath) -> None:
        """Have every stack's congestion control; StackError for one that is not there."""

    def mount_shared(self, directory: str, place: FilePath) -> None:
        """Show a directory below the shared one, as a root of containers, at a new place."""

    def kernel_wide(self, settings: Iterable[str]) -> list[str]:
        """Those of some sysctls that the kernel has once, not per network namespace."""

    def whole_kernel(self) -> AbstractContextManager[None]:
        """Be for a while where the kernel-wide settings can be read."""

    def dropped_between_ports(self) -> int:
        """Packets lost between two ends of a virtual cable since the lab began."""

    def watched(self, raw: FilePath) -> AbstractContextManager[Sample]:
        """Watch the machine meanwhile; what it gives is called at every sample."""

    def end(self) -> None:
        """End the lab at once: nothing in it outlives its run."""


class UmlPlatform:
    """User Mode Linux: the guest is the whole machine, and its first process."""

    shared = False
    crun: tuple[str, ...] = ("crun", "--cgroup-manager=cgroupfs")

    def prepare(self, share: FilePath) -> None:
        """Mount everything beside the shared directory, which init mounted."""
        system.mount_all()
        system.prepare_kernel()

    def take_stacks(self, stacks: Sequence[Stack], directory: FilePath) -> None:
        """Load the modules that the stacks bring."""
        congestion_control.load(stacks, directory)

    def mount_shared(self, directory: str, place: FilePath) -> None:
        """Mount a directory outside the guest, past the guest's own root."""
        place.mkdir(parents=True)
        run(
            "mount",
            "-t",
            "hostfs",
            "-o",
            f"hostfs={SHARED_DIRECTORY}/{directory}",
            "none",
            str(place),
        )

    def kernel_wide(self, settings: Iterable[str]) -> list[str]:
        """All: this is the kernel's first namespace."""
        return list(settings)

    def whole_kernel(self) -> AbstractContextManager[None]:
        """Where we are."""
        return nullcontext()

    def dropped_between_ports(self) -> int:
        """The kernel's own count, which began with the lab."""
        return system.dropped_between_ports()

    def watched(self, raw: FilePath) -> AbstractContextManager[Sample]:
        """Nothing: a busy machine makes this lab slower, not different."""
        return nullcontext(lambda t_s: None)

    def end(self) -> None:
        """Power off; never returns."""
        system.power_off()
        while True:
            time.sleep(1)


class NamespacePlatform:
    """The machine's kernel, in namespaces that ``farpath.lab.host`` has unshared.

    Those are of processes, mounts and System V's things; the network's is made here,
    so that the machine's first one stays at hand, in which kernel-wide settings are.
    """

    shared = True
    # Which cgroups may be written differs from machine to machine; no limit is set.
    crun: tuple[str, ...] = ("crun", "--cgroup-manager=disabled")

    def __init__(self) -> None:
        self.share = FilePath()
        self.first = -1
        self.dropped_before = 0

    def prepare(self, share: FilePath) -> None:
        """A network namespace, and memory where tools write; the rest of the root stays."""
        self.first = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.dropped_before = system.dropped_between_ports()
        os.unshare(os.CLONE_NEWNET)
        silence()
        for link in [*share.iterdir(), *(share / IMAGES_DIR).iterdir()]:
            if link.is_symlink():
                _bind_in_place(link)
        os.chdir("/sys/fs/cgroup")
        run("mount", "-t", "sysfs", "sysfs", "/sys")
        _keep_directory(FilePath("/sys/fs/cgroup"))
        os.chdir(share)
        for place in SCRATCH:
            run("mount", "-t", "tmpfs", "tmpfs", place)
        share.mkdir(parents=True, exist_ok=True)
        _keep_directory(share)
        os.chdir(share)
        run("ip", "link", "set", "lo", "up")
        self.share = share

    def take_stacks(self, stacks: Sequence[Stack], directory: FilePath) -> None:
        """They were loaded and allowed before; see that they are there."""
        congestion_control.check_available(stacks)

    def mount_shared(self, directory: str, place: FilePath) -> None:
        """Mount a directory of the machine."""
        place.mkdir(parents=True)
        run("mount", "--bind", str(self.share / directory), str(place))

    def kernel_wide(self, settings: Iterable[str]) -> list[str]:
        """Those that a network namespace of one's own lacks or cannot set."""
        return [name for name in settings if not sysctl.can_write_setting(name)]

    @contextmanager
    def whole_kernel(self) -> Iterator[None]:
        """Be in the machine's first network namespace."""
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        os.setns(self.first, os.CLONE_NEWNET)
        try:
            yield
        finally:
            os.setns(home, os.CLONE_NEWNET)
            os.close(home)

    def dropped_between_ports(self) -> int:
        """What the machine's count grew by; other programs' losses count too."""
        return system.dropped_between_ports() - self.dropped_before

    @contextmanager
    def watched(self, raw: FilePath) -> Iterator[Sample]:
        """Sample the machine's load and its timers' lag into ``raw``."""
        watch = MachineSampler(raw)
        try:
            yield watch.sample
        finally:
            watch.close()

    def end(self) -> None:
        """Leave: with the first process of its namespaces all of the lab ends."""
        sys.stdout.flush()
        os._exit(0)


def silence() -> None:
    """Switch IPv6 off in this network namespace, for ports to come too.

    Without it every port announces itself on the path. A guest's own kernel is started
    without IPv6 and needs none of this.
    """
    for name in NO_IPV6:
        if sysctl.has_setting(name):
            sysctl.write_setting(name, "1")


def _bind_in_place(link: FilePath) -> None:
    """Put the directory that a link means in the link's place, before it is hidden."""
    target = link.resolve()
    link.unlink()
    link.mkdir()
    run("mount", "--bind", str(target), str(link))


def _keep_directory(place: FilePath) -> None:
    """Show the working directory, which a mount has hidden, with all mounts on it."""
    run("mount", "--no-canonicalize", "--rbind", "/proc/self/cwd", str(place))


def platform_here() -> Platform:
    """The ground this process stands on: which kernel runs decides, nothing else.

    Raises RuntimeError outside both: mounts would be the machine's own.
    """
    if system.is_user_mode_linux():
        return UmlPlatform()
    if os.getpid() != 1:
        raise RuntimeError("a lab's guest is the first process of its namespace: use farpath run")
    return NamespacePlatform()
