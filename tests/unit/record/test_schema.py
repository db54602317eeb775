"""Schema: what a record says is refused in one line if no run can have said it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.program_plan import program_plan
from farpath.planning.request import RunRequest
from farpath.record.record import FORMAT_VERSION
from farpath.record.schema import check_description, check_program_description
from farpath.spec.plan import Plan

QUEUE = RunRequest(rtt="50ms", rate="100Mbit", queue="codel:target=5ms", ecn="on", time="5s")
DATAGRAMS = RunRequest(rtt="50ms", rate="100Mbit", stack="udp", time="5s")


def _description(plan: Plan) -> dict[str, Any]:
    counted = {"sent": 1, "expected": 1, "lost": 0}
    return {
        "format_version": FORMAT_VERSION,
        "plan": json.loads(plan.to_json()),
        "provenance": {},
        "readback": {"datagrams": {flow.name: counted for flow in plan.schedule.all_flows}},
        "warnings": [],
        "fingerprint": "0" * 64,
    }


def _with(data: Mapping[str, Any], place: str, value: object) -> dict[str, Any]:
    """The description with one value of its plan replaced; None drops it."""
    changed = copy.deepcopy(dict(data))
    *parents, last = place.split(".")
    part = changed["plan"]
    for name in parents:
        part = part[int(name) if name.isdigit() else name]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return changed


CHANGES = [
    (QUEUE, "ecn", "x", "ecn is 'x': it must be one of off, on, accecn, passive"),
    (QUEUE, "path.queue.kind", None, "plan.path.queue.kind: field required"),
    (QUEUE, "path.queue.kind", "x", "queue is 'x': it must be one of"),
    (QUEUE, "settings.clock", "x", "clock is 'x': it must be one of virtual, cpu, wall"),
    (QUEUE, "settings.lab", "x", "lab is 'x': it must be one of virtual, host"),
    (QUEUE, "settings.ping_interval_s", 0, "ping_interval_s is 0: it must be above 0"),
    (QUEUE, "settings.sample_interval_s", -1, "sample_interval_s is -1: it must be above 0"),
    (DATAGRAMS, "stacks.0.parameters", None, "plan has a part that is missing"),
    (
        DATAGRAMS,
        "stacks.0.parameters.size",
        "x",
        "plan has a part that is missing or means nothing",
    ),
]


@pytest.mark.parametrize(
    ("request_", "place", "value", "message"), CHANGES, ids=lambda each: str(each)[:40]
)
def test_a_plan_that_no_request_makes_is_refused(
    request_: RunRequest, place: str, value: object, message: str
) -> None:
    data = _description(request_.plan())
    check_description(data)
    with pytest.raises(BadInputError, match=message):
        check_description(_with(data, place, value))


def test_so_is_that_of_a_record_of_programs() -> None:
    plan = program_plan(RunRequest(rtt="20ms", queue="codel", ecn="on"))
    place = {"root": "machine", "environment": [], "directory": "/"}
    programs = {"client": ["true"], "servers": [], "places": {"sender": place}, "user": 0,
                "group": 0, "timeout_s": 1.0}  # fmt: skip
    data = {**_description(plan), "programs": programs, "status": 0, "took_s": 1.0}
    check_program_description(data)
    with pytest.raises(BadInputError, match="ecn is 'x'"):
        check_program_description(_with(data, "ecn", "x"))
    with pytest.raises(BadInputError, match=r"queue\.kind: field required"):
        check_program_description(_with(data, "path.queue.kind", None))
