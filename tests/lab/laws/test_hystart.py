"""HyStart of CUBIC on slow and fast links."""

from __future__ import annotations

import pytest

from farpath.planning.request import RunRequest

from ..conftest import RunPlan
from .hystart import ACK_DELTA_S, end_by_delay, end_by_train, packet_s


@pytest.mark.parametrize(
    ("rate", "rtt"),
    [("1Mbit", "300ms"), ("2Mbit", "100ms"), ("5Mbit", "100ms"), ("10Mbit", "100ms"),
     ("10Mbit", "40ms"), ("100Mbit", "20ms")],
)  # fmt: skip
def test_slow_start_ends_by_the_train_where_acks_are_close_and_by_the_delay_where_they_are_not(
    run_plan: RunPlan, rate: str, rtt: str
) -> None:
    request = RunRequest(rtt=rtt, rate=rate, buffer="8xBDP", stack="cubic", time="5s", trace="1ms")
    record = run_plan(request.plan())
    path, trace = record.plan.path, record.trace
    assert trace is not None
    ends = end_by_train if packet_s(path) < ACK_DELTA_S else end_by_delay
    window = int(trace[trace["ssthresh_packets"] > 0]["ssthresh_packets"].iloc[0])
    predicted = ends(path)
    print(f"slow start ended at {window} packets, {ends.__name__} says {predicted:.1f}")
    assert window == pytest.approx(predicted, abs=2)
