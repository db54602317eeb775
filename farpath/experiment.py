"""Experiment: a folder's experiment.toml, and the runs that it asks for."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.errors import BadInputError
from farpath.lab.images import PROJECT
from farpath.plan import HOST, VIRTUAL, VIRTUAL_CLOCK

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from farpath.plan import Plan

#: The paper's own.
PAPER = "seven-regions"
#: Where experiments are, each a folder with this file.
EXPERIMENTS = PROJECT / "experiments"
FILE = "experiment.toml"
#: Where an experiment's folder has paths of its own, files as in topologies/paths.
OWN_PATHS = "paths"
#: The sets of runs of an experiment: all of it, and the tables that make another.
WHOLE = "whole"
QUICK = "quick"
CPU = "cpu"
SETS = (WHOLE, QUICK, CPU)
#: Entry of ``minutes`` for stacks that have none of their own.
OTHERS = "others"
#: The region that ``minutes`` are for.
MINUTES_REGION_S = 120.0


@dataclass(frozen=True)
class Choice:
    """Runs: each path with each stack and each seed. Texts as the command line takes them.

    An empty ``clock`` is the first of the lab's.
    """

    paths: tuple[str, ...]
    stacks: tuple[str, ...]
    seeds: tuple[int, ...]
    region: str
    era: str
    clock: str = ""
    lab: str = VIRTUAL


@dataclass(frozen=True)
class Change:
    """What a set of runs has otherwise than the whole; None is the same."""

    paths: tuple[str, ...] | None = None
    stacks: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None
    region: str | None = None
    era: str | None = None
    clock: str | None = None
    lab: str | None = None


@dataclass(frozen=True)
class _Content:
    """An experiment.toml as it stands, before its texts are understood."""

    title: str
    paths: tuple[str, ...]
    stacks: tuple[str, ...]
    seeds: tuple[int, ...]
    region: str
    era: str
    clock: str = ""
    lab: str = VIRTUAL
    quick: Change | None = None
    cpu: Change | None = None
    held_out: tuple[str, ...] = ()
    minutes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class WantedRun:
    """One run of an experiment: its plan, its command, and how long it may take.

    ``expected_s``: real seconds on one core, from the experiment's ``minutes``.
    """

    plan: Plan
    command: tuple[str, ...]
    expected_s: float

    @property
    def on_host(self) -> bool:
        """Whether it is a run of the host lab."""
        return self.plan.settings.lab == HOST

    @property
    def label(self) -> str:
        """The run for people: path, stack, seed, and lab or clock if they are not virtual."""
        clock = self.plan.settings.clock
        end = "" if clock == VIRTUAL_CLOCK else f", {clock} clock"
        end = ", host lab" if self.on_host else end
        return f"{self.plan.path.name} {self.plan.stacks[0].label} seed {self.plan.seed}{end}"


@dataclass(frozen=True)
class Experiment:
    """An experiment's name, title, sets of runs and what runs of its stacks take.

    ``held_out``: stacks that no model of a path was fitted to. ``own_paths``: the files of
    paths that the folder brings, by name; they hide named paths.
    """

    name: str
    title: str
    choices: dict[str, Choice]
    minutes: dict[str, float]
    held_out: tuple[str, ...]
    own_paths: dict[str, FilePath]

    def runs(self, which: str = WHOLE) -> tuple[WantedRun, ...]:
        """The runs of a set, the longest first.

        Raises BadInputError for a set that this experiment has not.
        """
        if which not in self.choices:
            raise BadInputError(
                f"experiment {self.name} has no set '{which}': allowed are "
                f"{', '.join(self.choices)}; name it in its {FILE}, as a table [{which}]"
            )
        choice = self.choices[which]
        wanted = [
            self._wanted(choice, path, stack, seed)
            for seed in choice.seeds
            for path in choice.paths
            for stack in choice.stacks
        ]
        ordered = sorted(wanted, key=lambda run: -run.expected_s)
        return tuple(
            dataclasses.replace(run, command=self._own_command(which, index, run))
            for index, run in enumerate(ordered)
        )

    def _own_command(self, which: str, index: int, run: WantedRun) -> tuple[str, ...]:
        """A run's command; on a path of the experiment's own, which no name means, by index."""
        own = self.own_paths.get(run.plan.path.name)
        if own is None:
            return run.command
        asked = (f"--experiment={self.name}", f"--experiments={own.parents[2]}", f"--set={which}")
        return ("farpath", "campaign", *asked, f"--index={index}")

    def _wanted(self, choice: Choice, path: str, stack: str, seed: int) -> WantedRun:
        from farpath.eras import era_by_text
        from farpath.inputs import load_path, resolve_path
        from farpath.run import make_plan
        from farpath.schedule import seven_regions
        from farpath.units import parse_duration_s

        region_s = parse_duration_s(choice.region)
        if path in self.own_paths:
            where = load_path(self.own_paths[path])
        else:
            # As the command line makes it, so that both give one record.
            where, _ = resolve_path(path)
        schedule = seven_regions(stack, region_s)
        clock = choice.clock or _clocks()[choice.lab][0]
        era = era_by_text(choice.era)
        plan = make_plan(where, schedule, seed, clock, era, lab=choice.lab)
        minutes = self.minutes.get(stack, self.minutes.get(OTHERS, 1.0))
        return WantedRun(
            plan=plan,
            command=(
                "farpath", "run", f"--path={path}", f"--stack={stack}", f"--era={choice.era}",
                f"--region={choice.region}", f"--seed={seed}",
                *([f"--lab={HOST}"] if choice.lab == HOST else []), f"--clock={clock}",
            ),
            expected_s=60.0 * minutes * region_s / MINUTES_REGION_S,
        )  # fmt: skip


@cache
def _clocks() -> dict[str, tuple[str, ...]]:
    """The clocks of each lab; its first is the one that is meant without another word."""
    from farpath.lab import host, virtual

    return {VIRTUAL: tuple(virtual.CLOCKS), HOST: host.CLOCKS}


@cache
def _adapter() -> TypeAdapter[_Content]:
    from pydantic import TypeAdapter

    return TypeAdapter(_Content)


def experiment_names(folder: FilePath = EXPERIMENTS) -> tuple[str, ...]:
    """The names of all experiments in a folder."""
    return tuple(sorted(file.parent.name for file in folder.glob(f"*/{FILE}")))


def load_experiment(name: str, folder: FilePath = EXPERIMENTS) -> Experiment:
    """The experiment of that name.

    Raises BadInputError for a name that no folder has, and for a file with a field
    that is missing, unknown, of the wrong type or means nothing.
    """
    names = experiment_names(folder)
    if name not in names:
        raise BadInputError(
            f"EXPERIMENT is '{name}': it must be one of {', '.join(names) or 'none'}, "
            f"the folders in {folder} with {FILE}"
        )
    file = folder / name / FILE
    content = _read(file)
    base = Choice(
        *(content.paths, content.stacks, content.seeds),
        *(content.region, content.era, content.clock, content.lab),
    )
    choices = {WHOLE: base}
    for which, change in ((QUICK, content.quick), (CPU, content.cpu)):
        if change is not None:
            given = {key: value for key, value in vars(change).items() if value is not None}
            if "lab" in given:
                # Another lab has other clocks
                given.setdefault("clock", "")
            choices[which] = dataclasses.replace(base, **given)
    own_paths = {file.stem: file for file in sorted(file.parent.glob(f"{OWN_PATHS}/*.toml"))}
    for which, choice in choices.items():
        _check(choice, own_paths, f"{file}: {'' if which == WHOLE else f'[{which}] '}")
    _check_stacks_named(content, file)
    return Experiment(name, content.title, choices, content.minutes, content.held_out, own_paths)


def _read(file: FilePath) -> _Content:
    """A file's content, of the right fields and types."""
    from pydantic import ValidationError

    from farpath.inputs import read_toml

    data = read_toml(file)
    problems = _unknown(data, _Content, "")
    for which in SETS[1:]:
        if isinstance(data.get(which), dict):
            problems += _unknown(data[which], Change, f"[{which}] ")
    content = None
    try:
        content = _adapter().validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as error:
        for fault in error.errors():
            problems.append(f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].lower()}")
    if problems or content is None:
        raise BadInputError(f"{file}: {'; '.join(problems)}")
    return content


