"""Transfers: flows that end when they have sent a number of bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.options import TRAFFIC, Option, range_text
from farpath.base.sizes import size_text
from farpath.mechanisms.mechanism import Findings, Mechanism, Recorded, Texts
from farpath.mechanisms.quantities import TRANSFER_BYTES
from farpath.programs.program import FlowOutput
from farpath.programs.registry import program_of, program_of_flow
from farpath.spec.plan import Plan
from farpath.spec.transfer import TRANSFER_BYTES_RANGE
from farpath.tools import transfers as raw_transfers

#: Bytes after which a receiver that discards payload wakes: the last ones would wait for more.
EACH_PACKET = 1


def _apply(plan: Plan, texts: Texts) -> Plan:
    transfer_bytes = TRANSFER_BYTES.parse(texts["bytes"], "bytes")
    settings = replace(plan.settings, wake_bytes=EACH_PACKET)
    return replace(plan, transfer_bytes=transfer_bytes, settings=settings)


def check_transfer(plan: Plan) -> None:
    """Raise BadInputError for flows of a number of bytes of a program that sends for a time."""
    if not plan.transfer_bytes:
        return
    for stack in plan.stacks:
        if not program_of(stack).takes_bytes:
            raise BadInputError(
                option="bytes",
                problem=f"the program of `stack={stack.label}` sends for a time",
                remedy="use a stack of TCP, which iperf3 runs, or leave `bytes` out",
            )
    if names := [name for name in ("source", "sink") if getattr(plan, name)]:
        raise BadInputError(
            option="bytes",
            problem=f"`{names[0]}` is read or written for a time",
            remedy="leave one of them out",
        )


def transfers(raw_dir: FilePath, plan: Plan) -> dict[str, Any]:
    """Return the completion times of flows of a number of bytes, as an entry of the read-back.

    They are in s, by flow; None if a flow's time was over before. Empty without such flows.
    Raises CheckFailedError if a flow's receiver got more, or less although it was completed.
    """
    if not plan.transfer_bytes:
        return {}
    completions = {}
    for flow in plan.schedule.all_flows:
        written = (raw_dir / f"{flow.name}-sender.err").read_text(errors="replace")
        completions[flow.name] = completion_s = raw_transfers.parse(written)
        report = FlowOutput(raw_dir, flow).receiver
        intervals = program_of_flow(flow, plan).parse_receiver(report)
        received = sum(interval.bytes for interval in intervals)
        least = 0 if completion_s is None else plan.transfer_bytes
        if not least <= received <= plan.transfer_bytes:
            raise CheckFailedError(
                f"{flow.name} was to send {plan.transfer_bytes:,} bytes, but its receiver counted "
                f"{received:,}"
            )
    return {"transfers": completions}


def completions_of(record: Recorded) -> dict[str, float | None]:
    """Return how long each flow of a number of bytes took, in s, by flow.

    None where its time was over before. Empty if flows had no number of bytes.
    """
    times_s: dict[str, float | None] = record.readback.get("transfers", {})
    return times_s


def _words(plan: Plan) -> list[str]:
    return [f"flows of {size_text(plan.transfer_bytes)}"] if plan.transfer_bytes else []


MECHANISM = Mechanism(
    order=75,
    ends_flows=True,
    of_flows="programs end by themselves, or after their `timeout`",
    options={
        "bytes": Option(
            "Payload of each flow, as iperf3's -n: it ends then, or when `time` or `region` is "
            "over.",
            "100MB",
            "none: flows last for TIME or REGION",
            "bytes",
            range_text(TRANSFER_BYTES_RANGE, "bytes"),
            see="how-to/flows.md#flows-of-a-size",
            group=TRAFFIC,
            after="time",
            placeholder="SIZE",
        )
    },
    apply=_apply,
    texts=lambda plan: {"bytes": str(plan.transfer_bytes)} if plan.transfer_bytes else {},
    check=check_transfer,
    words=_words,
    examine=lambda output: Findings(transfers(output.raw_dir, output.plan)),
)
