"""What queues drop and what the path loses, by flow: exact, and it costs a run nothing."""

from __future__ import annotations

import pytest

from farpath.base.project import PROJECT
from farpath.lab.user_parts import BuiltParts
from farpath.metrics.flow_summary import flows_of
from farpath.planning.request import RunRequest
from farpath.report.overview import flows_table
from tests.lab.conftest import RunPlan

OWN = PROJECT / "examples" / "own-topology" / "two_switches.py"


@pytest.mark.parametrize(
    "words",
    [
        {"ip": "6", "drop": "every:900 random:1e-3,direction=back,flow=flow2", "loss": "1e-3",
         "reverse": "reno", "background": "cbr:10Mbit"},
        {"topology": f"{OWN}:far", "flows": "h1>h2:cubic h5>h6:htcp h6>h1:reno"},
    ],
    ids=["dumbbell", "a user's own"],
)  # fmt: skip
def test_each_segment_that_a_flow_sends_again_was_dropped_or_lost(
    run_plan: RunPlan, words: dict[str, str]
) -> None:
    path = {} if "flows" in words else {"rtt": "20ms", "rate": "50Mbit", "stack": "cubic+htcp"}
    texts = {**path, "time": "5s", "bytes": "5MB", **words}
    plan = RunRequest(**texts).plan(user_parts=BuiltParts("virtual"))
    record = run_plan(plan)
    flows = flows_of(record)
    for flow in flows:
        print(
            f"{flow.flow} {flow.stack}: {flow.drops} dropped, {flow.lost} lost, "
            f"{flow.retransmits} sent again"
        )
        assert flow.drops is not None
        assert flow.lost is not None
        assert flow.drops + flow.lost == flow.retransmits
    assert any(flow.drops for flow in flows)
    table = flows_table(flows, plan.transfer_bytes)
    shown = [row[table.header.index("drops")] for row in table.lines]
    assert shown == [f"{flow.drops:,}" for flow in flows]
    assert ("lost" in table.header) == bool(plan.droppers)
