"""The command that repeats a run, as it was typed or derived from its plan.

A command is given only if it leads to the same plan.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from farpath.base.errors import FarpathError
from farpath.base.options import options_of
from farpath.base.path_variants import base_name, of_topology
from farpath.mechanisms.changes.timeline_text import rate_text, rtt_text
from farpath.mechanisms.draw.mechanism import undrawn
from farpath.mechanisms.registry import texts_of
from farpath.planning.end_host_sysctls import OWN_SETTINGS
from farpath.planning.path_files import named_paths
from farpath.planning.request import ACKS, RunRequest
from farpath.planning.schedules import schedule_option
from farpath.record.identity import plan_identity
from farpath.spec.labels import counted, stacks_label
from farpath.spec.plan import DUMBBELL, Plan
from farpath.spec.settings import VIRTUAL

COMMAND = ("farpath", "run")


def command_of(plan: Plan, typed: Mapping[str, str] | None = None) -> str | None:
    """Return the ``farpath run`` that leads to a plan; None if no options alone lead to it.

    ``typed``: the options as its record has them. Without them, or where they no longer mean the
    plan, the command is the shortest that does: a file may have changed, and outside the command
    line an RTT chooses no path. A user's files (a path, a topology, a stack's source, an image)
    are in no option that a plan could tell.
    """
    if plan.images or plan.user_network or any(stack.build for stack in plan.stacks):
        return None
    identity = plan_identity(plan)
    if typed is not None and _gives_plan(request := _request(typed), identity):
        return _command(request)
    for request in _candidates(plan):
        if _gives_plan(request, identity):
            return _command(_shortest(request, identity))
    return None


def _request(typed: Mapping[str, str]) -> RunRequest:
    """Return the request of typed options, without those that this version does not know."""
    names = [option.name for option in options_of(RunRequest)]
    return RunRequest(**{name: typed[name] for name in names if name in typed})


def _command(request: RunRequest) -> str:
    return shlex.join([*COMMAND, *request.options()])


def _gives_plan(request: RunRequest, identity: str) -> bool:
    try:
        return plan_identity(request.plan(path_by_rtt=True)) == identity
    except FarpathError:
        return False


def _shortest(request: RunRequest, identity: str) -> RunRequest:
    """Remove each option that changes nothing, but keep the path's name or its RTT."""
    defaults = RunRequest()
    for option in options_of(RunRequest):
        if option.name == "path":
            continue
        without = request.changed(**{option.name: getattr(defaults, option.name)})
        if without != request and _gives_plan(without, identity):
            request = without
    return request


def _candidates(plan: Plan) -> Iterator[RunRequest]:
    """Yield possible requests; sysctls are those that the other options do not set."""
    full = _full_request(plan)
    # A given window does not change with senders that are farther away
    for request in (full, full.changed(window=None)):
        yield request
        try:
            settings = request.plan(path_by_rtt=True).path.sysctl
        except FarpathError:
            continue
        sysctls = [
            f"{name}={value}"
            for name, value in plan.path.sysctl.items()
            if settings.get(name) != value and name not in OWN_SETTINGS
        ]
        if sysctls:
            yield request.changed(sysctl=",".join(sysctls))


def _full_request(plan: Plan) -> RunRequest:
    """Return the request with all that a plan says, as options of the command line."""
    before = undrawn(plan)
    path, settings, schedule = plan.path, plan.settings, before.schedule
    name = base_name(path.name, of_topology(plan.topology, plan.bottlenecks))
    size = f"{path.buffer_bytes / 1e6:.12g}MB"
    buffer = f"{path.buffer_packets}packets" if path.buffer_packets else size
    return RunRequest(
        path=name if name in named_paths() else None,
        rtt=rtt_text(path),
        rate=None if path.rate_trace else rate_text(path),
        buffer=buffer,
        loss=repr(path.loss),
        mtu=str(path.mtu_bytes),
        window=f"{path.window_bytes / 1e6:.12g}MB",
        acks=next(word for word, delayed in ACKS.items() if delayed == settings.delayed_ack),
        topology=_topology(plan),
        senders=" ".join(map(str, plan.senders)) or None,
        reverse=_without_blanks(counted([flow.stack for flow in schedule.reverse])) or None,
        ip=str(plan.ip_version),
        stack=_without_blanks(stacks_label(schedule)),
        schedule=schedule_option(schedule),
        region=f"{schedule.region_s:g}s",
        sample=f"{settings.sample_interval_s * 1e3:g}ms",
        seed=str(plan.seed),
        lab=settings.lab,
        clock=settings.clock if settings.lab == VIRTUAL else None,
        **{**texts_of(plan), **texts_of(before)},
    )


def _topology(plan: Plan) -> str | None:
    if plan.topology == DUMBBELL:
        return None
    return f"{plan.topology}:{plan.bottlenecks}" if plan.bottlenecks > 1 else plan.topology


def _without_blanks(label: str) -> str:
    return label.replace(" ", "")
