"""Made: which runs of an experiment have records, where, and what is wrong with others.

A run's record is the one at its place, or one of the same source identity: made on
another machine, and shipped with the project or copied here. Records of another
kernel, image or setting count for nothing; those of other code of farpath's are marked. A run of
the host lab has the records of any machine: it is a figure of that machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.analysis.studies.measure import RecordedRun
from farpath.base.errors import BadInputError, FarpathError
from farpath.base.files import user_errors
from farpath.base.project import EXPERIMENTS
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.artifacts.sources import host_build_identity, source_identity
from farpath.lab.run import record_name
from farpath.planning.experiment import CPU, WHOLE, WantedRun
from farpath.record.identity import is_of_other_code, recorded_build_identity
from farpath.record.record import RECORD_FILE, load_record
from farpath.spec.settings import HOST

#: Where damaged records are put, beside the others.
ASIDE = "damaged"
#: The file in a directory of links to records, by which it is known as one.
GATHERED = ".farpath-records"


@dataclass(frozen=True)
class RunStatus:
    """A run, its place's name here, and its record; None if it has to be made.

    The name of a run of the host lab is without the digest that its machine decides.
    ``problem``: why a record that is there is not taken. ``other_code``: whether another
    version of farpath's code made the record.
    """

    run: WantedRun
    name: str
    record: FilePath | None
    problem: str = ""
    other_code: bool = False


def shipped_records(
    experiment: str, experiments: FilePath = EXPERIMENTS, which: str = WHOLE
) -> FilePath:
    """Where the records are that the project ships of an experiment's set of runs."""
    return experiments / experiment / ("cpu-records" if which == CPU else "records")


def records_in(directory: FilePath) -> list[FilePath]:
    """The directories of all records in one, whole or damaged; none that is being made."""
    places = [file.parent for file in directory.glob(f"*/{RECORD_FILE}")]
    return sorted(place for place in places if not place.name.startswith("."))


def wanted_identity(run: WantedRun, images: Images | None) -> str:
    """The source identity that a run's record must have; ``images`` are the virtual lab's."""
    if run.on_host:
        return host_build_identity(run.plan)
    assert images is not None
    return source_identity(run.plan, images)


def images_for(runs: Sequence[WantedRun]) -> Images | None:
    """What the runs of the virtual lab among some are made of; None if there are none."""
    return None if all(run.on_host for run in runs) else find_images()


def _name(run: WantedRun, images: Images | None) -> str:
    if run.on_host:
        plan = run.plan
        stack, region = plan.stacks[0].name, f"{plan.schedule.region_s:g}s"
        return f"{plan.path.name}-{stack}-{region}-{plan.era.name}-seed{plan.seed}-{HOST}"
    assert images is not None
    return record_name(run.plan, images)


def run_statuses(
    runs: Sequence[WantedRun], directories: Sequence[FilePath]
) -> tuple[RunStatus, ...]:
    """Each run's state, in their order. Records of the first directories come first.

    Every record that counts is read whole and checked by its fingerprint.
    """
    images = images_for(runs)
    there = [place for directory in directories for place in records_in(directory)]
    by_source: dict[str, list[FilePath]] = {}
    for place in there:
        source = recorded_build_identity(place / RECORD_FILE)
        if source is not None:
            by_source.setdefault(source, []).append(place)
    found = []
    for run in runs:
        name = _name(run, images)
        places = [place for place in there if place.name == name]
        places += by_source.get(wanted_identity(run, images), [])
        found.append(_state(run, name, dict.fromkeys(places)))
    return tuple(found)


def _state(run: WantedRun, name: str, places: Iterable[FilePath]) -> RunStatus:
    problem = ""
    for place in places:
        try:
            record = load_record(place)
        except FarpathError as error:
            problem = error.message
        else:
            return RunStatus(run, name, place, other_code=is_of_other_code(record))
    return RunStatus(run, name, None, problem)


def put_aside(out: FilePath, missing: Iterable[RunStatus]) -> list[str]:
    """Make way for runs whose own place holds a damaged record; says what was moved."""
    said = []
    for state in missing:
        place = out / state.name
        if state.record is not None or not place.exists():
            continue
        if not any(place.iterdir()):
            place.rmdir()
            continue
        number = 1
        while (aside := out / ASIDE / f"{state.name}-{number}").exists():
            number += 1
        aside.parent.mkdir(exist_ok=True)
        place.rename(aside)
        why = state.problem or f"{place}: lacks {RECORD_FILE}"
        said.append(f"{why}; it was moved to {aside}")
    return said


def gather(found: Sequence[RunStatus], folder: FilePath) -> int:
    """Make a directory hold links to the records of these runs and nothing else.

    Returns how many there are. So what tables and claims are made of never mixes
    records of different kernels, images or settings. Raises BadInputError, and changes
    nothing, for a place that is not empty and holds anything but such links.
    """
    with user_errors(folder):
        for link in _former_links(folder):
            link.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / GATHERED).write_text("Made by farpath, which replaces all links in here.\n")
        return _link_all(found, folder)


def _former_links(folder: FilePath) -> list[FilePath]:
    """The links that an earlier call made in a directory; BadInputError for one of another's."""
    if not os.path.lexists(folder):
        return []
    if not folder.is_dir():
        raise BadInputError(f"{folder} is no directory: give one that is new, or empty")
    names = list(folder.iterdir())
    others = [file for file in names if file.name != GATHERED and not file.is_symlink()]
    if others or (names and not (folder / GATHERED).is_file()):
        example = f", such as {others[0].name}" if others else ""
        raise BadInputError(
            f"{folder} holds what farpath has not put there{example}, which would be lost: give a "
            "directory that is new, empty, or one that was filled in this way; if an older farpath "
            "made this one of links alone, remove it"
        )
    return [file for file in names if file.name != GATHERED]


def _link_all(found: Sequence[RunStatus], folder: FilePath) -> int:
    taken = [state.record for state in found if state.record is not None]
    for record in taken:
        target = os.path.relpath(record.resolve(), folder.resolve())
        (folder / record.name).symlink_to(target, target_is_directory=True)
    return len(taken)


def recorded_runs(run_statuses: Sequence[RunStatus]) -> tuple[RecordedRun, ...]:
    """The runs that have records, and these, whose samples are read once, at first use."""
    return tuple(
        RecordedRun(state.run, load_record(state.record, verify=False))
        for state in run_statuses
        if state.record is not None
    )
