"""Background traffic in the lab: it takes its share of the bottleneck, the same every time."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.metrics.run import per_second
from farpath.planning.path_options import resolve_path
from farpath.spec.background import Background, sent_bytes
from farpath.spec.path import Path
from tests.lab.conftest import RunPlan, single_flow

#: Headers of a TCP segment with timestamps beside its payload, in a frame of 1514 bytes.
PAYLOAD_PART = 1448 / 1514
ALWAYS_S = 10_000.0


def _path(background: Background) -> Path:
    path = resolve_path(rtt="20ms", rate="300Mbit", buffer="750kB")
    return dataclasses.replace(path, background=background)


def test_a_flow_gets_what_unheeding_traffic_leaves(run_plan: RunPlan) -> None:
    path = _path(Background(sources=2, rate_bps=50_000_000, on_s=ALWAYS_S, off_s=0.1))
    record = run_plan(single_flow("cubic", 30.0, path))
    flow = per_second(record.samples, record.plan.schedule)["flow1"].iloc[10:]
    predicted = (path.rate_bps - 100e6) * PAYLOAD_PART
    print(f"measured {flow.mean() / 1e6:.1f} Mbit/s, predicted {predicted / 1e6:.1f}")
    assert flow.mean() == pytest.approx(predicted, rel=0.03)


def test_turns_are_seen_in_the_flow_and_in_what_was_sent(run_plan: RunPlan) -> None:
    background = Background(sources=3, rate_bps=60_000_000, on_s=4.0, off_s=4.0)
    plan = single_flow("cubic", 40.0, _path(background))
    first, again = run_plan(plan), run_plan(plan)
    assert first.fingerprint == again.fingerprint
    readback = first.data["readback"]
    sent = readback["after"]["background_bytes"] - readback["before"]["background_bytes"]
    wanted = sent_bytes(background, plan.seed, 40.0)
    print(f"background sent {sent / 1e6:.3f} MB, asked {wanted / 1e6:.3f} MB")
    assert sent == pytest.approx(wanted, rel=1e-3)
    flow = per_second(first.samples, plan.schedule)["flow1"].iloc[10:]
    assert flow.max() - flow.min() > 60e6


def test_another_seed_has_other_traffic(run_plan: RunPlan) -> None:
    background = Background(sources=3, rate_bps=60_000_000, on_s=4.0, off_s=4.0)
    plan = single_flow("cubic", 10.0, _path(background))
    assert run_plan(plan).fingerprint != run_plan(dataclasses.replace(plan, seed=2)).fingerprint
