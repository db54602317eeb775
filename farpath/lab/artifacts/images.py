"""What a lab boots: the built kernel and root file systems, found and identified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from farpath.base.errors import MachineLacksError
from farpath.base.project import BUILD
from farpath.spec.host_image import HostImage
from farpath.spec.stack import Stack

#: Congestion controls whose option is not called as they are.
OPTIONS = {"highspeed": "HSTCP"}
REMEDY = "run 'make setup' in the project's folder"


@dataclass(frozen=True)
class Images:
    """The built parts of a virtual lab and their manifests.

    ``stacks``: farpath's own kernel modules. ``own``: where builds of users' stacks and
    images stand, each in a directory named after its build.
    """

    kernel: FilePath
    lab: FilePath
    sender: FilePath
    stacks: FilePath
    own: FilePath
    manifests: dict[str, Any]

    @property
    def linux(self) -> FilePath:
        """The kernel: an executable."""
        return self.kernel / "linux"

    @property
    def linux_elf(self) -> FilePath:
        """The kernel's program; in a bundle ``linux`` is a script that runs it."""
        program = self.kernel / "linux.elf"
        return program if program.is_file() else self.linux

    @property
    def seedrandom(self) -> FilePath:
        """The library that gives the kernel its seeded random numbers."""
        return self.kernel / "seedrandom.so"

    def module(self, stack: Stack) -> FilePath | None:
        """The kernel module to load for a stack; None if it needs none."""
        if not stack.module:
            return None
        return self.module_file(stack)

    def module_file(self, stack: Stack) -> FilePath:
        """Where the module of a stack is that brings one."""
        return self.build(stack) / f"{stack.module}.ko"

    def check_stacks(self, stacks: Iterable[Stack]) -> None:
        """Raise MachineLacksError for a stack that the kernel was built without."""
        config = (self.kernel / "config").read_text().splitlines()
        for stack in stacks:
            option = f"CONFIG_TCP_CONG_{OPTIONS.get(stack.congestion, stack.congestion.upper())}"
            built_in = stack.congestion in ("", "reno") or stack.module
            if not built_in and f"{option}=y" not in config:
                release = self.manifests["kernel"]["release"]
                raise MachineLacksError(
                    f"the lab's kernel {release} has no {stack.congestion} ({option} is not set): "
                    "name it in images/kernel/lab.config and run 'make kernel', or choose another"
                )

    def build(self, stack: Stack) -> FilePath:
        """Where a stack's own parts were built."""
        return self.own / stack.build if stack.build else self.stacks

    def stack_manifests(self, stacks: Iterable[Stack]) -> dict[str, Any]:
        """For each stack with parts of its own, the hash of these and their source's."""
        return {
            stack.label: self._stack_manifest(stack)
            for stack in stacks
            if stack.module or stack.build
        }

    def _stack_manifest(self, stack: Stack) -> Any:
        built = manifest(self.build(stack), stack.label)
        try:
            return built["modules"][stack.module] if stack.module else built
        except KeyError as error:
            raise MachineLacksError(
                f"the lab's kernel has no module {error} for {stack.label}: {REMEDY}"
            ) from error

    def host_manifests(self, hosts: Mapping[str, HostImage]) -> dict[str, Any]:
        """For each end host that starts from a user's image, what that holds."""
        return {
            host: manifest(self.own / image.build, f"image {image.name}")
            for host, image in hosts.items()
        }

    def identity(
        self, stacks: Iterable[Stack], hosts: Mapping[str, HostImage] = MappingProxyType({})
    ) -> str:
        """SHA-256 over everything here that can change what a run measures.

        A run of stacks, with users' own images at the ``hosts`` named.
        """
        text = json.dumps(
            {
                "linux": self.manifests["kernel"]["linux_hash"],
                "seedrandom": self.manifests["kernel"]["seedrandom_hash"],
                # A place is named after what went into it beside the packages.
                "lab": [self.lab.name, self.manifests["lab"]["packages_hash"]],
                "sender": [self.sender.name, self.manifests["sender"]["packages_hash"]],
                "stacks": self.stack_manifests(stacks),
                "hosts": self.host_manifests(hosts),
            },
            sort_keys=True,
        )
        return hashlib.sha256(text.encode()).hexdigest()


def manifest(place: FilePath, what: str) -> Any:
    """What a build says of itself; MachineLacksError if it is not there."""
    try:
        return json.loads((place / "manifest.json").read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise MachineLacksError(
            f"the lab's {what} is not built ({place}: {error}): {REMEDY}"
        ) from error


def find_images(build: FilePath = BUILD) -> Images:
    """The images that ``make setup`` built; MachineLacksError if one is missing."""
    places = {name: (build / name).resolve() for name in ("kernel", "lab", "sender", "stacks")}
    manifests = {name: manifest(place, name) for name, place in places.items()}
    if manifests["stacks"]["linux_hash"] != manifests["kernel"]["linux_hash"]:
        raise MachineLacksError(f"the lab's stacks are built for another kernel: {REMEDY}")
    return Images(**places, own=build / "own", manifests=manifests)
