"""Cross traffic: both throughputs and the RTT, beside a third host and alone."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.analysis.studies import cross_traffic
from farpath.planning.experiment import QUICK
from farpath.planning.path_files import path_by_name
from tests.support.study_runs import write_recorded_runs


def test_reno_and_the_third_host_have_what_their_own_flows_got(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, cross_traffic.EXPERIMENT, QUICK)
    values: dict[str, dict[str, float]] = {}
    conditions = set()
    for measure in cross_traffic.measures(done):
        values.setdefault(measure.about["beside"], {})[measure.quantity] = measure.value
        conditions.add(measure.condition)
    path = path_by_name("cern")
    # The first flow of made-up records has half of the path's rate, the second a quarter
    alone = {
        cross_traffic.RENO: pytest.approx(path.rate_bps / 2e6),
        cross_traffic.RTT_MEAN: pytest.approx(path.rtt_ms),
        cross_traffic.RTT_STD: pytest.approx(0),
    }
    both = {**alone, cross_traffic.CROSS: pytest.approx(path.rate_bps / 4e6)}
    assert values == {"nothing": alone, "fast": both, "scalable_2004": both}
    assert conditions == {f"{path.title}, beside {beside}" for beside in values}


def test_the_third_host_has_a_card_of_its_own(tmp_path: FilePath) -> None:
    for recorded in write_recorded_runs(tmp_path, cross_traffic.EXPERIMENT, QUICK):
        senders = [flow.sender for flow in recorded.run.plan.schedule.flows]
        assert len(set(senders)) == len(senders)
