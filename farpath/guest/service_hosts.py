"""Service hosts: a host for each service, with its names, its volumes and its disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from itertools import count
from pathlib import Path as FilePath
from typing import Any

from farpath.guest import system, user_time
from farpath.guest.addresses import address, port_address
from farpath.guest.containers import BUNDLES
from farpath.guest.network import Network
from farpath.guest.program_groups import ProgramGroups
from farpath.guest.program_hosts import SHARED, Program, ProgramHost
from farpath.spec.programs import Programs
from farpath.spec.protocol import SHARED_DIRECTORY
from farpath.spec.services import VOLUMES_DIR, Service, Services, Volume
from farpath.tools.commands import run
from topologies.sites import network_of, site_switches

#: Where the guest mounts what services share, beside places of the machine's.
NAMED = "named"


def mount_volumes(share: FilePath, services: Services, own: Sequence[Service]) -> None:
    """Mount the places of the machine that services read, and make the volumes that they share.

    ``own``: the services of this guest.
    """
    volumes = [volume for one in own for volume in one.volumes]
    SHARED.mkdir()
    (SHARED / VOLUMES_DIR).mkdir()
    (SHARED / NAMED).mkdir()
    for number in sorted({volume.number for volume in volumes if not volume.name}):
        place = SHARED / VOLUMES_DIR / str(number)
        place.mkdir()
        source = f"{SHARED_DIRECTORY}/{VOLUMES_DIR}/{number}"
        system.mount("hostfs", "none", str(place), source, read_only=True)
    for name in sorted({volume.name for volume in volumes if volume.name}):
        place = SHARED / NAMED / name
        place.mkdir()
        size = services.memory_bytes
        system.mount("tmpfs", "tmpfs", str(place), f"mode=777,size={size}")


class ServiceHost(ProgramHost):
    """The host of a service."""

    def __init__(
        self, service: Service, services: Services, network: Network, groups: ProgramGroups
    ) -> None:
        self.service = service
        self.services = services
        self._checks = count(1)
        programs = Programs(
            client=service.command,
            servers=(),
            places={service.host: service.place},
            user=service.user,
            group=service.group,
            groups=service.groups,
            timeout_s=services.timeout_s,
            limits=services.limits,
            memory_bytes=services.memory_bytes,
            both_families=services.both_families,
        )
        super().__init__(service.host, programs, network, groups)
        for number, volume in enumerate(service.volumes):
            self._mount_volume(number, volume)

    @property
    def hostname(self) -> str:
        """The first of its names."""
        return self.service.names[0]

    def hosts_text(self) -> str:
        """Return the lines of /etc/hosts: the hosts of all services with all their names."""
        versions = (4, 6) if self.services.both_families else (self.network.plan.ip_version,)
        lines = ["127.0.0.1 localhost"]
        if 6 in versions:
            lines.append("::1 localhost ip6-localhost ip6-loopback")
        for one in self.services.services:
            names = " ".join(one.names)
            lines += [
                f"{address(self.network.layout, one.host, version)} {names}" for version in versions
            ]
            lines += self._further_lines(one, versions)
        return "\n".join(lines) + "\n"

    def _further_lines(self, one: Service, versions: tuple[int, ...]) -> list[str]:
        """Return lines of a service's addresses at its sites, if it stands at several."""
        layout = self.network.layout
        ports = layout.host_ports(one.host)
        if not ports[1:]:
            return []
        network = network_of(self.network.plan)
        switches = site_switches(network, self.services.probes)
        sites = {switch: site for site, switch in switches.items()}
        return [
            f"{port_address(layout, port, version)} {one.names[0]}.{sites[step.end]}"
            for port, step in zip(ports, network.steps[one.host], strict=True)
            for version in versions
        ]

    def _mount_volume(self, number: int, volume: Volume) -> None:
        """Mount a volume below a layer of this host's own, or copy a file into that."""
        if volume.name:
            return
        source = SHARED / VOLUMES_DIR / str(volume.number)
        if not volume.file:
            self._mount_layered(source, self._volume(number))
            return
        target = self._layers / self._volume(number)
        shutil.copy2(source / volume.file, target)
        state = (source / volume.file).stat()
        os.chown(target, state.st_uid, state.st_gid)

    @staticmethod
    def _volume(number: int) -> str:
        return f"volume-{number}"

    def _volume_source(self, number: int, volume: Volume) -> FilePath:
        if volume.name:
            return SHARED / NAMED / volume.name
        if volume.file:
            return self._layers / self._volume(number)
        return BUNDLES / self.name / self._volume(number)

    def _shared_mounts(self) -> list[dict[str, Any]]:
        mounts = [
            {
                "destination": volume.target,
                "type": "bind",
                "source": str(self._volume_source(number, volume)),
                "options": ["bind", "nosuid", "nodev"],
            }
            for number, volume in enumerate(self.service.volumes)
        ]
        return [*super()._shared_mounts(), *mounts]

    def check(self, command: Sequence[str]) -> Program:
        """Start a health check, whose output nobody reads."""
        label = f"check-{self.service.name}-{next(self._checks)}"
        with open(os.devnull, "wb") as nowhere:
            return self.start(label, command, subprocess.DEVNULL, nowhere, nowhere)

    def forget(self, program: Program) -> None:
        """Remove what is left of a program that has ended."""
        shutil.rmtree(BUNDLES / program.label)
        program.group.remove()

    def fill_disk(self) -> int:
        """Leave no room on the host's disk; return the bytes that are free now."""
        state = os.statvfs(self._layers)
        used_bytes = (state.f_blocks - state.f_bfree) * state.f_frsize
        self._resize(used_bytes)
        return self._free_bytes()

    def free_disk(self) -> int:
        """Give the disk its size again; return the bytes that are free now."""
        self._resize(self.disk_bytes)
        return self._free_bytes()

    def step_clock(self, ahead_s: float) -> float:
        """Set by how much the host's wall clock is ahead of the lab's; return it, read back."""
        namespace = user_time.namespace_number(self._init.pid, "pid")
        return user_time.step_clock(namespace, ahead_s)

    def _resize(self, size_bytes: int) -> None:
        run("mount", "-o", f"remount,size={size_bytes}", str(self._layers))

    def _free_bytes(self) -> int:
        state = os.statvfs(self._layers)
        return state.f_bavail * state.f_frsize
