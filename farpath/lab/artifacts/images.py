"""Images: the built kernel and root file systems of a lab, with their identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.project import BUILD, IS_CLONE
from farpath.lab.artifacts import lab_wheel
from farpath.programs.registry import program_of
from farpath.spec.host_image import HostImage
from farpath.spec.layout import Layout
from farpath.spec.protocol import (
    BACKGROUND_MODULE,
    DELIVERIES_MODULE,
    DISK_MODULE,
    DROPS_MODULE,
    FAR_LINK_MODULE,
    PROCESSOR_MODULE,
)
from farpath.spec.qdiscs import BOTTLENECK
from farpath.spec.sites import side_of
from farpath.spec.stack import Stack
from farpath.spec.user_time import MODULE as USER_TIME_MODULE

#: Kernel options of congestion controls that have another name there.
OPTIONS = {"highspeed": "HSTCP"}
REMEDY = "run 'make setup' in the project's folder" if IS_CLONE else lab_wheel.INSTALL_AGAIN


@dataclass(frozen=True)
class Images:
    """Directories of the built parts of a virtual lab, and their manifests.

    ``kernel``: the kernel. ``lab``: the guest's root. ``sender``: the end hosts' root.
    ``stacks``: farpath's kernel modules. ``own``: builds of users' stacks and images, each in a
    directory named after the build. ``rebuilt``: those of users' modules that were built again for
    this kernel, in place of these. ``sides``: images with another kernel, by the side that has
    it (``farpath.spec.hosts.SIDES``).
    """

    kernel: FilePath
    lab: FilePath
    sender: FilePath
    stacks: FilePath
    own: FilePath
    manifests: dict[str, Any]
    sides: Mapping[str, Images] = field(default_factory=dict)
    rebuilt: Mapping[str, FilePath] = field(default_factory=dict)

    def at_site(self, layout: Layout, site: int) -> Images:
        """Return the images of a site."""
        return self.at_side(side_of(layout, site)) if self.sides else self

    def at_side(self, side: str) -> Images:
        """Return the images of a side."""
        return self.sides.get(side, self)

    @property
    def linux(self) -> FilePath:
        """The kernel's executable."""
        return self.kernel / "linux"

    @property
    def linux_elf(self) -> FilePath:
        """The kernel's ELF file; in a wheel ``linux`` is a script that runs it."""
        program = self.kernel / "linux.elf"
        return program if program.is_file() else self.linux

    @property
    def devices(self) -> tuple[FilePath, ...]:
        """The kernel modules of farpath's devices."""
        names = (
            *(FAR_LINK_MODULE, BACKGROUND_MODULE, PROCESSOR_MODULE, DISK_MODULE, DROPS_MODULE),
            *(DELIVERIES_MODULE, BOTTLENECK),
        )
        return tuple(self.stacks / f"{name}.ko" for name in names)

    @property
    def user_time(self) -> FilePath:
        """The kernel module that gives a user's programs their virtual time."""
        return self.stacks / f"{USER_TIME_MODULE}.ko"

    @property
    def seedrandom(self) -> FilePath:
        """The library that gives the kernel seeded random numbers."""
        return self.kernel / "seedrandom.so"

    def module(self, stack: Stack) -> FilePath | None:
        """Return the kernel module to load for a stack; None if it needs none."""
        if not stack.module:
            return None
        return self.module_file(stack)

    def module_file(self, stack: Stack) -> FilePath:
        """Return the path of a stack's kernel module."""
        return self.build(stack) / f"{stack.module}.ko"

    def check_stacks(self, stacks: Iterable[Stack]) -> None:
        """Raise for a stack that the kernel does not have or that is built for another kernel.

        MachineLacksError if it was built without; BadInputError if it is a user's module, which is
        compiled for the kernel that ``make`` built.
        """
        kernel = self.manifests["kernel"]
        config = (self.kernel / "config").read_text().splitlines()
        for stack in stacks:
            if stack.build and stack.module:
                built = manifest(self.build(stack), stack.label)
                if built["linux_hash"] != kernel["linux_hash"]:
                    raise BadInputError(
                        option="stack",
                        problem=f"{stack.name} is compiled for the lab's own kernel and cannot be "
                        f"loaded into {kernel['release']}: leave out `kernel`, or make that "
                        "kernel the lab's by KERNEL_SRC=<tree> or KERNEL_VERSION=<series>",
                    )
            option = f"CONFIG_TCP_CONG_{OPTIONS.get(stack.congestion, stack.congestion.upper())}"
            built_in = stack.congestion in ("", "reno") or stack.module
            if not built_in and f"{option}=y" not in config:
                release = kernel["release"]
                raise MachineLacksError(
                    f"the lab's kernel {release} has no {stack.congestion} ({option} is not set): "
                    "name it in images/kernel/lab.config and run 'make kernel', or choose another"
                )

    def build(self, stack: Stack) -> FilePath:
        """Return the directory in which a stack was built."""
        program = program_of(stack)
        if program.build_script:
            return self.own.parent / program.name / stack.name
        if not stack.build:
            return self.stacks
        return self.rebuilt.get(stack.build, self.own / stack.build)

    def stack_manifests(self, stacks: Iterable[Stack]) -> dict[str, Any]:
        """Return the manifest of each stack with a module or a build, by its label."""
        return {
            stack.label: self._stack_manifest(stack)
            for stack in stacks
            if stack.module or stack.build or stack.root
        }

    def _stack_manifest(self, stack: Stack) -> Any:
        directory = self.build(stack)
        if stack.module:
            return _module_manifest(directory, stack.module, stack.label)
        return manifest(directory, stack.label)

    def host_manifests(self, hosts: Mapping[str, HostImage]) -> dict[str, Any]:
        """Return the manifest of each user's image, by its end host."""
        return {
            host: manifest(self.own / image.build, f"image {image.name}")
            for host, image in hosts.items()
        }

    def device_manifests(self, devices: Iterable[str]) -> dict[str, Any]:
        """Return the manifest of each module of the lab's devices, by its name."""
        return {device: _module_manifest(self.stacks, device, device) for device in devices}

    def identity(
        self,
        stacks: Iterable[Stack],
        hosts: Mapping[str, HostImage] = MappingProxyType({}),
        devices: Sequence[str] = (),
    ) -> str:
        """Return the SHA-256 over everything in the images that can change a result.

        ``stacks``: those of the run. ``hosts``: users' images, by end host. ``devices``: the
        modules of the lab's devices that the run uses.
        """
        text = json.dumps(
            {
                "linux": self.manifests["kernel"]["linux_hash"],
                "seedrandom": self.manifests["kernel"]["seedrandom_hash"],
                # A build's name is a hash of its inputs other than packages.
                "lab": [self.lab.name, self.manifests["lab"]["packages_hash"]],
                "sender": [self.sender.name, self.manifests["sender"]["packages_hash"]],
                "stacks": self.stack_manifests(stacks),
                "hosts": self.host_manifests(hosts),
                "devices": self.device_manifests(devices),
                **{
                    side: images.identity(stacks, devices=devices)
                    for side, images in self.sides.items()
                },
            },
            sort_keys=True,
        )
        return hashlib.sha256(text.encode()).hexdigest()


