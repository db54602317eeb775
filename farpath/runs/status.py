"""The status of an experiment's runs: which have records, where, and problems with others.

A run's record is the one in its own directory, or one of the same source identity: that was made on
another machine, and shipped with the project or copied here. Records of another kernel, image or
setting do not count; records of other code of farpath's are marked. A run of the host lab may
have the record of any machine: its figures are those of that machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, FarpathError
from farpath.base.files import user_errors
from farpath.base.project import EXPERIMENTS, experiment_folder
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.artifacts.program_builds import build_programs
from farpath.lab.artifacts.sources import host_build_identity, source_identity
from farpath.lab.provenance import record_name
from farpath.record.identity import code_identity, is_of_other_results, recorded_build_identity
from farpath.record.record import RECORD_FILE, load_record, records_in
from farpath.runs.experiment import CPU, WHOLE, RecordedRun, WantedRun
from farpath.spec.settings import HOST

#: The directory for damaged records, inside the directory of records.
DAMAGED_DIR = "damaged"
#: The file that marks a directory of links to records.
GATHERED_MARK = ".farpath-records"


@dataclass(frozen=True)
class RunStatus:
    """A run, the name of its record directory here, and its record; None if it has to be made.

    The name for a run of the host lab lacks the digest that its machine decides. ``problem``: why
    an existing record is not accepted. ``other_results``: whether a farpath of other results
    made the record.
    """

    run: WantedRun
    name: str
    record: FilePath | None
    problem: str = ""
    other_results: bool = False


def shipped_records(
    experiment: str, experiments: FilePath = EXPERIMENTS, which: str = WHOLE
) -> FilePath:
    """Return the directory of the records that the project ships for a set of runs."""
    records = "cpu-records" if which == CPU else "records"
    return experiment_folder(experiment, experiments) / records


def begun_records(experiment: str, experiments: FilePath = EXPERIMENTS) -> FilePath:
    """Return the directory of records of a campaign that is renewed and not whole yet.

    They count as made, so that another machine goes on with it. Tables and claims are of
    ``shipped_records``, until all are there to take their place.
    """
    return experiment_folder(experiment, experiments) / "next-records"


def wanted_identity(run: WantedRun, images: Images | None) -> str:
    """Return the source identity that a run's record must have.

    ``images`` are those of the virtual lab.
    """
    if run.on_host:
        return host_build_identity(run.plan)
    assert images is not None
    return source_identity(run.plan, images)


def images_for(runs: Sequence[WantedRun]) -> Images | None:
    """Return the images that runs of the virtual lab need; None if there are no such runs.

    Programs of their stacks that are not built are built first, since they are a part of the
    identity of a run. Raises MachineLacksError if a tool for that is missing.
    """
    virtual = [run for run in runs if not run.on_host]
    if not virtual:
        return None
    images = find_images()
    build_programs((stack for run in virtual for stack in run.plan.stacks), images)
    return images


def _name(run: WantedRun, images: Images | None, code: str) -> str:
    if run.on_host:
        plan = run.plan
        stack, region = plan.stacks[0].name, f"{plan.schedule.region_s:g}s"
        return f"{plan.path.name}-{stack}-{region}-{plan.era.name}-seed{plan.seed}-{HOST}"
    assert images is not None
    return record_name(run.plan, images, code)


def run_statuses(
    runs: Sequence[WantedRun], directories: Sequence[FilePath]
) -> tuple[RunStatus, ...]:
    """Return each run's status, in their order. Records of the first directories come first.

    Every record that counts is read completely and checked by its fingerprint.
    """
    images, code = images_for(runs), code_identity()
    existing = [record_dir for directory in directories for record_dir in records_in(directory)]
    by_source: dict[str, list[FilePath]] = {}
    for record_dir in existing:
        source = recorded_build_identity(record_dir / RECORD_FILE)
        if source is not None:
            by_source.setdefault(source, []).append(record_dir)
    statuses = []
    for run in runs:
        name = _name(run, images, code)
        candidates = [record_dir for record_dir in existing if record_dir.name == name]
        candidates += by_source.get(wanted_identity(run, images), [])
        statuses.append(_status(run, name, dict.fromkeys(candidates)))
    return tuple(statuses)


def _status(run: WantedRun, name: str, candidates: Iterable[FilePath]) -> RunStatus:
    problem = ""
    for record_dir in candidates:
        try:
            record = load_record(record_dir)
        except FarpathError as error:
            problem = error.message
        else:
            return RunStatus(
                run, name, record_dir, other_results=is_of_other_results(record.data["provenance"])
            )
    return RunStatus(run, name, None, problem)


def move_damaged_records(out: FilePath, missing: Iterable[RunStatus]) -> list[str]:
    """Move damaged records away from the directories of runs; return the moved ones."""
    sentences = []
    for state in missing:
        run_dir = out / state.name
        if state.record is not None or not run_dir.exists():
            continue
        if not any(run_dir.iterdir()):
            run_dir.rmdir()
            continue
        number = 1
        while (moved := out / DAMAGED_DIR / f"{state.name}-{number}").exists():
            number += 1
        moved.parent.mkdir(exist_ok=True)
        run_dir.rename(moved)
        reason = state.problem or f"{run_dir}: lacks {RECORD_FILE}"
        sentences.append(f"{reason}; it was moved to {moved}")
    return sentences


def gather(statuses: Sequence[RunStatus], folder: FilePath) -> int:
    """Make a directory hold links to the records of these runs and nothing else.

    Returns how many there are. So tables and claims never mix records of different kernels, images
    or settings. Raises BadInputError, and changes nothing, for a directory that holds anything but
    such links.
    """
    with user_errors(folder):
        for link in _former_links(folder):
            link.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / GATHERED_MARK).write_text("Made by farpath, which replaces all links in here.\n")
        return _link_all(statuses, folder)


def _former_links(folder: FilePath) -> list[FilePath]:
    """Return the links of an earlier call; raise BadInputError for other contents."""
    if not os.path.lexists(folder):
        return []
    if not folder.is_dir():
        raise BadInputError(
            problem=f"{folder} is no directory", remedy="give one that is new, or empty"
        )
    entries = list(folder.iterdir())
    others = [file for file in entries if file.name != GATHERED_MARK and not file.is_symlink()]
    if others or (entries and not (folder / GATHERED_MARK).is_file()):
        example = f", such as {others[0].name}" if others else ""
        raise BadInputError(
            problem=f"{folder} holds what farpath has not put there{example}, which would be lost",
            remedy="give a directory that is new, empty, or one that was filled in this "
            "way; if an older farpath made this one of links alone, remove it",
        )
    return [file for file in entries if file.name != GATHERED_MARK]


def _link_all(statuses: Sequence[RunStatus], folder: FilePath) -> int:
    records = [state.record for state in statuses if state.record is not None]
    for record in records:
        target = os.path.relpath(record.resolve(), folder.resolve())
        (folder / record.name).symlink_to(target, target_is_directory=True)
    return len(records)


def recorded_runs(run_statuses: Sequence[RunStatus]) -> tuple[RecordedRun, ...]:
    """Return the runs that have records, with the records; samples are read at first use."""
    return tuple(
        RecordedRun(state.run, load_record(state.record, verify=False))
        for state in run_statuses
        if state.record is not None
    )
