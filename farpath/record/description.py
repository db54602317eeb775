"""Description: the JSON file of a record, with a hash over its own content.

The fingerprint is over the samples, so that equal runs have equal ones. This hash covers plan,
programs, read-backs and provenance. It shows a change; it is no signature, since anyone who changes
the file can compute it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import CheckFailedError

#: The key of the hash. Records that were made before there was one lack it.
HASH_KEY = "description_sha256"


def description_hash(data: Mapping[str, Any]) -> str:
    """Return the SHA-256 over a description's JSON without the hash itself.

    The JSON has its keys in order, no blanks, and ASCII characters only.
    """
    plain = {key: value for key, value in data.items() if key != HASH_KEY}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write_description(file: FilePath, data: Mapping[str, Any]) -> dict[str, Any]:
    """Write a description with its hash; return it as a reader of the file has it."""
    # Keys that are numbers are texts in JSON, and stand in another order
    plain: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    plain[HASH_KEY] = description_hash(plain)
    file.write_text(json.dumps(plain, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return plain


def check_hash(data: Mapping[str, Any], file: FilePath, remedy: str) -> None:
    """Raise CheckFailedError if a description has a hash that is not its own."""
    if HASH_KEY in data and data[HASH_KEY] != description_hash(data):
        raise CheckFailedError(f"{file}: its {HASH_KEY} is not that of what it says: {remedy}")
