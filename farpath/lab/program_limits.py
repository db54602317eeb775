"""Program limits: the limits of resources of this process, which a user's programs have too."""

from __future__ import annotations

import resource

#: Limits that programs meet on a host (getrlimit(2)), by their name in lower case. All others are
#: those of the lab.
NAMES = ("nofile", "nproc", "stack", "memlock")


def limits() -> dict[str, tuple[int, int]]:
    """Return soft and hard limit of each resource; -1 for none."""
    return {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}")) for name in NAMES}
