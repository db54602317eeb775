"""The planner: joins path, schedule, stacks and network to one plan, and checks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from farpath.base.errors import BadInputError
from farpath.mechanisms.era.mechanism import era_by_text
from farpath.mechanisms.registry import apply_options
from farpath.planning.memory import memory_bytes
from farpath.planning.network_options import NetworkOptions
from farpath.planning.rules import check_plan
from farpath.programs.catalog import (
    check_together,
    era_of,
    fitted,
    resolve_stack,
)
from farpath.programs.registry import program_of
from farpath.spec.era import Era
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import Schedule
from farpath.spec.settings import VIRTUAL, VIRTUAL_CLOCK, Settings
from farpath.spec.stack import Stack
from topologies import find_topology

#: How often a receiver that discards payload wakes for each window of data. With fewer wakes the
#: kernel would enlarge the receive buffer (tcp_set_rcvlowat in net/ipv4/tcp.c) and close the window
#: meanwhile. It wakes more often with a small window, since unread data reduces what it offers.
LEAST_WAKES_PER_WINDOW, WAKES_PER_SMALL_WINDOW = 4, 8
#: A dumbbell with one sender.
DEFAULT_NETWORK = NetworkOptions()


def make_plan(
    path: Path,
    schedule: Schedule,
    seed: int,
    clock: str,
    era: Era | None = None,
    user_stacks: Sequence[Stack] = (),
    lab: str = VIRTUAL,
    network: NetworkOptions = DEFAULT_NETWORK,
    delayed_ack: bool = True,
    sample_interval_s: float = 1.0,
    options: Mapping[str, str | None] = MappingProxyType({}),
    programs: bool = False,
) -> Plan:
    """Make the plan of a run and check it.

    The schedule's flows name their stacks by a text of ``farpath.programs.catalog`` or by
    the label of one of ``user_stacks``, and run between hosts of ``network``. Without an era or an
    option of it, hosts have the era of the stacks. The receiver discards payload unread on the
    virtual clock only. ``sample_interval_s``: time between two samples. ``options``: those of
    mechanisms, by name. ``programs``: whether a user's programs run in place of the flows. Raises
    BadInputError for an unknown stack, and for options that contradict
    each other.
    """
    if era is None and (text := options.get("era")):
        era = era_by_text(text)
    by_text: dict[str, Stack] = {}
    for stack in user_stacks:
        if by_text.setdefault(stack.label, stack).build != stack.build:
            raise BadInputError(
                option="stack",
                problem=f"two of yours are called {stack.label}",
                remedy="rename the file or the image of one, so that records tell them apart",
            )
    for text in dict.fromkeys(flow.stack for flow in schedule.all_flows):
        if text not in by_text:
            by_text[text] = resolve_stack(text, era.name if era else None)
    used = {by_text[flow.stack].label: by_text[flow.stack] for flow in schedule.all_flows}
    stacks = tuple(fitted(stack, path, network.ip_version) for stack in used.values())
    check_together(stacks)
    era = era or era_by_text(era_of(stacks))
    stacks = tuple(program_of(stack).recovering(stack, era) for stack in stacks)
    _check_settings(path, era, stacks)
    flows, reverse = (
        tuple(replace(flow, stack=by_text[flow.stack].label) for flow in flows)
        for flows in (schedule.flows, schedule.reverse)
    )
    if path.hops and not find_topology(network.topology).crosses_hops:
        path = _without_hops(path)
    plan = Plan(
        path,
        replace(schedule, flows=flows, reverse=reverse),
        Settings(
            clock=clock,
            receiver_discards=clock == VIRTUAL_CLOCK,
            lab=lab,
            wake_bytes=_wake_bytes(path.window_bytes),
            delayed_ack=delayed_ack,
            sample_interval_s=sample_interval_s,
        ),
        seed,
        topology=network.topology,
        stacks=stacks,
        era=era,
        senders=network.senders,
        ip_version=network.ip_version,
        bottlenecks=network.bottlenecks,
        user_network=network.own,
        programs=programs,
    )
    plan = apply_options(plan, options)
    check_plan(plan)
    return replace(plan, settings=replace(plan.settings, memory_bytes=memory_bytes(plan)))


def _without_hops(path: Path) -> Path:
    """Return a path as a topology has it whose packets cross no router."""
    sources = {field: source for field, source in path.sources.items() if field != "hops"}
    return replace(path, hops=(), sources=sources)


def _wake_bytes(window_bytes: int) -> int:
    """Return the bytes after which a receiver that discards payload wakes (SO_RCVLOWAT)."""
    if window_bytes >= LEAST_WAKES_PER_WINDOW * Settings.wake_bytes:
        return Settings.wake_bytes
    return window_bytes // WAKES_PER_SMALL_WINDOW


def _check_settings(path: Path, era: Era, stacks: Sequence[Stack]) -> None:
    """Raise BadInputError for a path's sysctl that contradicts the era's or a stack's."""
    required = {f"era {era.name}": era.sysctl, **{stack.label: stack.sysctl for stack in stacks}}
    for owner, sysctl in required.items():
        for name, value in sysctl.items():
            if path.sysctl.get(name, value) != value:
                raise BadInputError(
                    option="sysctl",
                    problem=(
                        f"{name} is {path.sysctl[name]} on path {path.name}, and {owner} needs "
                        f"{value}"
                    ),
                    remedy="leave one of them out",
                )
