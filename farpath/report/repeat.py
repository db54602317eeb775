"""Repeat: the command that asks for a run again, derived from its plan.

A command is given only if the plan that it means is the same.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator
from typing import Any

from farpath.base.errors import FarpathError
from farpath.planning.path_files import named_paths
from farpath.planning.path_options import CONSTANT, OWN_SETTINGS
from farpath.planning.request import ACKS, RunRequest
from farpath.record.identity import plan_identity
from farpath.spec.background import Background
from farpath.spec.hosts import DUMBBELL
from farpath.spec.labels import counted, stacks_label
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL

COMMAND = ("farpath", "run")


def command_of(plan: Plan) -> str | None:
    """The shortest ``farpath run`` of that plan; None if no options alone mean it.

    Files of a user's, a path, a stack's source or an image, are in no option that a plan
    could tell.
    """
    if plan.images or any(stack.build for stack in plan.stacks):
        return None
    identity = plan_identity(plan)
    for asked in _candidates(plan):
        if _means(asked, identity):
            return shlex.join([*COMMAND, *_shortest(asked, identity).options()])
    return None


def _means(asked: RunRequest, identity: str) -> bool:
    try:
        return plan_identity(asked.plan()) == identity
    except FarpathError:
        return False


def _shortest(asked: RunRequest, identity: str) -> RunRequest:
    """Without each word that changes nothing, but with the path's name or its RTT."""
    for field in dataclasses.fields(RunRequest):
        if field.name == "path":
            continue
        changed: dict[str, Any] = {field.name: field.default}
        without = dataclasses.replace(asked, **changed)
        if without != asked and _means(without, identity):
            asked = without
    return asked


def _candidates(plan: Plan) -> Iterator[RunRequest]:
    """What may have been asked; settings are those that the rest does not bring."""
    full = _asked(plan)
    # A window that is given stays as it is with senders from farther away
    for asked in (full, dataclasses.replace(full, window=None)):
        yield asked
        try:
            settings = asked.plan().path.sysctl
        except FarpathError:
            continue
        given = [
            f"{name}={value}"
            for name, value in plan.path.sysctl.items()
            if settings.get(name) != value and name not in OWN_SETTINGS
        ]
        if given:
            yield dataclasses.replace(asked, sysctl=",".join(given))


def _asked(plan: Plan) -> RunRequest:
    """All that a plan says, in the words of the command line."""
    path, settings, schedule = plan.path, plan.settings, plan.schedule
    name = _base_name(plan)
    return RunRequest(
        path=name if name in named_paths() else None,
        rtt=f"{path.rtt_ms:.12g}ms",
        rate=f"{path.rate_bps / 1e6:.12g}Mbit",
        buffer=f"{path.buffer_bytes / 1e6:.12g}MB",
        loss=repr(path.loss),
        drop=" ".join(map(str, plan.droppers)) or None,
        background=_background(path),
        jitter=f"{path.jitter_ms:.12g}ms",
        reorder=repr(path.reorder),
        duplicate=repr(path.duplicate),
        mtu=str(path.mtu_bytes),
        window=f"{path.window_bytes / 1e6:.12g}MB",
        acks=next(word for word, delayed in ACKS.items() if delayed == settings.delayed_ack),
        topology=None if plan.topology == DUMBBELL else f"{plan.topology}:{plan.bottlenecks}",
        senders=" ".join(map(str, plan.senders)) or None,
        reverse=_words(counted([flow.stack for flow in schedule.reverse])) or None,
        ip=str(plan.ip_version),
        stack=_words(stacks_label(schedule)),
        schedule=schedule.name,
        era=plan.era.name,
        region=f"{schedule.region_s:g}s",
        seed=str(plan.seed),
        lab=settings.lab,
        clock=settings.clock if settings.lab == VIRTUAL else None,
        trace=f"{settings.trace_interval_s * 1e3:g}ms" if settings.trace_interval_s else None,
    )


def _words(label: str) -> str:
    return label.replace(" ", "")


def _base_name(plan: Plan) -> str:
    """The named path of which a plan's is a changed one; any other name for none."""
    marks = ("dropping", "ipv6", "reverse", "senders", f"{plan.topology}-{plan.bottlenecks}")
    name = plan.path.name
    for mark in (*marks, "changed"):
        name = name.removesuffix(f"-{mark}")
    return name


def _background(path: Path) -> str:
    traffic = path.background
    if traffic is None:
        return "none"
    if traffic == Background.constant(traffic.rate_bps):
        return f"{CONSTANT}{traffic.rate_bps}bit"
    return repr(traffic.mean_rate_bps / path.rate_bps)
