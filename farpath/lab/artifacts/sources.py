"""Sources: the build identity of a run, from the sources of its lab.

A record's directory name depends on the bytes of kernel and modules, which differ between
compilers; by it every record would have to be made again on another machine. The build identity
hashes the sources instead. CPU time is free on the virtual clock, so a compiler decides no packet
(the labs of a container and of a process come from two compilers and give the same fingerprint). C
sources count without comments and blank lines. Of a root file system count only the packages that
send, forward, queue or drop packets, so that a security update of another one invalidates no
record. Where packets depend on the kernel's random numbers all packages count, since every program
that starts in the guest takes some of them. An artifact without known source is hashed by its
bytes; two identities may then differ without need, but never agree wrongly.

The build identity of a host lab's run hashes the plan, the end hosts' packages and the sources
of stacks. Kernel and machine are left out; the record names them, and its CPU figures are of
that machine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

from farpath.base.c_source import file_code
from farpath.base.project import BUILD, IMAGES
from farpath.lab.artifacts import lab_wheel
from farpath.lab.artifacts.images import Images, manifest
from farpath.platforms import platform_of
from farpath.programs.registry import program_of
from farpath.record.identity import build_identity, hash_of
from farpath.spec.kernel_draws import draws_numbers
from farpath.spec.plan import Plan
from farpath.spec.protocol import (
    BACKGROUND_MODULE,
    DELIVERIES_MODULE,
    DISK_MODULE,
    FAR_LINK_MODULE,
    PROCESSOR_MODULE,
)
from farpath.spec.qdiscs import BOTTLENECK, LinkBottleneck
from farpath.spec.stack import Stack
from farpath.spec.user_time import MODULE as USER_TIME_MODULE
from topologies import lay_out

STACKS = IMAGES / "kernel" / "stacks"
DEVICES = IMAGES / "kernel" / "devices"
SEEDRANDOM = IMAGES / "kernel" / "seedrandom.c"
#: The packages of each root file system that decide packets: programs, their own libraries, and the
#: C library, by which they reach the kernel.
DECIDING_PACKAGES = {
    "lab": (
        *("iproute2", "libc6", "mininet", "nftables"),
        *("openvswitch-common", "openvswitch-switch"),
    ),
    "sender": ("iperf3", "iputils-ping", "libc6", "libiperf0"),
}
#: Options in which Kconfig records the versions and features of compiler, linker and so on.
_OF_COMPILER = re.compile(
    r"(# )?CONFIG_(CC|GCC\d*|CLANG|AS|LD|LLD|RUSTC?|HAVE_RUST|PAHOLE|TOOLS)(_|=|\b)"
)


def options(config: str) -> str:
    r"""Return a kernel's configuration without options that depend on the compiler.

    >>> options('# Compiler: gcc 12\nCONFIG_GCC_VERSION=120200\nCONFIG_HZ=1000\n')
    'CONFIG_HZ=1000'
    """
    lines = [line for line in config.splitlines() if line.startswith(("CONFIG_", "# CONFIG_"))]
    return "\n".join(line for line in lines if not _OF_COMPILER.match(line))


def _kernel(images: Images) -> list[str]:
    kernel = images.manifests["kernel"]
    config = (images.kernel / "config").read_text(encoding="utf-8")
    random = (
        hash_of(file_code(SEEDRANDOM)) if SEEDRANDOM.is_file() else str(kernel["seedrandom_hash"])
    )
    return [kernel["source_hash"], hash_of(options(config).encode()), kernel["cflags"], random]


def _root(images: Images, name: str, plan: Plan) -> list[Any]:
    """Return what decides packets in a root file system: farpath's own sources and packages.

    The sources of programs, and the library of a given number of bytes, are among the end hosts'
    for plans that start them.
    """
    root = images.manifests[name]
    versions = root["packages"]
    deciding = sorted(versions) if draws_numbers(plan) else DECIDING_PACKAGES[name]
    own = [root["own_hash"]]
    if name == "sender":
        used = dict.fromkeys(program_of(stack) for stack in plan.stacks)
        own += [root[source] for program in used for source in program.source_hashes]
    if name == "sender" and plan.transfer_bytes:
        own.append(root["transfer_hash"])
    return [*own, [(package, versions.get(package)) for package in deciding]]


def used_devices(plan: Plan) -> tuple[str, ...]:
    """Return the modules of devices that decide a plan's packets; the host lab has none.

    ``drops`` only counts, and is none of them.
    """
    layout = lay_out(plan)
    used = {
        FAR_LINK_MODULE: layout.sites > 1,
        BACKGROUND_MODULE: plan.path.background is not None,
        PROCESSOR_MODULE: plan.era.processor is not None,
        DISK_MODULE: bool(plan.disks),
        DELIVERIES_MODULE: bool(plan.path.rate_trace),
        BOTTLENECK: any(isinstance(port.queue, LinkBottleneck) for port in layout.ports),
        USER_TIME_MODULE: plan.programs,
    }
    return tuple(
        name for name, is_used in used.items() if is_used and platform_of(plan).boots_kernel
    )


def _devices(images: Images, plan: Plan) -> dict[str, Any]:
    """Hash the sources of the devices that a plan uses; of one built from others, its manifest."""
    return {
        name: _source_of_build(built, name, (DEVICES,))
        for name, built in images.device_manifests(used_devices(plan)).items()
    }


def _stack(images: Images, stack: Stack, stack_manifest: Any) -> Any:
    """Return the hash of a stack's module source; without a source, the stack's manifest."""
    if not stack.module:
        return stack_manifest
    if kbuild := _kbuild_source(images.build(stack)):
        return kbuild
    if "source_hash" not in stack_manifest:
        # The module is for another kernel than the lab's; its source is in the same directory.
        return _module_source(images.build(stack), stack.module) or stack_manifest
    return _source_of_build(stack_manifest, stack.module, (images.build(stack), STACKS))


def _source_of_build(built: Any, module: str, directories: Sequence[FilePath]) -> Any:
    """Hash the source that a module was built from; return its manifest if the source is gone."""
    for directory in directories:
        source = directory / f"{module}.c"
        if source.is_file() and _code_hash(source) == built["source_hash"]:
            return _module_source(directory, module)
    return built


def _module_source(directory: FilePath, module: str) -> str | None:
    """Hash a module's source and all headers in its directory; None if it is missing."""
    source = directory / f"{module}.c"
    if not source.is_file():
        return None
    return hash_of(*map(file_code, [source, *sorted(directory.glob("*.h"))]))


