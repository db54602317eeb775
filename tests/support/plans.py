"""Variants of a plan that tests compare with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from farpath.planning.request import RunRequest
from farpath.planning.rules import check_plan
from farpath.spec.background import Background
from farpath.spec.dropper import Dropper
from farpath.spec.plan import Plan


def with_droppers(plan: Plan, droppers: Sequence[Dropper]) -> Plan:
    """The plan with packets lost on purpose, checked."""
    path = replace(plan.path, name=f"{plan.path.name}-dropping")
    dropping = replace(plan, path=path, droppers=tuple(droppers))
    check_plan(dropping)
    return dropping


def with_trace(plan: Plan, interval_s: float) -> Plan:
    """The plan with a trace of its TCP connections, checked."""
    tracing = replace(plan, settings=replace(plan.settings, trace_interval_s=interval_s))
    check_plan(tracing)
    return tracing


#: Background traffic of four sources, each on for a quarter of the time.
BUSY = Background(sources=4, rate_bps=50_000_000, on_s=5.0, off_s=15.0)


def network_plan(**words: Any) -> Plan:
    """The plan of a run on a path of 117 ms and 622 Mbit/s; all its flows start together."""
    texts = {"rtt": "117ms", "rate": "622Mbit", "stack": "reno", "schedule": "together"} | words
    return RunRequest(**texts).plan()


def request_of(words: Iterable[str]) -> RunRequest:
    """The request of options such as ``--rtt=164ms``."""
    pairs = (word.removeprefix("--").split("=", 1) for word in words)
    return RunRequest(**{name.replace("-", "_"): value for name, value in pairs})
