"""What a lab boots: the built kernel and root file systems, found and identified."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.errors import MachineLacksError

#: The project's own folder; its ``build`` holds links to what was built.
PROJECT = FilePath(__file__).resolve().parents[2]
BUILD = PROJECT / "build"
REMEDY = "run 'make setup' in the project's folder"


@dataclass(frozen=True)
class Images:
    """The built parts of a virtual lab and their manifests."""

    kernel: FilePath
    lab: FilePath
    sender: FilePath
    manifests: dict[str, Any]

    @property
    def linux(self) -> FilePath:
        """The kernel: an executable."""
        return self.kernel / "linux"

    @property
    def seedrandom(self) -> FilePath:
        """The library that gives the kernel its seeded random numbers."""
        return self.kernel / "seedrandom.so"

    def identity(self) -> str:
        """SHA-256 over everything here that can change what a run measures."""
        text = json.dumps(
            {
                "linux": self.manifests["kernel"]["linux_hash"],
                "seedrandom": self.manifests["kernel"]["seedrandom_hash"],
                # A place is named after what went into it beside the packages.
                "lab": [self.lab.name, self.manifests["lab"]["packages_hash"]],
                "sender": [self.sender.name, self.manifests["sender"]["packages_hash"]],
            },
            sort_keys=True,
        )
        return hashlib.sha256(text.encode()).hexdigest()


def find_images(build: FilePath = BUILD) -> Images:
    """The images that ``make setup`` built; MachineLacksError if one is missing."""
    places = {}
    manifests = {}
    for name in ("kernel", "lab", "sender"):
        place = (build / name).resolve()
        try:
            manifests[name] = json.loads((place / "manifest.json").read_text())
        except (OSError, json.JSONDecodeError) as error:
            raise MachineLacksError(
                f"the lab's {name} is not built ({build / name}: {error}): {REMEDY}"
            ) from error
        places[name] = place
    return Images(places["kernel"], places["lab"], places["sender"], manifests)
