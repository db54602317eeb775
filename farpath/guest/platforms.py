"""Platforms: the operations that differ between a UML guest and namespaces of the host kernel.

All other guest code is the same on both.
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

#: Directories in which tools write; on the host kernel each is a tmpfs that ends with the lab.
SCRATCH = ("/run", "/tmp", "/var/log")
NO_IPV6 = ("net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.default.disable_ipv6")


class Platform(Protocol):
    """Operations that differ between labs.

    ``shared``: whether other programs use the kernel too. ``crun``: command of the OCI runtime.
    """

    shared: bool
    crun: tuple[str, ...]

    def prepare(self, share: FilePath) -> None:
        """Mount the file systems that the tools need; the shared directory keeps its path."""

    def load_stacks(self, stacks: Sequence[Stack], directory: FilePath) -> None:
        """Make every stack's congestion control available; raises StackError if one is not."""

    def mount_shared(self, directory: str, target: FilePath) -> None:
        """Mount a directory below the shared one at a new path, as the root of containers."""

    def kernel_wide(self, settings: Iterable[str]) -> list[str]:
        """Return the sysctls among these that are not per network namespace."""

    def initial_network_namespace(self) -> AbstractContextManager[None]:
        """Enter the initial network namespace, where kernel-wide sysctls can be read."""

    def dropped_between_ports(self) -> int:
        """Return how many packets were lost between ends of veth pairs since the lab started."""

    def machine_sampling(self, raw: FilePath) -> AbstractContextManager[Sample]:
        """Sample the machine's load into ``raw``; yields the function to call at every sample."""

    def end(self) -> None:
        """End the lab and every process in it."""


class UmlPlatform:
    """User Mode Linux: the guest has its own kernel, and this process is its init."""

    shared = False
    crun: tuple[str, ...] = ("crun", "--cgroup-manager=cgroupfs")

    def prepare(self, share: FilePath) -> None:
        """Mount all file systems but the shared directory, which init mounted."""
        system.mount_all()
        system.prepare_kernel()

    def load_stacks(self, stacks: Sequence[Stack], directory: FilePath) -> None:
        """Load the kernel modules of the stacks."""
        congestion_control.load(stacks, directory)

    def mount_shared(self, directory: str, target: FilePath) -> None:
        """Mount a directory of the host by hostfs."""
        target.mkdir(parents=True)
        system.mount("hostfs", "none", str(target), f"{SHARED_DIRECTORY}/{directory}")

    def kernel_wide(self, settings: Iterable[str]) -> list[str]:
        """Return all sysctls: this process is in the initial network namespace."""
        return list(settings)

    def initial_network_namespace(self) -> AbstractContextManager[None]:
        """Do nothing: this process is in the initial network namespace."""
        return nullcontext()

    def dropped_between_ports(self) -> int:
        """Return the kernel's count, which started with the lab."""
        return system.dropped_between_ports()

    def machine_sampling(self, raw: FilePath) -> AbstractContextManager[Sample]:
        """Sample nothing: a busy machine makes this lab slower but changes no result."""
        return nullcontext(lambda t_s: None)

    def end(self) -> None:
        """Power off; this never returns."""
        system.power_off()
        while True:
            time.sleep(1)


class NamespacePlatform:
    """The host kernel, in namespaces that ``farpath.lab.host`` has unshared.

    These are PID, mount and IPC namespaces. The network namespace is unshared here, so that the
    initial one stays open; kernel-wide sysctls can be read only there.
    """

    shared = True
    # No cgroup limits are set; which cgroups can be written differs between machines.
    crun: tuple[str, ...] = ("crun", "--cgroup-manager=disabled")

    def __init__(self) -> None:
        self.share = FilePath()
        self.initial_namespace = -1
        self.dropped_before = 0

    def prepare(self, share: FilePath) -> None:
        """Unshare the network namespace, and mount a tmpfs on each directory of ``SCRATCH``."""
        self.initial_namespace = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.dropped_before = system.dropped_between_ports()
        os.unshare(os.CLONE_NEWNET)
        disable_ipv6()
        for link in [*share.iterdir(), *(share / IMAGES_DIR).iterdir()]:
            if link.is_symlink():
                _bind_in_place(link)
        os.chdir("/sys/fs/cgroup")
        run("mount", "-t", "sysfs", "sysfs", "/sys")
        _keep_directory(FilePath("/sys/fs/cgroup"))
        os.chdir(share)
        for directory in SCRATCH:
            run("mount", "-t", "tmpfs", "tmpfs", directory)
        share.mkdir(parents=True, exist_ok=True)
        _keep_directory(share)
        os.chdir(share)
        run("ip", "link", "set", "lo", "up")
        self.share = share

    def load_stacks(self, stacks: Sequence[Stack], directory: FilePath) -> None:
        """Check that the stacks are available; ``farpath.lab.host`` has loaded their modules."""
        congestion_control.check_available(stacks)

    def mount_shared(self, directory: str, target: FilePath) -> None:
        """Bind-mount a directory of the host."""
        target.mkdir(parents=True)
        run("mount", "--bind", str(self.share / directory), str(target))

    def kernel_wide(self, settings: Iterable[str]) -> list[str]:
        """Return the sysctls that a new network namespace lacks or cannot set."""
        return [name for name in settings if not sysctl.can_write_setting(name)]

    @contextmanager
    def initial_network_namespace(self) -> Iterator[None]:
        """Enter the host's initial network namespace."""
        former = os.open("/proc/self/ns/net", os.O_RDONLY)
        os.setns(self.initial_namespace, os.CLONE_NEWNET)
        try:
            yield
        finally:
            os.setns(former, os.CLONE_NEWNET)
            os.close(former)

    def dropped_between_ports(self) -> int:
        """Return the growth of the host's count, which includes other programs' losses."""
        return system.dropped_between_ports() - self.dropped_before

    @contextmanager
    def machine_sampling(self, raw: FilePath) -> Iterator[Sample]:
        """Sample the host's load and the lateness of its timers into ``raw``."""
        sampler = MachineSampler(raw)
        try:
            yield sampler.sample
        finally:
            sampler.close()

    def end(self) -> None:
        """Exit: the kernel ends a PID namespace with its first process."""
        sys.stdout.flush()
        os._exit(0)


def disable_ipv6() -> None:
    """Disable IPv6 in this network namespace, also on ports that are created later.

    Without this every port announces itself on the path. The kernel of a UML guest is booted
    without IPv6 and does not need it.
    """
    for name in NO_IPV6:
        if sysctl.has_setting(name):
            sysctl.write_setting(name, "1")


def _bind_in_place(link: FilePath) -> None:
    """Replace a symbolic link by a bind mount of its target, which later mounts would hide."""
    target = link.resolve()
    link.unlink()
    link.mkdir()
    run("mount", "--bind", str(target), str(link))


def _keep_directory(path: FilePath) -> None:
    """Mount the working directory, which another mount hides, with its submounts at ``path``."""
    run("mount", "--no-canonicalize", "--rbind", "/proc/self/cwd", str(path))


def platform_here() -> Platform:
    """Return the platform of this process, which the running kernel decides.

    Raises RuntimeError outside a lab, where mounts would change the host's own file systems.
    """
    if system.is_user_mode_linux():
        return UmlPlatform()
    if os.getpid() != 1:
        raise RuntimeError("a lab's guest is the first process of its namespace: use farpath run")
    return NamespacePlatform()
