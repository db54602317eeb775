"""The two runs that are compared: records, requests, or one run on two kernels."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.options import options_of
from farpath.planning.request import RunRequest
from farpath.runs.again import Repetition, repetition, requested
from farpath.spec import capture_sizes
from farpath.spec.capture import MOST_CAPTURE_BYTES, Capture
from farpath.spec.plan import Plan
from farpath.spec.trace import hosts as trace_hosts
from topologies import lay_out

#: Interval of the trace. A finer one may move packets.
TRACE = "5ms"
KERNEL = "kernel"
EXAMPLE = "'rtt=20ms stack=cubic'"


def diff_command(a: FilePath, b: FilePath | None, kernel: str = "") -> str:
    """Return the command that compares two records, or one with its run on another kernel."""
    other = [str(b)] if b is not None else [f"--{KERNEL}={kernel}"]
    return shlex.join(["farpath", "diff", str(a), *other])


@dataclasses.dataclass(frozen=True)
class Question:
    """Two runs to be made again with captures and, where TCP sends, a trace.

    ``places``: that are captured in both. ``left_out``: places for which there was no room.
    """

    a: Repetition
    b: Repetition
    places: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def question(a: str, b: str | None, kernel: str | None, capture: str | None) -> Question:
    """Return the two runs that texts name.

    ``a``, ``b``: directories of records, or options of a run (``rtt=20ms stack=cubic``).
    ``kernel``: that of B; without ``b`` it is A's run on this kernel. ``capture``: places, by
    default all that fit. Raises BadInputError for texts that are neither, for runs without a
    place in common, and as ``repetition`` and ``requested``.
    """
    if b is None and kernel is None:
        raise BadInputError(
            problem="a run is compared with another one",
            remedy="give a second record, or a kernel with `kernel`",
        )
    first = run_of(a, None)
    second = run_of(b or a, kernel)
    if capture is not None:
        further = {"capture": capture}
        first, second = first.with_options(further), second.with_options(further)
        places = tuple(one.place for one in first.planned.plan.captures)
        return Question(_traced(first), _traced(second), places)
    plans = first.planned.plan, second.planned.plan
    common = [place for place in _places(plans[0]) if place in _places(plans[1])]
    if not common:
        raise BadInputError(
            problem="the two runs have no host and no bottleneck in common",
            remedy="compare runs of one topology",
        )
    places = _that_fit(common, plans)
    further = {"capture": ",".join(places)}
    first, second = first.with_options(further), second.with_options(further)
    left_out = tuple(place for place in common if place not in places)
    return Question(_traced(first), _traced(second), places, left_out)


def run_of(text: str, kernel: str | None) -> Repetition:
    """Return the run of a record's directory, or of options of a run, on a kernel of its own."""
    words = shlex.split(text) if "=" in text and not FilePath(text).is_dir() else []
    if not words:
        return repetition(FilePath(text), kernel=kernel)
    options = dict(word.removeprefix("--").partition("=")[::2] for word in words)
    options = {name.replace("-", "_"): value for name, value in options.items()}
    own_kernel = options.pop(KERNEL, None)
    known = [option.name for option in options_of(RunRequest)]
    if unknown := [name for name, value in options.items() if name not in known or not value]:
        raise BadInputError(
            problem=f"'{text}': '{unknown[0]}' is no option of a run with a value, and the whole "
            "is no directory",
            remedy=f"give the directory of a record, or options of a run as in {EXAMPLE}",
        )
    return requested(RunRequest(**options), kernel or own_kernel)


def _traced(one: Repetition) -> Repetition:
    """Return a run with a trace, unless it has one already or must have none.

    Without a flow of the kernel's TCP there is nothing to trace, and tracers at several hosts move
    packets.
    """
    plan = one.planned.plan
    if plan.settings.trace_interval_s:
        return one
    settings = dataclasses.replace(plan.settings, trace_interval_s=1.0)
    if len(trace_hosts(dataclasses.replace(plan, settings=settings))) != 1:
        return one
    return one.with_options({"trace": TRACE})


def _places(plan: Plan) -> list[str]:
    """Return all places of a plan that can be captured: hosts of flows first, the pinger last."""
    ports = list(capture_sizes.ports(lay_out(plan)))
    hosts = [host for pair in plan.pairs for host in pair]
    ends = [place for place in dict.fromkeys(hosts) if place in ports]
    others = [place for place in ports if place not in ends and place != plan.pinger]
    pinger = [place for place in ports if place == plan.pinger and place not in ends]
    return [*ends, *others, *pinger]


def _that_fit(places: list[str], plans: tuple[Plan, Plan]) -> tuple[str, ...]:
    """Return as many places, from the first on, as a run has room for; at least one."""
    room_bytes, fitting = MOST_CAPTURE_BYTES, list[str]()
    for place in places:
        room_bytes -= max(capture_sizes.most_bytes(plan, Capture(place)) for plan in plans)
        if room_bytes < 0 and fitting:
            break
        fitting.append(place)
    return tuple(fitting)
