"""Identity: three hashes that say in which sense two runs are the same.

The plan identity hashes the request. Equal plans are equal requests, whichever lab runs them.
The build identity hashes the plan and the sources of kernel, modules and root file systems.
A record from another machine can replace a run here if both have the same build identity.
The code identity hashes the code of farpath that decides the results of a run. It is part of a
record's name and not of the build identity: every edit of the lab would invalidate a campaign
of hours, and most edits move packets by microseconds. A change that moves metrics by more than
another seed does raises ``RESULTS_VERSION``; a record of another version is marked wherever it
is counted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path as FilePath
from typing import Any

import farpath.mechanisms
import farpath.programs
import topologies
from farpath.base.documents import read_json
from farpath.base.errors import BadInputError
from farpath.base.project import PROJECT
from farpath.spec.plan import Plan
from farpath.spec.wire import wire_fields

#: Raised by hand with a change after which a run's metrics differ by more than they do between
#: seeds, as ``farpath regress`` finds. CHANGELOG.md names each. A record without one has the first.
FIRST_RESULTS_VERSION = 1
RESULTS_VERSION = 2
#: Fields of a plan, by their names on the wire, that describe it to people and that the lab does
#: not read.
DESCRIPTIVE_FIELDS = frozenset({"title", "sources"})
#: Directories of the code that decides the results of a run; edits elsewhere keep records valid.
DECIDING_CODE = (
    "farpath/spec",
    "farpath/tools",
    "farpath/guest",
    "farpath/mechanisms",
    "farpath/programs",
    "farpath/record",
    "farpath/lab",
    "topologies",
)
#: Packages whose ``__path__`` may name further directories.
OPEN_PACKAGES = (farpath.mechanisms, farpath.programs, topologies)
#: Files of these directories that show, store or plan runs, and decide nothing in them.
SHOWING_CODE = frozenset(
    f"farpath/lab/{name}.py"
    for name in (
        "background_run",
        "cleanup",
        "pool",
        "preflight",
        "exec/client_progress",
        "progress",
        "replacement",
    )
)
#: Files of a mechanism's folder that make its part of the plan, which is hashed itself, that
#: describe it, and that check what the lab said.
HOST_PARTS = (
    *("farpath/mechanisms/*/mechanism.py", "farpath/mechanisms/*/text.py"),
    *("farpath/mechanisms/*/recorded.py", "farpath/programs/*/recorded.py"),
)


def code_identity(project: FilePath = PROJECT) -> str:
    """Return the SHA-256 over the names and contents of the code that decides a run.

    Code of directories beside the project's (``OPEN_PACKAGES``) counts as if it stood there.
    """
    files = [
        (file, file.relative_to(project).as_posix())
        for path in (project / name for name in DECIDING_CODE)
        for file in sorted(path.rglob("*.py"))
    ]
    files += [
        (file, f"{package.__name__.replace('.', '/')}/{file.relative_to(place).as_posix()}")
        for package in OPEN_PACKAGES
        for place in package.__path__[1:]
        for file in sorted(FilePath(place).rglob("*.py"))
    ]
    digest = hashlib.sha256()
    for file, name in files:
        if name not in SHOWING_CODE and not any(fnmatch(name, part) for part in HOST_PARTS):
            digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def hash_of(*texts: bytes) -> str:
    """Return the SHA-256 over the SHA-256 digests of some texts."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()


def _canonical(value: Any) -> Any:
    """Convert a plan to plain data without descriptive fields and fields at their defaults.

    A plan therefore keeps its identity when a later version of farpath adds fields.
    """
    if dataclasses.is_dataclass(value):
        return {
            name: _canonical(field_value)
            for name, field in wire_fields(type(value)).items()
            if name not in DESCRIPTIVE_FIELDS
            and (field_value := getattr(value, field.name)) != _default(field)
        }
    if isinstance(value, tuple):
        return [_canonical(element) for element in value]
    if isinstance(value, Mapping):
        return {key: _canonical(element) for key, element in value.items()}
    return value


def plan_identity(plan: Plan) -> str:
    """Return the SHA-256 over a plan's request, independent of the artifacts that its lab boots."""
    return hash_of(json.dumps(_canonical(plan), sort_keys=True).encode())


def build_identity(plan: Plan, sources: Mapping[str, Any]) -> str:
    """Return the SHA-256 over a plan's request and the sources of its lab.

    ``sources``: hashes of the sources of kernel, modules and root file systems, as plain data.
    """
    return hash_of(json.dumps({"plan": _canonical(plan), **sources}, sort_keys=True).encode())


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def is_of_other_results(provenance: Mapping[str, Any]) -> bool:
    """Whether a record's provenance names a farpath that gives other results."""
    version = provenance.get("results_version", FIRST_RESULTS_VERSION)
    return bool(version != RESULTS_VERSION)


def recorded_build_identity(record_file: FilePath) -> str | None:
    """Return the build identity in a record.json; None if it is unreadable or holds none."""
    try:
        data = read_json(record_file)
        return str(data["provenance"]["source_sha256"])
    except (BadInputError, LookupError, TypeError):
        return None
