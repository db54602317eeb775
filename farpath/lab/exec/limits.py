"""Program limits: this process's limits of resources, which hold for a user's programs too."""

from __future__ import annotations

import resource

#: Limits that programs meet on a host (getrlimit(2)), by their name in lower case. All others are
#: the lab's own.
NAMES = ("nofile", "nproc", "stack", "memlock")


def limits(output_bytes: int) -> dict[str, tuple[int, int]]:
    """Return soft and hard limit of each resource; -1 for none.

    ``output_bytes``: the largest file that programs may write, their output among them. Output
    takes no virtual time, so that no limit of time ends a program that writes for ever.
    """
    own = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}")) for name in NAMES}
    return {**own, "fsize": (output_bytes, output_bytes)}
