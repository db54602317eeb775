"""Cross traffic: both throughputs and the RTT, beside a third host and alone."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.analysis.studies import cross_traffic
from farpath.analysis.studies.measure import RecordedRun
from farpath.planning.experiment import QUICK, load_experiment
from farpath.record import short_flow_table
from farpath.record.record import write_record
from tests.support.short_flows import TAKEN_NS, write_short_flows
from tests.support.study_runs import write_recorded_runs, write_run


def test_alone_there_is_no_throughput_of_a_third_host(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, cross_traffic.EXPERIMENT, QUICK)
    quantities: dict[str, list[str]] = {}
    for measure in cross_traffic.measures(done):
        quantities.setdefault(measure.about["beside"], []).append(measure.quantity)
    alone = [cross_traffic.RENO, cross_traffic.RTT_MEAN, cross_traffic.RTT_STD]
    both = [cross_traffic.RENO, cross_traffic.CROSS, *alone[1:]]
    assert quantities == {
        "nothing": alone,
        "fast": both,
        "scalable_2004": both,
        "short flows": alone,
        "fast and short flows": both,
    }


def test_completion_times_are_of_the_smallest_short_flows(tmp_path: FilePath) -> None:
    runs = load_experiment(cross_traffic.EXPERIMENT).runs(QUICK)
    run = next(run for run in runs if run.plan.path.short_flows)
    written = write_run(tmp_path / "run", run)
    raw = tmp_path / "raw"
    raw.mkdir()
    write_short_flows(raw, run.plan)
    table = short_flow_table.from_raw(raw, run.plan)
    record = write_record(
        *(tmp_path / "record", run.plan, written.samples, {}, {}, []),
        raw_dir=raw,
        short_flows=table,
    )
    measures = cross_traffic.measures([RecordedRun(run, record)])
    measured = {measure.quantity: measure.value for measure in measures}
    for name in (cross_traffic.COMPLETION, cross_traffic.COMPLETION_P99):
        assert measured[name] == pytest.approx(TAKEN_NS / 1e6)


def test_the_third_host_has_a_card_of_its_own(tmp_path: FilePath) -> None:
    for recorded in write_recorded_runs(tmp_path, cross_traffic.EXPERIMENT, QUICK):
        senders = [flow.sender for flow in recorded.run.plan.schedule.flows]
        assert len(set(senders)) == len(senders)
