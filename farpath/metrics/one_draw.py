"""Runs in which nothing is random, and those of them that are one draw of their flows' shares.

A seed moves the start of their programs by microseconds, as far as was seen, and so which of two
packets comes first that are sent at about the same time.
"""

from __future__ import annotations

from collections.abc import Sequence

from farpath.spec.kernel_draws import draws_numbers
from farpath.spec.path import Path
from farpath.spec.plan import Plan

#: Kinds of droppers that draw random numbers.
_RANDOM_DROPPERS = ("random", "burst")
_REMEDY = "several draws (DRAW=1, DRAW=2 ...; --draws=5 of sweeps and leagues)"
_OF_SEEDS = "another seed moves only the start of its programs, by microseconds"


def is_one_draw(plan: Plan) -> bool:
    """Whether several flows share drop-tail queues in a run in which nothing is random.

    Which packet a full queue drops hangs on the phase of the flows' packets then (Floyd and
    Jacobson, On traffic phase effects in packet-switched gateways, 1991), so that one such run says
    little of the flows' shares, and further seeds hardly more.
    """
    return len(plan.schedule.all_flows) > 1 and not plan.path.queue and not is_random(plan)


def is_random(plan: Plan) -> bool:
    """Whether anything in a run is drawn by chance, or depends on the machine.

    Programs that may draw numbers of their own (UDT, QUIC, images, modules) count as random, and so
    do active queues.
    """
    return not (
        plan.settings.cpu_is_free
        and not plan.path.queue
        and not draws_numbers(plan)
        and all(stack.congestion for stack in plan.stacks)
        and not plan.era.jitter_ms
        and not _has_chance(plan.path)
        and not any(dropper.kind in _RANDOM_DROPPERS for dropper in plan.droppers)
        and not _has_random_cable(plan)
    )


def _has_chance(path: Path) -> bool:
    background = path.background
    return bool(
        path.loss
        or path.jitter_ms
        or path.reorder
        or path.duplicate
        or path.short_flows
        or (background and background.on_part < 1)
    )


def _has_random_cable(plan: Plan) -> bool:
    cables = plan.user_network.cables if plan.user_network else ()
    return any(
        shaping.loss or shaping.jitter_ms
        for cable in cables
        for shaping in (cable.there, cable.back)
    )


def one_draw_text() -> str:
    """Return the note on a run that is one draw, with the options that show its influence."""
    return (
        f"nothing in this run is random: {_OF_SEEDS}, and shares may hang on their phase (Floyd "
        f"and Jacobson 1991); {_REMEDY} show how much"
    )


def one_draw_sentences(plan: Plan) -> tuple[str, ...]:
    """Return the same as a sentence of its own; none for another run."""
    return (f"One draw: {one_draw_text()}.",) if is_one_draw(plan) else ()


def one_draw_notes(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return the same of some among several runs, as a sentence; none if there is no such run."""
    found = [plan for plan in plans if is_one_draw(plan)]
    if not found:
        return ()
    return (
        f"One draw: nothing is random in {len(found)} of {len(plans)} runs: {_OF_SEEDS}, and "
        f"shares may hang on their phase (Floyd and Jacobson 1991); {_REMEDY} show how much.",
    )
