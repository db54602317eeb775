"""Cross traffic: both throughputs and the RTT, beside a third host and alone."""

from __future__ import annotations

from pathlib import Path as FilePath

from farpath.analysis.studies import cross_traffic
from farpath.planning.experiment import QUICK
from tests.support.study_runs import write_recorded_runs


def test_alone_there_is_no_throughput_of_a_third_host(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, cross_traffic.EXPERIMENT, QUICK)
    quantities: dict[str, list[str]] = {}
    for measure in cross_traffic.measures(done):
        quantities.setdefault(measure.about["beside"], []).append(measure.quantity)
    alone = [cross_traffic.RENO, cross_traffic.RTT_MEAN, cross_traffic.RTT_STD]
    both = [cross_traffic.RENO, cross_traffic.CROSS, *alone[1:]]
    assert quantities == {"nothing": alone, "fast": both, "scalable_2004": both}


def test_the_third_host_has_a_card_of_its_own(tmp_path: FilePath) -> None:
    for recorded in write_recorded_runs(tmp_path, cross_traffic.EXPERIMENT, QUICK):
        senders = [flow.sender for flow in recorded.run.plan.schedule.flows]
        assert len(set(senders)) == len(senders)
