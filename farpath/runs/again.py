"""Again: makes the run of a record once more, with captures or a trace, and checks that it is it.

A run can be looked into afterwards: captures, and on most paths a trace of 5 ms or more, move no
packet, so that the repeated run has the record's fingerprint. What is made stands in the cache of
builds, and is found there by the same question.
"""

from __future__ import annotations

import dataclasses
import gzip
import logging
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.project import cache_directory
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.artifacts.kernels import images_of, images_recorded, kernels_by_side, title_of
from farpath.lab.provenance import record_name
from farpath.lab.user_parts import BuiltParts
from farpath.mechanisms.registry import apply_options, mechanism_options
from farpath.planning.request import RunRequest
from farpath.planning.rules import check_plan
from farpath.platforms import platform_of
from farpath.record.identity import is_of_other_results
from farpath.record.program_record import EXEC_FILE
from farpath.record.record import RECORD_FILE, Record, load_record, records_in
from farpath.record.record_directory import short_fingerprint
from farpath.record.service_record import UP_FILE
from farpath.runs.make import FailedRun, make_runs
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.runs.run_set_progress import progress_printer
from farpath.spec.labels import stacks_label
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import RAW_DIR, SCHEDULE_START_FILE
from farpath.spec.sites import check_sides
from topologies import lay_out

LOG = logging.getLogger(__name__)
#: The folder of the cache with repeated runs, and how many bytes of them are kept.
FOLDER, KEPT_BYTES = "again", 4 << 30
#: Real seconds for which a repeated run that was asked for is kept in any case.
IN_USE_S = 3600.0
#: Commands whose records do not hold the programs that ran, by the file of such a record.
PROGRAM_COMMANDS = {EXEC_FILE: "farpath exec", UP_FILE: "farpath up"}
_OF_REAL_TIME = (
    "takes real time, or a clock that CPU moves, and then packets are not those of any other run"
)


@dataclass(frozen=True)
class Repetition:
    """The run of a record, to be made once more.

    ``expected``: the fingerprint that it should have; empty if another is no surprise. ``made_by``:
    provenance of the record, for the reason of another one; empty without a record.
    """

    planned: PlannedRun
    expected: str = ""
    made_by: Mapping[str, Any] = field(default_factory=dict)

    def with_options(self, further: Mapping[str, str]) -> Repetition:
        """Return the same run with further options of mechanisms, such as ``capture``.

        They take the place of the record's own. Raises BadInputError for an option that is none of
        a mechanism, and as planning does.
        """
        planned = self.planned
        if unknown := sorted(further.keys() - mechanism_options().keys()):
            raise BadInputError(
                option=unknown[0], problem="a run that is made again keeps its other options"
            )
        plan = apply_options(planned.plan, further)
        check_plan(plan)
        request = None if planned.request is None else {**planned.request, **further}
        return dataclasses.replace(
            self, planned=dataclasses.replace(planned, plan=plan, request=request)
        )


@dataclass(frozen=True)
class Repeated:
    """A run that was made again.

    ``difference``: a sentence if its fingerprint is not the expected one, and why that may be; else
    empty. ``cached``: whether it was there already. ``wall_s``: real seconds that it took.
    """

    record: Record
    difference: str
    cached: bool
    wall_s: float


def repetition(
    directory: FilePath,
    further: Mapping[str, str] | None = None,
    kernel: str | None = None,
    tell: Callable[[str], None] = LOG.info,
) -> Repetition:
    """Return the run of the record in a directory, to be made once more.

    ``further``: options of mechanisms beside those of the record: ``capture``, ``trace``.
    ``kernel``: another one, as for ``farpath.lab.artifacts.kernels.images_of``; None for that of
    the record. ``tell``: called with each line that builds print. Raises BadInputError for
    a record that cannot be repeated here, and as planning does.
    """
    for description, command in PROGRAM_COMMANDS.items():
        if (directory / description).is_file():
            raise BadInputError(
                problem=f"{directory}: is a record of '{command}', whose programs and files it "
                "does not hold",
                remedy=f"repeat it with '{command}'",
            )
    record = load_record(directory)
    plan, provenance = record.plan, record.data["provenance"]
    if not _is_repeatable(plan):
        raise BadInputError(
            problem=f"{directory}: {_OF_REAL_TIME}", remedy="give a record of the virtual clock"
        )
    if kernel is None:
        images = images_recorded(provenance, tell)
    else:
        images = _other_kernel(kernel, plan, tell)
    planned = dataclasses.replace(
        _planned(plan, images, kernel, record.request), name=directory.resolve().name
    )
    expected = "" if kernel is not None else record.fingerprint
    return Repetition(planned, expected, provenance).with_options(further or {})


def requested(request: RunRequest, kernel: str | None = None) -> Repetition:
    """Return the run of a request, to be made like the run of a record.

    ``kernel``: as for ``repetition``; None for the lab's own. Raises BadInputError for a request
    that is not allowed.
    """
    plan = request.plan(user_parts=BuiltParts(request.lab), path_by_rtt=True)
    if not _is_repeatable(plan):
        raise BadInputError(problem=_OF_REAL_TIME, remedy="leave `lab` and `clock` out")
    images = find_images() if kernel is None else _other_kernel(kernel, plan, LOG.info)
    return Repetition(_planned(plan, images, kernel, request.typed))


