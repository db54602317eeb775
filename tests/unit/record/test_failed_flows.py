"""Failed flows: losses and limits of programs that explain them, on one line."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.planning.request import RunRequest
from farpath.record.checks import check_flows
from farpath.record.failed_flows import named_causes
from farpath.record.record import Samples
from farpath.spec.plan import Plan
from farpath.spec.user_network import Shaping
from tests.support.user_networks import own_plan, two_sites

#: What the guest says of iperf3, whose JSON has the error last.
CLOSED = (
    "the lab failed: flow1-sender exited with 1: ] }, "
    '"error": "control socket has closed unexpectedly" }; its console is in /tmp/a.log'
)
LATE = (
    "the lab failed: flow1-receiver, flow1-sender (h1) did not end within 62 s of the schedule; "
    "its console is in /tmp/a.log"
)


def _over_losses(loss: float) -> Plan:
    lossy = Shaping(10_000_000, 100, 5.0, loss=loss)
    return own_plan(two_sites(lossy, dataclasses.replace(lossy, loss=0.0)), "h1>h2:cubic")


def _said(message: str, plan: Plan) -> str:
    with pytest.raises(LabFailedError) as caught, named_causes(plan):
        raise LabFailedError(message)
    return caught.value.message


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (CLOSED, "control socket has closed unexpectedly"),
        (LATE, "did not end within 62 s of the schedule"),
    ],
)
def test_a_program_that_failed_on_a_lossy_way_names_the_loss(message: str, said: str) -> None:
    assert _said(message, _over_losses(0.34)) == (
        "the way from h1 to h2 loses 34% of packets, and 0% on the way back, which the control "
        f"connection of flow1's program did not survive ({said}): lower the loss, or take another "
        "seed"
    )


def test_without_a_loss_that_explains_it_a_failure_is_told_as_it_came() -> None:
    assert _said(CLOSED, _over_losses(0.01)) == CLOSED
    stopped = "the lab failed: the guest's kernel panicked"
    assert _said(stopped, _over_losses(0.34)) == stopped


@pytest.mark.parametrize(
    ("words", "said", "cause"),
    [
        (
            {"stack": "cubic", "rate": "1Mbit", "buffer": "10MB"},
            '"error": "control socket has closed unexpectedly" }',
            "flow1's last packets may wait for 80 s, and iperf3's receiver gives up 40 s",
        ),
        ({"stack": "cubic"}, '"error": "control socket has closed unexpectedly" }', ""),
        (
            {"stack": "udt", "rate": "1Mbit", "buffer": "3s"},
            '"error":"cannot connect: Connection setup failure: connection time out"}',
            "flow1 did not connect: a round trip may take 3.1 s behind others, and UDT gives up",
        ),
        ({"stack": "udt"}, '"error":"Connection setup failure: connection time out"}', ""),
        ({"stack": "udt", "rate": "1Mbit", "buffer": "3s"}, "Segmentation fault", ""),
    ],
)
def test_a_program_that_its_own_limit_ended_names_it(
    words: dict[str, str], said: str, cause: str
) -> None:
    plan = RunRequest(rtt="100ms", **words).plan()
    message = f"the lab failed: flow1-sender exited with 1: {said}; its console is in /tmp/a.log"
    assert _said(message, plan).startswith(cause or message)


def test_the_losses_of_a_reverse_flow_are_on_its_way() -> None:
    plan = RunRequest(rtt="50ms", rate="10Mbit", loss="40%", reverse="reno").plan()
    (reverse,) = plan.schedule.reverse
    assert plan.losses(reverse.sender, reverse.receiver) == (0.0, 0.4)
    assert plan.losses(reverse.receiver, reverse.sender) == (0.4, 0.0)


def test_a_flow_that_carries_nothing_over_a_lossy_way_is_a_warning(
    samples: Samples, plan: Plan, tmp_path: FilePath
) -> None:
    lossy = dataclasses.replace(plan, path=dataclasses.replace(plan.path, loss=0.4))
    silent = dataclasses.replace(samples, flows=samples.flows.assign(throughput_bps=0.0))
    warnings = check_flows(silent, tmp_path, lossy)
    assert len(warnings) == len(plan.schedule.all_flows)
    assert warnings[0] == (
        "flow1 carried nothing: the way from sender to receiver loses 40% of packets, and 0% on "
        "the way back"
    )
