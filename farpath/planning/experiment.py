"""Experiments: the runs that the experiment.toml of a folder describes.

The file has a ``title`` and one or more tables ``[[runs]]`` with options of ``farpath run``. A list
of values stands for one run with each value. Several lists stand for every combination of their
values. ``[runs.quick]`` and ``[runs.cpu]`` hold the options in which the quick and the cpu set of
runs differ; a table without one is not in that set. ``minutes``, a number or one for each stack, is
the real time of a run on one core. Instead of runs, a file may name other experiments in ``of``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.base.project import EXPERIMENTS
from farpath.planning.request import RunRequest
from farpath.planning.stack_texts import parse_stacks
from farpath.spec.settings import HOST, VIRTUAL_CLOCK

if TYPE_CHECKING:
    from farpath.planning.experiment_schema import RunsTable
    from farpath.spec.plan import Plan

#: The experiment of the paper.
PAPER = "seven-regions"
FILE = "experiment.toml"
#: Directory of an experiment's own path files, in its folder.
OWN_PATHS = "paths"
#: Sets of runs of an experiment: all runs, a short form of them, and those that count CPU.
WHOLE = "whole"
QUICK = "quick"
CPU = "cpu"
SETS = (WHOLE, QUICK, CPU)
#: Options that a run's label has in any case or says in other words.
_LABELLED = ("path", "stack", "seed", "lab", "clock")


@dataclass(frozen=True)
class WantedRun:
    """One run of an experiment.

    ``request``: its options in the file. ``command``: the command that makes it. ``label``: its
    name in messages. ``expected_s``: real seconds that it takes on one core, from ``minutes``.
    ``experiment``: the experiment whose folder describes it and keeps its record.
    """

    plan: Plan
    request: RunRequest
    command: tuple[str, ...]
    label: str
    expected_s: float
    experiment: str

    @property
    def on_host(self) -> bool:
        """Whether it is a run of the host lab."""
        return self.plan.settings.lab == HOST


@dataclass(frozen=True)
class Experiment:
    """An experiment: its name, its title, and its sets of runs, each with the longest run first.

    ``held_out``: stacks to which no path model was fitted. ``parts``: names of the experiments
    that it consists of, which is its own name if it has runs of its own.
    """

    name: str
    title: str
    sets: Mapping[str, tuple[WantedRun, ...]]
    held_out: tuple[str, ...]
    parts: tuple[str, ...]

    def runs(self, set_name: str = WHOLE) -> tuple[WantedRun, ...]:
        """Return the runs of a set, the longest first.

        Raises BadInputError if the experiment does not have this set.
        """
        if set_name not in self.sets:
            raise BadInputError(
                f"experiment {self.name} has no set '{set_name}': allowed are "
                f"{', '.join(self.sets)}; name it in its {FILE}, as a table [runs.{set_name}]"
            )
        return self.sets[set_name]


def experiment_names(folder: FilePath = EXPERIMENTS) -> tuple[str, ...]:
    """Return the names of all experiments in a folder."""
    return tuple(sorted(file.parent.name for file in folder.glob(f"*/{FILE}")))


def load_experiment(
    name: str, folder: FilePath = EXPERIMENTS, within: tuple[str, ...] = ()
) -> Experiment:
    """Load the experiment of a name.

    ``within``: the experiments that it is loaded as a part of. Raises BadInputError for an unknown
    name, for a file with an invalid field, and for experiments that contain each other.
    """
    # pydantic is slow to import
    from farpath.base.validation import validated
    from farpath.planning.experiment_schema import ExperimentFile

    names = experiment_names(folder)
    if name not in names:
        raise BadInputError(
            f"EXPERIMENT is '{name}': it must be one of {', '.join(names) or 'none'}, "
            f"the folders in {folder} with {FILE}"
        )
    file = folder / name / FILE
    data = read_toml(file)
    within = (*within, name)
    try:
        content = validated(ExperimentFile, data)
        if circle := [part for part in content.of if part in within]:
            raise BadInputError(
                f"of: {name} is made of {circle[0]}, and that of {name}: take one of them out"
            )
        sets = _own_sets(name, content.runs, folder)
        stacks = [run.request.stack for run in sets.get(WHOLE, ())]
        if unknown := [text for text in content.held_out if text not in stacks]:
            raise BadInputError(f"held_out: {unknown[0]} is no stack of this experiment")
    except BadInputError as error:
        raise BadInputError(f"{file}: {error.message}") from error
    if content.of:
        sets = _joined_sets([load_experiment(part, folder, within) for part in content.of])
    parts = tuple(content.of) or (name,)
    return Experiment(name, content.title, sets, tuple(content.held_out), parts)


def _joined_sets(experiments: list[Experiment]) -> dict[str, tuple[WantedRun, ...]]:
    return {
        set_name: _longest_first(run for part in experiments for run in part.sets.get(set_name, ()))
        for set_name in SETS
        if any(set_name in part.sets for part in experiments)
    }


def _longest_first(runs: Iterable[WantedRun]) -> tuple[WantedRun, ...]:
    return tuple(sorted(runs, key=lambda run: -run.expected_s))


def _own_sets(
    name: str, tables: list[RunsTable], folder: FilePath
) -> dict[str, tuple[WantedRun, ...]]:
    """Return the sets of an experiment that has runs of its own; empty without tables."""
    own_paths = {file.stem: file for file in sorted((folder / name / OWN_PATHS).glob("*.toml"))}
    sets = {}
    for set_name in SETS:
        runs: list[WantedRun] = []
        for index, table in enumerate(tables):
            where = f"runs.{index}" + (f".{set_name}" if set_name != WHOLE else "")
            try:
                runs += _runs_of_table(name, table, set_name, own_paths)
            except BadInputError as error:
                raise BadInputError(f"{where}: {error.message}") from error
        if runs:
            # farpath run does not know the paths of the experiment's own folder
            command = ("farpath", "campaign", f"--experiment={name}", f"--experiments={folder}")
            sets[set_name] = tuple(
                dataclasses.replace(
                    run, command=(*command, f"--set={set_name}", f"--index={index}")
                )
                if run.request.path in own_paths
                else run
                for index, run in enumerate(_longest_first(runs))
            )
    return sets


def _runs_of_table(
    name: str, table: RunsTable, set_name: str, own_paths: Mapping[str, FilePath]
) -> Iterator[WantedRun]:
    """Yield the runs that a table adds to a set, in the table's order."""
    options = _options_of(table, set_name)
    if options is None:
        return
    full_plan = next(_requests(table.options)).plan(own_paths)
    for request in _requests(options):
        plan = request.plan(own_paths)
        fraction = plan.schedule.duration_s / full_plan.schedule.duration_s
        yield WantedRun(
            plan=plan,
            request=request,
            command=("farpath", "run", *request.options()),
            label=_label(options, request, plan),
            expected_s=60 * table.minutes_of(parse_stacks(request.stack)[0]) * fraction,
            experiment=name,
        )


