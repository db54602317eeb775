"""CPU by streams: what a bit costs."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from experiments.cpu_streams import analysis as cpu_streams
from farpath.base.errors import BadInputError
from farpath.metrics.measures import select_measures
from farpath.record.record import Record
from farpath.runs.experiment import QUICK, WHOLE, RecordedRun, load_experiment
from tests.support.study_runs import CPU_PART, write_recorded_runs, write_run


def test_a_cost_is_cycles_of_all_senders_over_what_was_received(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, cpu_streams.EXPERIMENT, QUICK)
    measures = cpu_streams.measures(done)
    for streams in ("1", "40"):
        (cost,) = select_measures(measures, cpu_streams.COST, streams=streams, offloads="off")
        (rate,) = select_measures(measures, cpu_streams.THROUGHPUT, streams=streams, offloads="off")
        (used,) = select_measures(measures, cpu_streams.CPU, streams=streams, offloads="off")
        assert used.value == pytest.approx(100 * CPU_PART)
        # A core of 1000 MHz
        assert cost.value == pytest.approx(1000 * CPU_PART / rate.value)


def test_three_published_numbers_stand_beside_what_they_are_of(tmp_path: FilePath) -> None:
    measures = cpu_streams.measures(write_recorded_runs(tmp_path, cpu_streams.EXPERIMENT, WHOLE))
    beside = {(each.published, each.about["streams"]) for each in measures if each.published}
    numbers = {"1", "2", "4", "8", "16", "40"}
    assert beside == {("cpu-4", "16"), ("cpu-5", "1"), *(("cpu-2", number) for number in numbers)}
    for each in measures:
        assert each.published in ("", "cpu-2") or each.note.startswith("published: ")


def test_what_offloads_leave_is_a_part_of_the_same_run_without(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, cpu_streams.EXPERIMENT, QUICK)
    parts = select_measures(cpu_streams.measures(done), cpu_streams.PART)
    assert [(each.about["streams"], each.value) for each in parts] == [("1", 1.0), ("40", 1.0)]
    only_with = [each for each in done if each.run.plan.offloads]
    assert select_measures(cpu_streams.measures(only_with), cpu_streams.PART) == []


def test_the_rate_of_a_comparison_is_that_of_most_runs(tmp_path: FilePath) -> None:
    measures = cpu_streams.measures(write_recorded_runs(tmp_path, cpu_streams.EXPERIMENT, WHOLE))
    costs = cpu_streams.at_usual_rate(select_measures(measures, cpu_streams.COST))
    assert {each.about["rate"] for each in costs} == {"100"}
    assert len(costs) == 16


def test_no_window_of_a_run_overflows_the_buffer() -> None:
    for run in load_experiment(cpu_streams.EXPERIMENT).runs(WHOLE):
        path, streams = run.plan.path, len(run.plan.schedule.flows)
        assert streams * path.window_bytes * path.frame_bytes / 1448 < path.buffer_bytes, run.label


def test_a_run_without_counted_cpu_or_without_offloads_is_refused(tmp_path: FilePath) -> None:
    run = load_experiment(cpu_streams.EXPERIMENT).runs(QUICK)[0]
    record = write_run(tmp_path / "counted", run)
    silent = dataclasses.replace(run, plan=dataclasses.replace(run.plan, offloads=None))
    with pytest.raises(BadInputError, match="has no OFFLOADS"):
        cpu_streams.measures([RecordedRun(silent, record)])
    readback = {name: of for name, of in record.data["readback"].items() if name != "cpu"}
    uncounted = Record(record.directory, {**record.data, "readback": readback})
    with pytest.raises(BadInputError, match="has no CPU time, which the host lab counts"):
        cpu_streams.measures([RecordedRun(run, uncounted)])
