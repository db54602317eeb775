"""Identity: when two runs are the same, in three notions.

**Plan**: what is asked of a lab. Equal plans are equal requests, whatever they run on.
**Build**: the plan, and the sources that kernel, modules and root file systems were built from.
A record of another machine stands for a run here if both builds are the same.
**Code**: the code of farpath that decides a run, which is part of a record's name. It is no part
of the build: every edit of the lab would make a campaign of hours worthless, and most edits move
packets by microseconds at most. A change that moves results beyond what another seed does raises
``RESULTS_VERSION``; a record of another version is marked wherever it is counted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.base.documents import read_json
from farpath.base.errors import BadInputError
from farpath.base.project import PROJECT
from farpath.spec.plan import Plan

#: Raised by hand with a change after which a run's metrics differ by more than they do between
#: seeds (farpath regress says so); CHANGELOG.md names each. A record without one has the first.
FIRST_RESULTS_VERSION = RESULTS_VERSION = 1
#: Fields of a plan that say something to people and nothing to the lab.
WORDS = frozenset({"title", "sources"})
#: The code that decides what a run measures; an edit elsewhere leaves records valid.
DECIDING_CODE = (
    "farpath/spec",
    "farpath/tools",
    "farpath/guest",
    "farpath/record",
    "farpath/lab",
    "topologies",
)


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


def hash_of(*texts: bytes) -> str:
    """SHA-256 over the hashes of some texts."""
    total = hashlib.sha256()
    for text in texts:
        total.update(hashlib.sha256(text).digest())
    return total.hexdigest()


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
    return hash_of(json.dumps(_asked(plan), sort_keys=True).encode())


def build_identity(plan: Plan, sources: Mapping[str, Any]) -> str:
    """SHA-256 over what the plan asks for and what its lab was built from, as plain data."""
    return hash_of(json.dumps({"plan": _asked(plan), **sources}, sort_keys=True).encode())


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def is_of_other_results(provenance: Mapping[str, Any]) -> bool:
    """Whether a record's provenance names a farpath that gives other results than this one."""
    version = provenance.get("results_version", FIRST_RESULTS_VERSION)
    return bool(version != RESULTS_VERSION)


def source_of(record_file: FilePath) -> str | None:
    """The build identity in a record.json; None if it is unreadable or says none."""
    try:
        data = read_json(record_file)
        return str(data["provenance"]["source_sha256"])
    except (BadInputError, LookupError, TypeError):
        return None
