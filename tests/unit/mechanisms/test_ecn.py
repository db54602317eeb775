"""ECN of flows, as receivers read it, against what a plan asks for."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import CheckFailedError
from farpath.mechanisms.ecn.mechanism import ecn_of_flows
from farpath.planning.request import RunRequest
from farpath.spec.protocol import ECN_FILE


def test_a_flow_of_l4s_that_sent_no_ect_1_fails_its_run(tmp_path: FilePath) -> None:
    plan = RunRequest(
        rtt="20ms", rate="20Mbit", stack="prague", ecn="l4s", queue="dualpi2", time="5s"
    ).plan()
    (flow,) = plan.schedule.flows
    read = {"mode": "accecn", "packets": 900, "marked": 17, "ect_1_bytes": 1_000_000}
    file = tmp_path / ECN_FILE.format(host=flow.receiver)
    file.write_text(json.dumps({flow.name: read}))
    assert ecn_of_flows(tmp_path, plan) == {"ecn": {flow.name: read}}
    file.write_text(json.dumps({flow.name: {**read, "ect_1_bytes": 0}}))
    with pytest.raises(CheckFailedError, match="flow1 sent no data with ECT"):
        ecn_of_flows(tmp_path, plan)
