"""End hosts: what a processor's time allows."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.analysis.studies import end_hosts
from farpath.planning.experiment import QUICK
from farpath.planning.request import RunRequest
from tests.support.study_runs import write_recorded_runs


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
    measures = end_hosts.measures(write_recorded_runs(tmp_path, end_hosts.EXPERIMENT, QUICK))
    published = {each.about["load"]: each.published for each in measures}
    assert published == {"0": "host-1", "3": ""}
