"""Failed flows: why the program of a flow failed, as far as its plan says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from farpath.base.errors import LabFailedError
from farpath.programs.registry import program_of_flow
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow

#: The least loss of one direction that is named as a cause: a program's control connection, which
#: sends some ten packets, outlives a smaller one.
LIKELY_LOSS = 0.05
#: Message of the guest about a program that failed.
_FAILED = re.compile(
    r"\b(?P<flow>\w+)-(?:sender|receiver)\b[^,]*? (?P<what>(?:exited|did not) .*)", re.DOTALL
)
#: The error in iperf3's JSON.
_ERROR = re.compile(r'"error":\s*"(?P<error>[^"]*)"')
#: Most characters of a program's message.
_MOST_LETTERS = 120


def losses_of(flow: Flow, plan: Plan) -> str:
    """Return the loss of a flow's way, for people; empty if it fails no program."""
    there, back = plan.losses(flow.sender, flow.receiver)
    if max(there, back) < LIKELY_LOSS:
        return ""
    way = f"the way from {flow.sender} to {flow.receiver}"
    return f"{way} loses {there:.0%} of packets, and {back:.0%} on the way back"


@contextmanager
def named_causes(plan: Plan) -> Iterator[None]:
    """Name the loss of a flow's way, or the limit of its program, where that made it fail.

    Any other error passes unchanged.
    """
    try:
        yield
    except LabFailedError as error:
        if message := _explained(error.message, plan):
            raise LabFailedError(message) from error
        raise


def _explained(message: str, plan: Plan) -> str:
    """Return the cause of a failure; empty if the plan does not explain it."""
    match = _FAILED.search(message)
    flows = {flow.name: flow for flow in plan.schedule.all_flows}
    if not match or not (flow := flows.get(match["flow"])):
        return ""
    if not (lost := losses_of(flow, plan)):
        return program_of_flow(flow, plan).failure_cause(match["what"], flow, plan)
    error = _ERROR.search(message)
    said = error["error"] if error else match["what"].partition("; its console")[0]
    said = " ".join(said.split())[:_MOST_LETTERS]
    return (
        f"{lost}, which the control connection of {flow.name}'s program did not survive ({said}): "
        "lower the loss, or take another `seed`"
    )
