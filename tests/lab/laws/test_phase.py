"""Phase effects at a drop-tail queue, and draws, which are free of them."""

from __future__ import annotations

import statistics
from pathlib import Path as FilePath

import pytest

import farpath
from farpath.metrics.share import joint_means_bps
from farpath.record.record import load_record

pytestmark = pytest.mark.lab


def second_parts(out: FilePath, draws: int) -> list[float]:
    """The second flow's part of both flows' throughput in each draw; its RTT is 3 % longer."""
    swept = farpath.sweep(
        rtt="20ms", senders="rtt=20.6ms", rate="10Mbit", buffer="25packets", stack="2xreno",
        time="30s", draws=draws, out=out, progress=False,
    )  # fmt: skip
    records = [load_record(run.record) for run in swept.outcome.runs]
    means_bps = [joint_means_bps(each.samples, each.plan.schedule) for each in records]
    return [second / (first + second) for first, second in means_bps]


def test_one_run_hangs_on_the_phase_of_its_packets_and_draws_agree_with_theory(
    tmp_path: FilePath,
) -> None:
    # The mean window of both is the same, so that shares go as 1 / RTT: with the queue of 25
    # packets full to three quarters 0.496 of both. One run of Floyd and Jacobson's gives either
    # flow nearly all
    (one_run,) = second_parts(tmp_path, 1)
    draws = second_parts(tmp_path, 3)
    print(one_run, draws)
    assert one_run > 0.62
    assert statistics.median(draws) == pytest.approx(0.496, abs=0.06)
    assert len(set(draws)) == 3
