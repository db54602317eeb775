"""The stacks are the real ones: what their laws say can be seen in the samples."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.inputs import path_by_name
from farpath.stacks import STACKS

from .conftest import RunPlan, single_flow


def test_reno_halves_its_window_after_one_loss(run_plan: RunPlan) -> None:
    # RFC 5681, 3.1: ssthresh is half of what was in flight; Linux takes half of
    # cwnd (tcp_reno_ssthresh). A window below path and buffer overflows nothing,
    # so each loss is a random one. Between two samples Reno grows again by one
    # segment per RTT, at most 1 s / 164 ms = 6 of some thousands.
    path = dataclasses.replace(path_by_name("cern"), loss=3e-6)
    record = run_plan(single_flow("reno", 50.0, path))
    rows = record.samples.flows[record.samples.flows["cwnd_bytes"] > 0].reset_index(drop=True)
    ratios = []
    for k in range(1, len(rows) - 2):
        alone = rows["retransmits"][k] == 1 == sum(rows["retransmits"][k - 1 : k + 3])
        before = rows["cwnd_bytes"][k - 1]
        settled = k > 1 and before / rows["cwnd_bytes"][k - 2] < 1.02
        if alone and settled:
            ratios.append(rows["cwnd_bytes"][k + 1] / before)
    print("cwnd after / before each single loss:", [f"{ratio:.3f}" for ratio in ratios])
    assert ratios
    assert ratios == pytest.approx([0.5] * len(ratios), abs=0.02)


@pytest.mark.parametrize("stack", sorted(STACKS))
def test_every_listed_stack_runs_in_the_lab(run_plan: RunPlan, stack: str) -> None:
    path = dataclasses.replace(path_by_name("caltech"), loss=0.0)
    record = run_plan(single_flow(stack, 2.0, path))
    assert record.samples.flows["throughput_bps"].sum() > 1e6


@pytest.mark.parametrize("clock", ["cpu", "wall"])
def test_the_other_clocks_run_the_same_lab(run_plan: RunPlan, clock: str) -> None:
    path = dataclasses.replace(path_by_name("caltech"), loss=0.0, rate_bps=50_000_000)
    record = run_plan(single_flow("cubic", 3.0, path, clock=clock, receiver_discards=False))
    assert record.plan.settings.clock == clock
    assert record.samples.flows["throughput_bps"].sum() > 1e6
