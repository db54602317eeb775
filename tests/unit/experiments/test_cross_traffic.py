"""Cross traffic: both throughputs and the RTT, beside a third host and alone."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.cross_traffic import analysis as cross_traffic
from farpath.mechanisms.traffic import short_flow_table
from farpath.metrics.measures import Measure, select_measures
from farpath.planning.path_files import path_by_name
from farpath.record.record import write_record
from farpath.runs.experiment import QUICK, RecordedRun, load_experiment
from tests.support.short_flows import TAKEN_NS, write_short_flows
from tests.support.study_runs import write_recorded_runs, write_run


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
    assert {
        beside: {name: value for name, value in one.items() if name in both}
        for beside, one in values.items()
    } == {
        "nothing": alone,
        "fast": both,
        "scalable_2004": both,
        "fast and short flows": both,
        cross_traffic.ALONE: {name: alone[name] for name in alone if name != cross_traffic.RENO},
    }
    assert conditions == {
        f"{path.title}, {'' if beside == cross_traffic.ALONE else 'beside '}{beside}"
        for beside in values
    }


def measured_with_short_flows(tmp_path: FilePath, stack: str) -> list[Measure]:
    """The measures of the quick run of a stack beside short flows, made up."""
    runs = load_experiment(cross_traffic.EXPERIMENT).runs(QUICK)
    run = next(
        run for run in runs if run.plan.path.short_flows and run.request.stack.startswith(stack)
    )
    written = write_run(tmp_path / "run", run)
    raw = tmp_path / "raw"
    raw.mkdir()
    write_short_flows(raw, run.plan)
    table = short_flow_table.from_raw(raw, run.plan)
    assert table
    record = write_record(
        *(tmp_path / "record", run.plan, written.samples, {}, {}, []),
        raw_dir=raw,
        parts=[table.part],
    )
    return cross_traffic.measures([RecordedRun(run, record)])


def test_completion_times_are_given_for_each_class_of_sizes(tmp_path: FilePath) -> None:
    measures = measured_with_short_flows(tmp_path, "reno_2004+fast")
    for name in (cross_traffic.MEDIAN, cross_traffic.P95, cross_traffic.P99):
        chosen = select_measures(measures, name, beside="fast and short flows")
        assert [measure.about["sizes"] for measure in chosen] == [
            "less than 10 kB", "10 kB to 100 kB", "100 kB to 1 MB", "1 MB or more",
        ]  # fmt: skip
        assert [measure.value for measure in chosen] == pytest.approx([TAKEN_NS / 1e6] * 4)


def test_short_flows_are_also_measured_without_a_long_flow(tmp_path: FilePath) -> None:
    measures = measured_with_short_flows(tmp_path, "udp")
    assert {measure.about["beside"] for measure in measures} == {cross_traffic.ALONE}
    quantities = {measure.quantity for measure in measures}
    assert cross_traffic.MEDIAN in quantities
    assert not quantities & {cross_traffic.RENO, cross_traffic.CROSS}


def test_the_third_host_has_a_card_of_its_own(tmp_path: FilePath) -> None:
    for recorded in write_recorded_runs(tmp_path, cross_traffic.EXPERIMENT, QUICK):
        senders = [flow.sender for flow in recorded.run.plan.schedule.flows]
        assert len(set(senders)) == len(senders)
