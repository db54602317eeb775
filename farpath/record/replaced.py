"""Replaced records: whether a record that is made again differs from the one in its place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.base.documents import read_json
from farpath.base.errors import BadInputError
from farpath.spec.settings import VIRTUAL, VIRTUAL_CLOCK

#: Of a program record's provenance: digests of files that its programs can read, with the word for
#: people of each (``farpath.lab.machine_files``).
FILES = "machine_files"
FILE_WORDS = {
    "packages": "installed packages",
    "settings": "/etc",
    "programs": "the programs",
    "directory": "the shared directory",
}
#: Of a record's description, besides its provenance: the request.
_ASKED = ("plan", "programs", "services")
#: Of a record's provenance: the artifacts that carried it out. Where all of them are equal, and the
#: clock the virtual one, fingerprints are expected to be equal.
_DECIDING = ("images_sha256", "code_sha256")


def difference(former: FilePath, made: FilePath) -> str:
    """Return the message about a record that is made again; empty if there is none.

    ``former``, ``made``: the descriptions (record.json, exec.json) of the former record, as far as
    it is readable, and of its replacement.
    """
    try:
        before, after = read_json(former), read_json(made)
        if not _should_be_equal(before, after) or before["fingerprint"] == after["fingerprint"]:
            return ""
        stamps = [str(each["fingerprint"])[:12] for each in (after, before)]
    except (BadInputError, LookupError, TypeError, AttributeError):
        return ""
    return (
        f"made again from the same plan, build and code, with another fingerprint: {stamps[0]}, "
        f"before {stamps[1]}; {_reason(before, after)}"
    )


def _should_be_equal(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    settings = after["plan"]["settings"]
    is_exact = (settings.get("lab", VIRTUAL), settings["clock"]) == (VIRTUAL, VIRTUAL_CLOCK)
    asked = all(before.get(name) == after.get(name) for name in _ASKED)
    deciding = all(before["provenance"][name] == after["provenance"][name] for name in _DECIDING)
    return is_exact and asked and deciding


def _reason(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    models = [each["provenance"].get("cpu_model") for each in (before, after)]
    if models[0] != models[1]:
        return f"the processor is another one, '{models[1]}' and no longer '{models[0]}'"
    if changed := _changed_files(before, after):
        return f"meanwhile these files of this machine have changed: {', '.join(changed)}"
    if "programs" in after or "services" in after:
        return "its programs depend on something that the lab does not fix (docs/how-to/exec.md)"
    return "this should not be: equal runs have equal packets; please report both fingerprints"


def _changed_files(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the files that programs can read and whose digest differs, in words."""
    old, new = (each["provenance"].get(FILES) or {} for each in (before, after))
    return [word for name, word in FILE_WORDS.items() if old and old.get(name) != new.get(name)]
