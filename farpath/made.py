"""Made: which runs of an experiment have records, where, and what is wrong with others.

A run's record is the one at its place, or one of the same source identity: made on
another machine, and shipped with the project or copied here. Records of another
kernel, image or setting count for nothing; those of other code of farpath's are marked.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.errors import FarpathError
from farpath.experiment import EXPERIMENTS, WantedRun
from farpath.identity import is_of_other_code, source_identity, source_of
from farpath.lab.images import Images
from farpath.record import RECORD_FILE, load_record
from farpath.run import place_name

#: Where damaged records are put, beside the others.
ASIDE = "damaged"


@dataclass(frozen=True)
class State:
    """A run, its place's name here, and its record; None if it has to be made.

    ``problem``: why a record that is there is not taken. ``other_code``: whether another
    version of farpath's code made the record.
    """

    run: WantedRun
    name: str
    record: FilePath | None
    problem: str = ""
    other_code: bool = False


def shipped_records(experiment: str, experiments: FilePath = EXPERIMENTS) -> FilePath:
    """Where the records are that the project ships of an experiment."""
    return experiments / experiment / "records"


def records_in(directory: FilePath) -> list[FilePath]:
    """The directories of all records in one, whole or damaged; none that is being made."""
    places = [file.parent for file in directory.glob(f"*/{RECORD_FILE}")]
    return sorted(place for place in places if not place.name.startswith("."))


def states(
    runs: Sequence[WantedRun], images: Images, directories: Sequence[FilePath]
) -> tuple[State, ...]:
    """Each run's state, in their order. Records of the first directories come first.

    Every record that counts is read whole and checked by its fingerprint.
    """
    there = [place for directory in directories for place in records_in(directory)]
    by_source: dict[str, list[FilePath]] = {}
    for place in there:
        source = source_of(place / RECORD_FILE)
        if source is not None:
            by_source.setdefault(source, []).append(place)
    found = []
    for run in runs:
        name = place_name(run.plan, images)
        places = [place for place in there if place.name == name]
        places += by_source.get(source_identity(run.plan, images), [])
        found.append(_state(run, name, dict.fromkeys(places)))
    return tuple(found)


def _state(run: WantedRun, name: str, places: Iterable[FilePath]) -> State:
    problem = ""
    for place in places:
        try:
            record = load_record(place)
        except FarpathError as error:
            problem = error.message
        else:
            return State(run, name, place, other_code=is_of_other_code(record))
    return State(run, name, None, problem)


def put_aside(out: FilePath, missing: Iterable[State]) -> list[str]:
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


def gather(found: Sequence[State], folder: FilePath) -> int:
    """Make a directory hold links to the records of these runs and nothing else.

    Returns how many there are. So what tables and claims are made of never mixes
    records of different kernels, images or settings.
    """
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    taken = [state.record for state in found if state.record is not None]
    for record in taken:
        target = os.path.relpath(record.resolve(), folder.resolve())
        (folder / record.name).symlink_to(target, target_is_directory=True)
    return len(taken)
