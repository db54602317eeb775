"""Traces in a plan: what a tracer is told, and plans from before there were traces."""

from __future__ import annotations

import socket

from farpath.spec import trace
from farpath.spec.plan import Plan
from farpath.spec.settings import Settings
from farpath.spec.trace import TracerConfig


def test_orders_come_back_equal_from_their_line(tracing: Plan) -> None:
    made = trace.tracer_config(
        tracing, trace.flows(tracing), "a file", socket.AF_INET, last_in_line=True
    )
    assert made.flows == ((5201, 0, 1000), (5202, 500, 1000))
    assert TracerConfig.from_json(made.to_json()) == made
    assert b"\n" not in made.to_json()


def test_settings_from_before_there_were_traces_have_none(tracing: Plan) -> None:
    data = tracing.as_dict()
    assert Plan.from_dict(data) == tracing
    del data["settings"]["trace_interval_s"]
    assert Plan.from_dict(data).settings.trace_interval_s == 0.0
    assert Settings().trace_interval_s == 0.0
