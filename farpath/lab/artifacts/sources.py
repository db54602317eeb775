"""Sources: what a run's lab was built from, whichever compiler made bytes of it.

A record's place is named after the very bytes of kernel and modules, which every
compiler writes otherwise; so on another machine each record would have to be made
again. The build identity holds what these were compiled from instead: CPU is free on the
virtual clock, so that a compiler decides no packet (a container's and a process's labs
are of two compilers and give one fingerprint). What is only there as bytes counts as
those; then two identities differ that need not, never the reverse.

Of a run of the host lab it holds what was asked, the end hosts' packages and the sources of
stacks: kernel and machine are those of where it was made, and CPU figures are of that machine,
which the record names.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path as FilePath
from typing import Any

from farpath.base.project import BUILD, PROJECT
from farpath.lab.artifacts.images import Images, manifest
from farpath.record.identity import build_identity, hash_of
from farpath.spec.plan import Plan
from farpath.spec.settings import HOST
from farpath.spec.stack import Stack

STACKS = PROJECT / "images" / "kernel" / "stacks"
SEEDRANDOM = PROJECT / "images" / "kernel" / "seedrandom.c"
#: Options by which Kconfig notes what it found of compiler, linker and the like.
_OF_COMPILER = re.compile(
    r"(# )?CONFIG_(CC|GCC\d*|CLANG|AS|LD|LLD|RUSTC?|HAVE_RUST|PAHOLE|TOOLS)(_|=|\b)"
)


def options(config: str) -> str:
    r"""A kernel's configuration without what it says of the compiler.

    >>> options('# Compiler: gcc 12\nCONFIG_GCC_VERSION=120200\nCONFIG_HZ=1000\n')
    'CONFIG_HZ=1000'
    """
    said = [line for line in config.splitlines() if line.startswith(("CONFIG_", "# CONFIG_"))]
    return "\n".join(line for line in said if not _OF_COMPILER.match(line))


def _kernel(images: Images) -> list[str]:
    made = images.manifests["kernel"]
    config = (images.kernel / "config").read_text(encoding="utf-8")
    random = (
        hash_of(SEEDRANDOM.read_bytes()) if SEEDRANDOM.is_file() else str(made["seedrandom_hash"])
    )
    return [made["source_hash"], hash_of(options(config).encode()), made["cflags"], random]


def _stack(images: Images, stack: Stack, made: Any) -> Any:
    """The sources of a stack's kernel module; else what its build says."""
    if not stack.module:
        return made
    if "source_hash" not in made:
        # One for another kernel than the lab's: made of the source that lies beside it
        return _module_source(images.build(stack), stack) or made
    for place in (images.build(stack), STACKS):
        source = place / f"{stack.module}.c"
        if source.is_file() and _plain_hash(source) == made["source_hash"]:
            return _module_source(place, stack)
    return made


def _module_source(place: FilePath, stack: Stack) -> str | None:
    """Hash of the source of a stack's module, and of all headers beside it; None without one."""
    source = place / f"{stack.module}.c"
    if not source.is_file():
        return None
    return hash_of(*(file.read_bytes() for file in [source, *sorted(place.glob("*.h"))]))


def _plain_hash(file: FilePath) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def source_identity(plan: Plan, images: Images) -> str:
    """The build identity of a run: of what it asks for and the sources of what its lab boots."""
    if plan.settings.lab == HOST:
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
        # A place is named after what went into it beside the packages.
        "lab": [images.lab.name, images.manifests["lab"]["packages_hash"]],
        "sender": [images.sender.name, images.manifests["sender"]["packages_hash"]],
        "stacks": {
            label: _stack(images, stacks[label], made)
            for label, made in images.stack_manifests(plan.stacks).items()
        },
        "hosts": images.host_manifests(plan.images),
    }
    return build_identity(plan, parts)


def _host_identity(plan: Plan, sender: Any, sources: Any, hosts: Any) -> str:
    parts = {"sender": sender["packages_hash"], "stacks": sources, "hosts": hosts}
    return build_identity(plan, parts)


def wanted_on_host(plan: Plan, build: FilePath = BUILD) -> str:
    """The build identity of a host lab's run, of this project's parts; its kernel any.

    For a plan of farpath's own stacks, without users' images. Raises MachineLacksError if
    the end hosts' root is not built.
    """
    sender = manifest((build / "sender").resolve(), "sender")
    sources = {stack.label: _module_source(STACKS, stack) for stack in plan.stacks if stack.module}
    return _host_identity(plan, sender, sources, {})
