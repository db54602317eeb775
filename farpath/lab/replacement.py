"""Replacement: puts a complete record in its place, and says if it differs from the one there."""

from __future__ import annotations

import logging
from pathlib import Path as FilePath

from farpath.base.files import apply_umask, replace_directory
from farpath.record.replaced import difference

LOG = logging.getLogger(__name__)


def put_in_place(partial: FilePath, record_dir: FilePath, description: str) -> None:
    """Rename a complete record to its directory; a former one there is replaced.

    ``description``: the name of its record.json or exec.json. Warns if the former record has
    another fingerprint, though plan, build and code are the same.
    """
    said = difference(record_dir / description, partial / description)
    apply_umask(partial)
    replace_directory(partial, record_dir)
    if said:
        LOG.warning(f"{record_dir}: {said}")
