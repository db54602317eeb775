"""Leftovers of killed runs, all kinds of them, removed or given back."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path as FilePath

from farpath.base import locks
from farpath.base.errors import MachineLacksError
from farpath.base.locks import RANDOM_NAME, remove_unheld
from farpath.lab import host_kernel
from farpath.spec.protocol import CODE_DIR

#: How the directories that host and guest share are called, in the place for
#: temporary files.
SHARE = "farpath-"
#: The guest's own code in such a directory, of which no other directory has a copy.
GUEST = FilePath("farpath", "guest")
_SHARE_NAME = re.compile(rf"farpath-{RANDOM_NAME}")


def clean(out: FilePath) -> list[str]:
    """Remove what killed runs left in ``out`` and among temporary files.

    Also gives back settings and modules of this machine's kernel that a killed host lab
    had changed. Returns what was done, one sentence each. Raises MachineLacksError if
    that takes root, or while a host lab runs.
    """
    shares = remove_stale_shares(FilePath(tempfile.gettempdir()))
    done = [f"removed {place}" for place in shares]
    if not out.is_dir():
        return done
    removed = locks.remove_stale_partials(out) + locks.remove_stale_locks(out)
    done += [f"removed {place}" for place in removed]
    state = out / host_kernel.STATE_FILE
    if not os.path.lexists(state):
        return done
    if os.geteuid():
        raise MachineLacksError(
            f"{state} holds settings of this machine's kernel from before a killed run: only root "
            "can give them back"
        )
    with host_kernel.only_host_lab():
        return done + host_kernel.restore_leftover(out)


def remove_stale_shares(place: FilePath) -> list[FilePath]:
    """Remove shared directories of dead runs, known by the guest's code in them."""
    return remove_unheld(place, _SHARE_NAME, lambda share: (share / CODE_DIR / GUEST).is_dir())