def _module_manifest(directory: FilePath, module: str, name: str) -> Any:
    """Return the part of a build's manifest about one of its modules."""
    try:
        return manifest(directory, name)["modules"][module]
    except KeyError as error:
        raise MachineLacksError(
            f"the lab's kernel has no module {error} for {name}: {REMEDY}"
        ) from error


def manifest(directory: FilePath, name: str) -> Any:
    """Read the manifest of a build; raises MachineLacksError if it is missing.

    ``name``: what was built, for the message.
    """
    try:
        return json.loads((directory / "manifest.json").read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise MachineLacksError(
            f"the lab's {name} is not built ({directory}: {error}): {REMEDY}"
        ) from error


def find_images(build: FilePath = BUILD) -> Images:
    """Return the images that ``make setup`` built, or those of an installed lab.

    Raises MachineLacksError if one is missing, and as ``lab_wheel.part``.
    """
    names = ("kernel", "lab", "sender", "stacks")
    directories = {name: lab_wheel.part(build, name) for name in names}
    manifests = {name: manifest(directory, name) for name, directory in directories.items()}
    if manifests["stacks"]["linux_hash"] != manifests["kernel"]["linux_hash"]:
        raise MachineLacksError(f"the lab's stacks are built for another kernel: {REMEDY}")
    return Images(
        kernel=directories["kernel"],
        lab=directories["lab"],
        sender=directories["sender"],
        stacks=directories["stacks"],
        own=build / "own",
        manifests=manifests,
    )
