"""Identity: of the code that decides a run, and of the sources of what it boots.

The second says whether a record of another machine is of the same run as one made here.
A record's place is named after the very bytes of kernel and modules, which every
compiler writes otherwise; so on another machine each record would have to be made
again. This identity holds what these were compiled from instead: CPU is free on the
virtual clock, so that a compiler decides no packet (a container's and a process's labs
are of two compilers and give one fingerprint). What is only there as bytes counts as
those; then two identities differ that need not, never the reverse.

Of a run of the host lab this identity holds what was asked, the end hosts' packages and
the sources of stacks: kernel and machine are those of where it was made, and CPU figures
are of that machine, which the record names.

farpath's own code is no part of it: every edit of the lab would make a campaign of hours
worthless, and most change no packet. Each record says which code made it, and a record of
other code than today's is marked wherever it is counted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.project import BUILD, PROJECT
from farpath.documents import read_json
from farpath.errors import BadInputError
from farpath.lab.images import Images, manifest
from farpath.plan import Plan
from farpath.spec.settings import HOST
from farpath.stack import Stack

if TYPE_CHECKING:
    from farpath.record import Record

#: Fields of a plan that say something to people and nothing to the lab.
WORDS = frozenset({"title", "sources"})
#: The code that decides what a run measures; an edit elsewhere leaves records valid.
DECIDING_CODE = (
    "farpath/background.py",
    "farpath/dropper.py",
    "farpath/era.py",
    "farpath/frames.py",
    "farpath/guest",
    "farpath/flows",
    "farpath/image.py",
    "farpath/lab",
    "farpath/layout.py",
    "farpath/path.py",
    "farpath/plan.py",
    "farpath/record.py",
    "farpath/schedule.py",
    "farpath/selfwatch.py",
    "farpath/spec",
    "farpath/stack.py",
    "farpath/tools",
    "farpath/trace.py",
    "farpath/trace_table.py",
    "farpath/window.py",
    "topologies",
)
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


def code_identity(project: FilePath = PROJECT) -> str:
    """SHA-256 over the names and contents of the code that decides a run."""
    places = [project / name for name in DECIDING_CODE]
    files = [
        file
        for place in places
        for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    ]
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(project)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


def _hash(*texts: bytes) -> str:
    total = hashlib.sha256()
    for text in texts:
        total.update(hashlib.sha256(text).digest())
    return total.hexdigest()


def _kernel(images: Images) -> list[str]:
    made = images.manifests["kernel"]
    config = (images.kernel / "config").read_text(encoding="utf-8")
    random = (
        _hash(SEEDRANDOM.read_bytes()) if SEEDRANDOM.is_file() else str(made["seedrandom_hash"])
    )
    return [made["source_hash"], _hash(options(config).encode()), made["cflags"], random]


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
    return _hash(*(file.read_bytes() for file in [source, *sorted(place.glob("*.h"))]))


def _plain_hash(file: FilePath) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _asked(value: Any) -> Any:
    """What a plan asks for: fields at their defaults and words for people left out.

    So a plan stays the same when a later farpath can ask for more.
    """
    if dataclasses.is_dataclass(value):
        return {
            field.name: _asked(found)
            for field in dataclasses.fields(value)
            if field.name not in WORDS and (found := getattr(value, field.name)) != _default(field)
        }
    if isinstance(value, tuple):
        return [_asked(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _asked(one) for key, one in value.items()}
    return value


def plan_identity(plan: Plan) -> str:
    """SHA-256 over what the plan asks for, whatever a lab boots."""
    return _hash(json.dumps(_asked(plan), sort_keys=True).encode())


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def source_identity(plan: Plan, images: Images) -> str:
    """SHA-256 over what the plan asks for and the sources of what a lab boots."""
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
        "plan": _asked(plan),
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
    return _hash(json.dumps(parts, sort_keys=True).encode())


def _host_identity(plan: Plan, sender: Any, sources: Any, hosts: Any) -> str:
    parts = {
        "plan": _asked(plan),
        "sender": sender["packages_hash"],
        "stacks": sources,
        "hosts": hosts,
    }
    return _hash(json.dumps(parts, sort_keys=True).encode())


def wanted_on_host(plan: Plan, build: FilePath = BUILD) -> str:
    """The source identity of a host lab's run, of this project's parts; its kernel any.

    For a plan of farpath's own stacks, without users' images. Raises MachineLacksError if
    the end hosts' root is not built.
    """
    sender = manifest((build / "sender").resolve(), "sender")
    sources = {stack.label: _module_source(STACKS, stack) for stack in plan.stacks if stack.module}
    return _host_identity(plan, sender, sources, {})


def is_of_other_code(record: Record) -> bool:
    """Whether a record was made by another version of the code that decides a run."""
    return bool(record.data["provenance"].get("code_sha256") != code_identity())


def source_of(record_file: FilePath) -> str | None:
    """The source identity in a record.json; None if it is unreadable or says none."""
    try:
        data = read_json(record_file)
        return str(data["provenance"]["source_sha256"])
    except (BadInputError, LookupError, TypeError):
        return None