def _kbuild_source(directory: FilePath) -> str | None:
    """Hash the sources of a user's module that has a Kbuild, and that; None if it has none."""
    kbuild = sorted(directory.glob("Kbuild*"))
    if not kbuild:
        return None
    sources = (file for file in sorted(directory.rglob("*.[ch]")) if not file.match("*.mod.c"))
    return hash_of(*map(file_code, sources), *(file.read_bytes() for file in kbuild))


def _code_hash(file: FilePath) -> str:
    """Return what the manifest of a build has as the hash of a source."""
    return hashlib.sha256(file_code(file)).hexdigest()


def source_identity(plan: Plan, images: Images) -> str:
    """Return the build identity of a run, from its plan and the sources of its lab."""
    if not platform_of(plan).boots_kernel:
        sources = {
            stack.label: _stack(images, stack, images.stack_manifests([stack])[stack.label])
            for stack in plan.stacks
            if stack.module or stack.build
        }
        hosts = images.host_manifests(plan.images)
        return _host_identity(plan, images.manifests["sender"], sources, hosts)
    stacks = {stack.label: stack for stack in plan.stacks}
    parts = {
        "kernel": _kernel(images),
        "lab": _root(images, "lab", plan),
        "sender": _root(images, "sender", plan),
        "devices": _devices(images, plan),
        "stacks": {
            label: _stack(images, stacks[label], stack_manifest)
            for label, stack_manifest in images.stack_manifests(plan.stacks).items()
        },
        "hosts": images.host_manifests(plan.images),
        **{side: _kernel(side_images) for side, side_images in images.sides.items()},
    }
    return build_identity(plan, parts)


def _host_identity(plan: Plan, sender: Any, sources: Any, hosts: Any) -> str:
    parts = {"sender": sender["packages_hash"], "stacks": sources, "hosts": hosts}
    return build_identity(plan, parts)


def host_build_identity(plan: Plan, build: FilePath = BUILD) -> str:
    """Return the build identity of a host lab's run on any kernel, from this project's sources.

    The plan must have farpath's stacks only, and no users' images. Raises MachineLacksError if
    the end hosts' root is not built.
    """
    sender = manifest(lab_wheel.part(build, "sender"), "sender")
    sources = {
        stack.label: _module_source(STACKS, stack.module) for stack in plan.stacks if stack.module
    }
    return _host_identity(plan, sender, sources, {})
