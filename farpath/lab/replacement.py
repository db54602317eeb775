"""Replacement: makes a record whole or not at all, and puts it in its place."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import StoppedError
from farpath.base.files import (
    apply_umask,
    make_directory,
    replace_directory,
    require_replaceable,
    user_errors,
)
from farpath.base.locks import exclusive_lock, fresh_partial, remove_stale_partials
from farpath.lab.process import RawRun
from farpath.record.replaced import difference

LOG = logging.getLogger(__name__)
CONSOLE_LOG = "console.log"


@contextmanager
def whole_record(out: FilePath, name: str, description: str) -> Iterator[tuple[FilePath, FilePath]]:
    """Make a record in a partial directory, and put it in its place at the end.

    ``out``: directory of records. ``name``: of the record's directory. ``description``: the name of
    its record.json or exec.json. Yields the partial directory and the console's log, which becomes
    a file of the record. After an error only the log is left, and after a stop or an interruption
    no file. Raises BadInputError if another process makes the same record, or if a file of the
    user's is in its place.
    """
    with user_errors(out):
        require_replaceable(out / name, directory=True)
        make_directory(out)
        with exclusive_lock(out / f".{name}.lock", f"is making this record in {out}"):
            remove_stale_partials(out)
            log = out / f"{name}.{CONSOLE_LOG}"
            with fresh_partial(out) as partial:
                try:
                    yield partial, log
                    shutil.move(log, partial / CONSOLE_LOG)
                except (KeyboardInterrupt, SystemExit, StoppedError):
                    log.unlink(missing_ok=True)
                    raise
                put_in_place(partial, out / name, description)


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


def circumstances(raw: RawRun) -> dict[str, Any]:
    """Return when a record was made, in UTC, and what it cost: real and CPU time, and memory."""
    critical = {} if raw.critical_cpu_s is None else {"critical_cpu_s": raw.critical_cpu_s}
    cost = {
        "wall_s": raw.wall_s,
        "cpu_s": raw.cpu_s,
        "peak_memory_bytes": raw.peak_memory_bytes,
        **critical,
    }
    return {"cost": cost, "recorded_at": datetime.now(UTC).isoformat(timespec="seconds")}
