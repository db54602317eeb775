"""The planner: path, schedule, stacks and hosts to one plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from farpath.base.errors import BadInputError
from farpath.planning.era_catalog import era_by_text
from farpath.planning.memory import memory_bytes
from farpath.planning.network import NetworkOptions
from farpath.planning.rules import check_plan
from farpath.planning.stack_catalog import check_together, era_of, fitted, resolve_stack
from farpath.spec.dropper import Dropper
from farpath.spec.era import Era
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import Schedule
from farpath.spec.settings import VIRTUAL, VIRTUAL_CLOCK, Settings
from farpath.spec.stack import Stack

#: A receiver that slept for more of its window would have the kernel enlarge its buffer
#: (tcp_set_rcvlowat in net/ipv4/tcp.c), and close it meanwhile; a small window's is to
#: wake more often, since what waits for it is missing in what it offers.
LEAST_WAKES_PER_WINDOW, WAKES_PER_SMALL_WINDOW = 4, 8
#: A dumbbell, whose one sender has the path's RTT.
DEFAULT_NETWORK = NetworkOptions()


def make_plan(
    path: Path,
    schedule: Schedule,
    seed: int,
    clock: str,
    era: Era | None = None,
    own: Sequence[Stack] = (),
    lab: str = VIRTUAL,
    network: NetworkOptions = DEFAULT_NETWORK,
    droppers: Sequence[Dropper] = (),
    delayed_ack: bool = True,
    trace_interval_s: float = 0.0,
) -> Plan:
    """The plan of a run, checked; the receiver discards payload on the virtual clock only.

    Flows name their stacks as texts of :mod:`farpath.planning.stack_catalog` or by the label of one
    of ``own``, the user's. Without an era the hosts are of that which the stacks
    belong to. The schedule's flows run between hosts that ``network`` has. With droppers the
    path is called ``<name>-dropping``: what is published of it is not of one that loses packets
    on purpose. Raises BadInputError for a text that means no stack, and for what cannot be in
    one run.
    """
    by_text = {stack.label: stack for stack in own}
    for text in dict.fromkeys(flow.stack for flow in schedule.all_flows):
        if text not in by_text:
            by_text[text] = resolve_stack(text, era.name if era else None)
    used = {by_text[flow.stack].label: by_text[flow.stack] for flow in schedule.all_flows}
    stacks = tuple(fitted(stack, path) for stack in used.values())
    check_together(stacks)
    era = era or era_by_text(era_of(stacks))
    _check_settings(path, era, stacks)
    flows, reverse = (
        tuple(replace(flow, stack=by_text[flow.stack].label) for flow in flows)
        for flows in (schedule.flows, schedule.reverse)
    )
    if droppers:
        path = replace(path, name=f"{path.name}-dropping", title=f"{path.title}, with droppers")
    plan = Plan(
        path,
        replace(schedule, flows=flows, reverse=reverse),
        Settings(
            clock=clock,
            receiver_discards=clock == VIRTUAL_CLOCK,
            lab=lab,
            wake_bytes=_wake_bytes(path.window_bytes),
            delayed_ack=delayed_ack,
            trace_interval_s=trace_interval_s,
        ),
        seed,
        topology=network.topology,
        stacks=stacks,
        era=era,
        droppers=tuple(droppers),
        senders=network.senders,
        ip_version=network.ip_version,
        bottlenecks=network.bottlenecks,
    )
    check_plan(plan)
    return replace(plan, settings=replace(plan.settings, memory_bytes=memory_bytes(plan)))


def _wake_bytes(window_bytes: int) -> int:
    """What a receiver that discards sleeps for."""
    if window_bytes >= LEAST_WAKES_PER_WINDOW * Settings.wake_bytes:
        return Settings.wake_bytes
    return window_bytes // WAKES_PER_SMALL_WINDOW


def _check_settings(path: Path, era: Era, stacks: Sequence[Stack]) -> None:
    """Raise BadInputError for a path's setting that hosts or stacks need to be another."""
    needs = {f"era {era.name}": era.sysctl, **{stack.label: stack.sysctl for stack in stacks}}
    for who, settings in needs.items():
        for name, value in settings.items():
            if path.sysctl.get(name, value) != value:
                raise BadInputError(
                    f"SYSCTL: {name} is {path.sysctl[name]} on path {path.name}, and {who} needs "
                    f"{value}: leave one of them out"
                )