def _options_of(table: RunsTable, set_name: str) -> dict[str, list[str]] | None:
    """Return the options of a table for a set; None if the table is not in the set."""
    if set_name == WHOLE:
        return table.options
    changes = {QUICK: table.quick, CPU: table.cpu}[set_name]
    if changes is None:
        return None
    # Each lab has its own clocks
    dropped = "clock" if "lab" in changes.options else None
    kept = {name: values for name, values in table.options.items() if name != dropped}
    return {**kept, **changes.options}


def _requests(options: Mapping[str, list[str]]) -> Iterator[RunRequest]:
    """Yield a request for each combination of values; seeds vary slowest, then paths."""
    order = [name for name in ("seed", "path") if name in options]
    order += [name for name in options if name not in (*order, "stack")]
    order += ["stack"] if "stack" in options else []
    for values in product(*(options[name] for name in order)):
        yield RunRequest(**dict(zip(order, values, strict=True)))


def _label(options: Mapping[str, list[str]], request: RunRequest, plan: Plan) -> str:
    """Return path, stack and seed, a lab or clock that is not virtual, and what varies."""
    varied = [name for name, values in options.items() if len(values) > 1]
    details = [f"{name} {getattr(request, name)}" for name in varied if name not in _LABELLED]
    if plan.settings.lab == HOST:
        details.append("host lab")
    elif plan.settings.clock != VIRTUAL_CLOCK:
        details.append(f"{plan.settings.clock} clock")
    path_name = plan.path.name.removesuffix("-dropping")
    return ", ".join([f"{path_name} {request.stack} seed {plan.seed}", *details])
