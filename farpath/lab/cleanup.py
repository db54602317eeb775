"""Clean-up after killed runs: removes their files and restores kernel settings."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path as FilePath

from farpath.base import locks
from farpath.base.errors import MachineLacksError
from farpath.base.locks import RANDOM_NAME, remove_unheld
from farpath.lab import host_kernel
from farpath.lab.guest_code import is_guest_share
from farpath.lab.machine import SHARE

_SHARE_NAME = re.compile(rf"{SHARE}{RANDOM_NAME}")


def clean(out: FilePath) -> list[str]:
    """Remove files of killed runs from ``out`` and from the directory of temporary files.

    It also restores settings and modules of the host kernel that a killed host lab has changed.
    Returns one sentence for each thing done. Raises MachineLacksError if the restoration needs
    root, or while a host lab runs.
    """
    shares = remove_stale_shares(FilePath(tempfile.gettempdir()))
    actions = [f"removed {path}" for path in shares]
    if not out.is_dir():
        return actions
    removed = locks.remove_stale_partials(out) + locks.remove_stale_locks(out)
    actions += [f"removed {path}" for path in removed]
    state = out / host_kernel.STATE_FILE
    if not os.path.lexists(state):
        return actions
    if os.geteuid():
        raise MachineLacksError(
            f"{state} holds settings of this machine's kernel from before a killed run: only root "
            "can restore them"
        )
    with host_kernel.only_host_lab():
        return actions + host_kernel.restore_leftover(out)


def remove_stale_shares(directory: FilePath) -> list[FilePath]:
    """Remove shared directories of ended runs, recognised by the guest's code in them."""
    return remove_unheld(directory, _SHARE_NAME, is_guest_share)
