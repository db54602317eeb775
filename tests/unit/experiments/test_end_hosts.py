"""End hosts: what a processor's time allows."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from experiments.end_hosts import analysis as end_hosts
from farpath.base.errors import BadInputError
from farpath.metrics import flow as flow_metrics
from farpath.planning.request import RunRequest
from farpath.runs.experiment import QUICK, WHOLE, RecordedRun, load_experiment
from tests.support.study_runs import write_recorded_runs, write_run


@pytest.mark.parametrize(
    ("era", "mbps"),
    [
        # 10,150 cycles for a packet of 1448 bytes and half an ACK
        ("2004:cpu=1.2GHz", 8 * 1448 / (1.5 * 10_150 / 1.2e3)),
        ("2004:cpu=1.2GHz,load=3", 8 * 1448 / (6 * 10_150 / 1.2e3)),
        ("2004:cpu=1.2GHz,load=3,processors=2", 8 * 1448 / (3 * 10_150 / 1.2e3)),
        ("2004:cpu=2.8GHz", 1e3 * 1448 / 1514),
        ("2004:cpu=none", 1e3 * 1448 / 1514),
    ],
)
def test_a_processor_or_the_card_bounds_what_is_sent(era: str, mbps: float) -> None:
    request = RunRequest(rtt="1ms", rate="1Gbit", stack="reno_2004", schedule="together", era=era)
    assert end_hosts.sent_bps(request.plan()) / 1e6 == pytest.approx(mbps, rel=1e-4)


def test_hosts_without_other_programs_stand_beside_what_is_published(tmp_path: FilePath) -> None:
    measures = end_hosts.measures(write_recorded_runs(tmp_path, end_hosts.EXPERIMENT, WHOLE))
    # The first flow of made-up records has half of the path's rate
    assert [each.value for each in measures] == pytest.approx([500] * 14)
    published = {each.condition: (each.published, each.note) for each in measures if each.published}
    assert published == {
        "1 ms, 1 x 1.2 GHz, load 0": ("host-1", ""),
        "1 ms, 1 x 2.8 GHz, load 0": ("host-2", end_hosts.INPUTS["host-2"]),
        "15 ms, 1 x 1.2 GHz, load 0": ("host-3", end_hosts.INPUTS["host-3"]),
        "15 ms, 1 x 2.8 GHz, load 0": ("host-3", end_hosts.INPUTS["host-3"]),
    }


def test_a_backlog_holds_the_acks_of_every_window() -> None:
    for run in load_experiment(end_hosts.EXPERIMENT).runs(WHOLE):
        path, processor = run.plan.path, run.plan.era.processor
        assert processor is not None
        payload_bytes = flow_metrics.payload_bytes(path, 4)
        on_the_way = end_hosts.sent_bps(run.plan) / 8 * path.rtt_ms / 1e3
        acks = (path.window_bytes - on_the_way) / payload_bytes / 2
        assert acks < processor.backlog_packets, run.label


def test_a_run_without_a_processor_is_refused(tmp_path: FilePath) -> None:
    run = load_experiment(end_hosts.EXPERIMENT).runs(QUICK)[0]
    era = dataclasses.replace(run.plan.era, processor=None)
    free = dataclasses.replace(run, plan=dataclasses.replace(run.plan, era=era))
    with pytest.raises(BadInputError, match="has no processor: give its hosts one"):
        end_hosts.measures([RecordedRun(free, write_run(tmp_path / "free", free))])