def _other_kernel(kernel: str, plan: Plan, tell: Callable[[str], None]) -> Images:
    if kernels_by_side(kernel):
        check_sides(lay_out(plan))
    return images_of(kernel, tell)


def _planned(
    plan: Plan, images: Images, kernel: str | None, request: Mapping[str, str] | None
) -> PlannedRun:
    name = f"{plan.path.name} {stacks_label(plan.schedule)}"
    title = f"{title_of(images)} ({kernel})" if kernel else title_of(images)
    return PlannedRun(name, plan, images=images, kernel=title, request=request)


def _is_repeatable(plan: Plan) -> bool:
    return platform_of(plan).boots_kernel and plan.settings.cpu_is_free


def repeat(
    repetitions: Sequence[Repetition],
    command: str = "again",
    cores: int | None = None,
    place: FilePath | None = None,
) -> tuple[Repeated, ...]:
    """Make runs again, several at once, or find them in the cache; one that is asked twice is one.

    ``command``: begins each line of progress. ``cores``: how many at once, by default one on each
    core. ``place``: directory of the repeated runs, by default a folder of the cache, of which the
    oldest are removed. Raises the error of a run that fails.
    """
    where = place or cache_directory() / FOLDER
    if place is None:
        _remove_oldest(where)
    names = [_name(one) for one in repetitions]
    missing = {
        name: one.planned
        for name, one in zip(names, repetitions, strict=True)
        if not (where / name / RECORD_FILE).is_file()
    }
    walls_s: dict[str, float] = {}
    if missing:
        # Kernels of one release have one title, and are told apart by their builds
        runs = tuple(
            dataclasses.replace(run, kernel=f"{run.kernel} {number}")
            for number, run in enumerate(missing.values(), start=1)
        )
        watch = progress_printer(command, "runs made again")
        for result in make_runs(RunSet(runs), where, cores, watch, measure=_nothing).results:
            if isinstance(result, FailedRun):
                error = result.error
                raise type(error)(f"{result.run.name}: {error.text}", error.detail)
            walls_s[result.record.name] = result.wall_s
    found = zip(repetitions, names, strict=True)
    return tuple(_repeated(one, where / name, walls_s.get(name)) for one, name in found)


def schedule_start_ns(directory: FilePath, again: Repetition) -> int:
    """Return the start of a record's schedule by the sites' clocks, in ns from their boot.

    The run is made again if the record has no raw output, as records that are shipped.
    """
    name = SCHEDULE_START_FILE.format(flow=again.planned.plan.schedule.all_flows[0].name)
    file = directory / RAW_DIR / f"{name}.gz"
    if not file.is_file():
        [made] = repeat([again])
        file = made.record.directory / RAW_DIR / f"{name}.gz"
    return int(gzip.decompress(file.read_bytes()))


def site_titles(layout: Layout) -> list[str]:
    """Return the name of each site for people: that of its first host."""
    first = {node.site: node.name for node in reversed(layout.nodes) if node.is_host}
    return [first[site] for site in range(layout.sites)]


def _nothing(_record: Record) -> None:
    """Measure nothing of a run."""


def _name(one: Repetition) -> str:
    """Return the name of a run's record, which tells it from all others."""
    return record_name(one.planned.plan, one.planned.images or find_images())


def _repeated(one: Repetition, directory: FilePath, wall_s: float | None) -> Repeated:
    os.utime(directory)
    record = load_record(directory, verify=False)
    return Repeated(record, _difference(one, record), wall_s is None, wall_s or 0.0)


def _difference(one: Repetition, record: Record) -> str:
    """Return a sentence if a repeated run is not the recorded one, with what differs."""
    if one.expected in ("", record.fingerprint):
        return ""
    return (
        f"{one.planned.name}: the run made again is another one, with fingerprint "
        f"{short_fingerprint(record.fingerprint)} in place of {short_fingerprint(one.expected)}: "
        f"{reasons_of_difference(one, record, 'captures or the trace moved packets')}"
    )


def reasons_of_difference(one: Repetition, record: Record, otherwise: str) -> str:
    """Return why a repeated run may not be the recorded one: versions, packages, processor.

    ``otherwise``: the reason if these are the same.
    """
    then, now = one.made_by, record.data["provenance"]
    reasons = []
    if is_of_other_results(then):
        reasons.append("the record is of a farpath that gives other results")
    elif then.get("code_sha256") != now["code_sha256"]:
        commit = str(then.get("git_commit") or "")[:12]
        of = f" (commit {commit})" if commit else ""
        reasons.append(f"the record is of another version of farpath, {then.get('farpath')}{of}")
    if any(_packages(then, root) != _packages(now, root) for root in ("lab", "sender")):
        reasons.append("packages of the lab are others")
    if then.get("cpu_model") != now["cpu_model"]:
        reasons.append(f"it was made on another processor, {then.get('cpu_model')}")
    return "; ".join(reasons) or otherwise


def _packages(provenance: Mapping[str, Any], root: str) -> object:
    return provenance.get(root, {}).get("packages_hash")


def _remove_oldest(where: FilePath) -> None:
    """Remove the repeated runs that were not asked for the longest, until there is room."""
    now_s, kept_bytes = time.time(), 0
    used = [(directory.stat().st_mtime, directory) for directory in records_in(where)]
    for used_s, directory in sorted(used, reverse=True):
        kept_bytes += sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
        if kept_bytes > KEPT_BYTES and now_s - used_s > IN_USE_S:
            shutil.rmtree(directory, ignore_errors=True)
