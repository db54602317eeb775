"""Runs of services for a search: each is made once, and found by its record after that."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, CheckFailedError, LabFailedError
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.exec.service_run import UpRun, files_read, record_name, run_services
from farpath.lab.machine import limited_cores
from farpath.lab.run import Outcome
from farpath.record.identity import code_identity
from farpath.record.replaced import FILE_WORDS, FILES
from farpath.record.service_record import UP_FILE, ServiceRecord, check_description
from farpath.runs.run_set import PlannedRun
from farpath.runs.search.result import Ended, NeverStartsError, never_starts

LOG = logging.getLogger(__name__)
#: Digests of files that decide whether a record counts. /etc changes whenever a network does.
_DECIDING = ("packages", "programs", "directory")


def ended_of(record: ServiceRecord) -> Ended:
    """Return how the run of a record ended."""
    ending = record.ending
    return Ended(ending.status, ending.took_s, record.directory, record.fingerprint)


def ended_without_record(error: NeverStartsError) -> Ended:
    """Return how a run ended in which a service could never start."""
    return Ended(None, problem=error.what)


def make_service_run(
    _planned: PlannedRun, out: FilePath, cores: int, *, run: UpRun, wall_s: float
) -> Outcome:
    """Make a run in a worker of ``make_runs``; raises NeverStartsError, and as ``run_services``."""
    with limited_cores(cores):
        return _made(run, out, wall_s)


def _made(run: UpRun, out: FilePath, wall_s: float) -> Outcome:
    try:
        outcome = run_services(run, out, {}, wall_s=wall_s)
    except LabFailedError as error:
        raise never_starts(error) or error from error
    return Outcome(outcome.directory, cached=False, wall_s=0.0)


@dataclass
class Recorded:
    """The records of a directory that count: of the same request, code, images and files.

    Files that services can read are compared with those of now; of directories with too many files
    that is not known, and their records count.
    """

    out: FilePath

    @cached_property
    def _images(self) -> Images:
        return find_images()

    @cached_property
    def _code(self) -> str:
        return code_identity()

    def __post_init__(self) -> None:
        self._files: dict[str, str | None] | None = None
        self._has_said = False

    def find(self, run: UpRun) -> Ended | None:
        """Return how a run ended that has its record; None if it has none that counts.

        Says once that records do not count because of files that have changed.
        """
        place = self.out / record_name(run, self._images)
        if not (place / UP_FILE).is_file():
            return None
        try:
            record = ServiceRecord(place, ServiceRecord.read(place, check_description))
            provenance = record.data["provenance"]
            before = provenance.get(FILES) or {}
            if self._files is None:
                self._files = files_read(run, self.out)
            changed = ["farpath"] if provenance.get("code_sha256") != self._code else []
            changed += [
                FILE_WORDS[name] for name in _DECIDING if before.get(name) != self._files.get(name)
            ]
            if changed:
                self._say(changed)
                return None
            return ended_of(record)
        except (BadInputError, CheckFailedError):
            return None

    def _say(self, changed: list[str]) -> None:
        if not self._has_said:
            LOG.warning(
                f"records in {self.out} do not count, since these have changed: "
                f"{', '.join(changed)}; logs and reports should stand elsewhere"
            )
        self._has_said = True

    def find_or_make(self, run: UpRun, wall_s: float = math.inf) -> tuple[Ended, bool]:
        """Return how a run ended, and whether it had its record; raises as ``run_services``."""
        if found := self.find(run):
            return found, True
        try:
            place = _made(run, self.out, wall_s).directory
        except NeverStartsError as error:
            return ended_without_record(error), False
        return ended_of(ServiceRecord(place, ServiceRecord.read(place, check_description))), False