def _unknown(data: dict[str, Any], kind: type, where: str) -> list[str]:
    known = [field.name for field in dataclasses.fields(kind)]
    return [
        f"{where}{name}: unknown field; the fields are {', '.join(known)}"
        for name in sorted(set(data) - set(known))
    ]


def _check(choice: Choice, own_paths: dict[str, FilePath], where: str) -> None:
    """Raise BadInputError, beginning with ``where``, for a value that means nothing."""
    from farpath.eras import era_by_text
    from farpath.inputs import path_by_name
    from farpath.stacks import resolve_stack
    from farpath.units import parse_duration_s

    for name in ("paths", "stacks", "seeds"):
        values = getattr(choice, name)
        if not values or len(set(values)) < len(values):
            raise BadInputError(f"{where}{name}: holds nothing, or something twice: {list(values)}")
    if wrong := [seed for seed in choice.seeds if not 1 <= seed < 2**31]:
        raise BadInputError(f"{where}seeds: {wrong} lie outside 1 to {2**31 - 1}")
    if choice.lab not in _clocks():
        raise BadInputError(
            f"{where}lab: is '{choice.lab}', it must be one of {', '.join(_clocks())}"
        )
    clocks = _clocks()[choice.lab]
    if choice.clock and choice.clock not in clocks:
        raise BadInputError(
            f"{where}clock: is '{choice.clock}', it must be one of {', '.join(clocks)}"
        )
    try:
        parse_duration_s(choice.region)
        era = era_by_text(choice.era).name
        for path in choice.paths:
            if path not in own_paths:
                path_by_name(path)
        for stack in choice.stacks:
            resolve_stack(stack, era)
    except BadInputError as error:
        raise BadInputError(f"{where}{error.message}") from error


def _check_stacks_named(content: _Content, file: FilePath) -> None:
    """Raise BadInputError if the file says something of a stack that it does not run."""
    if others := [name for name in content.held_out if name not in content.stacks]:
        raise BadInputError(f"{file}: held_out: {others} are no stacks of this experiment")
    for name, minutes in content.minutes.items():
        if name not in (*content.stacks, OTHERS):
            raise BadInputError(
                f"{file}: minutes.{name}: is no stack of this experiment, nor '{OTHERS}'"
            )
        if not 0 < minutes < 1e6:
            raise BadInputError(f"{file}: minutes.{name}: is {minutes}, it must be above 0")
