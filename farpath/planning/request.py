"""Asked: a run in the words of the command line, and the plan that they mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Protocol

from farpath.base.errors import BadInputError
from farpath.planning import era_catalog, path_files, path_options, quantities, stack_texts
from farpath.planning.droppers import parse_droppers
from farpath.planning.end_host_sysctls import check_setting
from farpath.planning.network import resolve_network
from farpath.planning.planner import make_plan
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import SCHEDULES, SEVEN_REGIONS
from farpath.spec.settings import CLOCKS, VIRTUAL

if TYPE_CHECKING:
    from farpath.spec.host_image import HostImage
    from farpath.spec.stack import Stack

DEFAULT_STACK = "htcp"
DEFAULT_REGION = "120s"
SEED_RANGE = (1, 2**31 - 1)
#: What a receiver acknowledges: every second packet at once, or each.
ACKS = {"delayed": True, "each": False}
#: Words that say of a path, by the names of :func:`farpath.planning.path_options.resolve_path`.
_OF_PATH = ("rtt", "background", "sysctl", *path_options.FIELDS)


class UserParts(Protocol):
    """Makes what a request names of the user's own: stacks and images of end hosts."""

    def stack(self, text: str) -> Stack | None:
        """The user's stack that a text means, built; None if it names another."""

    def images(self, text: str, plan: Plan) -> Mapping[str, HostImage]:
        """The images, built, that a text means for the end hosts of a plan."""


@dataclass(frozen=True)
class RunRequest:
    """What ``farpath run`` is told, word for word; None is its default.

    Each field is an option of that name (``sender_image`` is ``--sender-image``).
    """

    path: str | None = None
    rtt: str | None = None
    rate: str | None = None
    buffer: str | None = None
    loss: str | None = None
    drop: str | None = None
    background: str | None = None
    jitter: str | None = None
    reorder: str | None = None
    duplicate: str | None = None
    mtu: str | None = None
    window: str | None = None
    sysctl: str | None = None
    acks: str | None = None
    topology: str | None = None
    senders: str | None = None
    reverse: str | None = None
    ip: str | None = None
    stack: str = DEFAULT_STACK
    schedule: str = SEVEN_REGIONS
    era: str | None = None
    region: str = DEFAULT_REGION
    seed: str = "1"
    lab: str = VIRTUAL
    clock: str | None = None
    sender_image: str | None = None
    trace: str | None = None

    def plan(
        self,
        own_paths: Mapping[str, FilePath] | None = None,
        user_parts: UserParts | None = None,
    ) -> Plan:
        """The plan that the words mean; its path's ``sources`` say where each value is from.

        ``own_paths``: files that names of paths mean first. ``user_parts``: makes what the
        words name of the user's own; without it no word may. Raises BadInputError for a word
        that means nothing, or what another contradicts.
        """
        clock = _clock(self.lab, self.clock)
        region_s = quantities.parse_duration_s(self.region)
        path = self._path(own_paths or {})
        era = None if self.era is None else era_catalog.era_by_text(self.era)
        seed = _seed(self.seed)
        path, network = resolve_network(
            *(path, self.topology, self.senders, self.reverse, self.ip),
            keep_window=self.window is not None,
        )
        for name in path_options.parse_sysctl(self.sysctl) if self.sysctl is not None else ():
            check_setting(name, network.ip_version)
        make = SCHEDULES[_choice("SCHEDULE", self.schedule, SCHEDULES)]
        texts = network.stacks(stack_texts.parse_stacks(self.stack), self.schedule)
        own: dict[str, Stack] = {}
        if user_parts is not None:
            named = dict.fromkeys([*texts, *network.reverse])
            own = {text: stack for text in named if (stack := user_parts.stack(text))}
        labels, reverse = (
            [own[text].label if text in own else text for text in some]
            for some in (texts, network.reverse)
        )
        plan = make_plan(
            path,
            network.schedule(make(labels, region_s), reverse),
            seed,
            clock,
            era,
            own=tuple(own.values()),
            lab=self.lab,
            network=network,
            droppers=() if self.drop is None else parse_droppers(self.drop),
            delayed_ack=self.acks is None or ACKS[_choice("ACKS", self.acks, ACKS)],
            trace_interval_s=0.0 if self.trace is None else quantities.parse_trace_s(self.trace),
        )
        if self.sender_image is None:
            return plan
        if user_parts is None:
            raise BadInputError(
                f"SENDER_IMAGE is '{self.sender_image}': an image of yours is for a single run"
            )
        return dataclasses.replace(plan, images=user_parts.images(self.sender_image, plan))

    def _path(self, own_paths: Mapping[str, FilePath]) -> Path:
        words = {word: getattr(self, word) for word in _OF_PATH}
        own = own_paths.get(self.path or "")
        if own is None:
            return path_options.resolve_path(self.path, **words)
        if given := [word for word, text in words.items() if text is not None]:
            raise BadInputError(
                f"path {self.path} is an experiment's own: {given[0]} cannot be changed with it"
            )
        return path_files.load_path(own)

    @classmethod
    def of_options(cls, options: Sequence[str]) -> RunRequest:
        """The inverse of :meth:`options`; BadInputError for what is no option of a run."""
        names = {f"--{field.name.replace('_', '-')}": field.name for field in fields(cls)}
        found: dict[str, str] = {}
        for option in options:
            name, equals, value = option.partition("=")
            if name not in names or not equals:
                raise BadInputError(
                    f"'{option}' is no option of a run: give --rtt=164ms and the like; there are "
                    f"{', '.join(names)}"
                )
            found[names[name]] = value
        return cls(**found)

    def options(self) -> tuple[str, ...]:
        """The options that say this, defaults left out."""
        return tuple(
            f"--{field.name.replace('_', '-')}={value}"
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        )


def _choice(name: str, value: str, allowed: Iterable[str]) -> str:
    if value not in allowed:
        raise BadInputError(f"{name} is '{value}': it must be one of {', '.join(allowed)}")
    return value


def check_lab(lab: str) -> str:
    """A lab's name as it was given; BadInputError if there is none of that name."""
    return _choice("LAB", lab, CLOCKS)


def _clock(lab: str, clock: str | None) -> str:
    allowed = CLOCKS[check_lab(lab)]
    if clock is None:
        return allowed[0]
    return _choice("CLOCK" if lab == VIRTUAL else f"CLOCK of LAB={lab}", clock, allowed)


def _seed(text: str) -> int:
    low, high = SEED_RANGE
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and low <= int(text) <= high):
        raise BadInputError(f"SEED is '{text}': it must be a whole number from {low} to {high}")
    return int(text)
