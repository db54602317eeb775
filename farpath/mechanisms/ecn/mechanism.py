"""ECN of the end hosts: which packets of TCP ask queues to mark them instead of dropping them."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath
from typing import Any

from farpath.base.documents import read_json
from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.options import HOSTS, Option
from farpath.mechanisms.mechanism import Fact, Findings, Mechanism
from farpath.platforms import platform_of
from farpath.spec.aqm import DUALPI2, Aqm
from farpath.spec.ecn import (
    ACCURATE,
    L4S,
    MODES,
    NONE,
    OFF,
    REQUESTING,
    SYSCTL,
    agreed_mode,
    needs_ecn,
    sends_ect_1,
)
from farpath.spec.plan import Plan
from farpath.spec.protocol import ECN_FILE
from farpath.spec.settings import HOST, VIRTUAL


def parse_ecn(text: str) -> str:
    """Return a mode of ECN; raises BadInputError for any other text.

    >>> parse_ecn("accecn")
    'accecn'
    """
    if text not in MODES:
        raise BadInputError(
            option="ecn", given=text, remedy=f"it must be one of {', '.join(MODES)}"
        )
    return text


def check_ecn(plan: Plan) -> None:
    """Raise BadInputError for ECN that contradicts a sysctl, or that a stack cannot do without."""
    if not plan.ecn:
        return
    if plan.ecn not in MODES:
        raise BadInputError(
            option="ecn", given=plan.ecn, remedy=f"it must be one of {', '.join(MODES)}"
        )
    given, wanted = plan.path.sysctl.get(SYSCTL), MODES[plan.ecn].tcp_ecn
    if given is not None and given != wanted:
        raise BadInputError(
            option="ecn",
            given=plan.ecn,
            problem=f"`sysctl` has {SYSCTL}={given}",
            remedy="leave one of them out",
        )
    needing = [stack.label for stack in plan.stacks if needs_ecn(stack.sysctl)]
    if plan.ecn == OFF and needing:
        raise BadInputError(
            option="ecn",
            given=plan.ecn,
            problem=f"`stack` has {needing[0]}, which needs it and runs Reno without",
            remedy="leave one of them out",
        )
    _check_ect_1(plan)
    if not platform_of(plan).boots_kernel:
        raise BadInputError(
            option="ecn",
            given=plan.ecn,
            problem=f"`lab` is '{HOST}', and the kernel of another machine may lack it",
            remedy=f"leave `ecn` out, or take `lab={VIRTUAL}`",
        )


def _check_ect_1(plan: Plan) -> None:
    """Raise BadInputError for a stack that sends ECT(1) without accurate feedback, or for none.

    RFC 9331, 4.2: a sender that lacks accurate feedback is to send no ECT(1).
    """
    of_l4s = [stack.label for stack in plan.stacks if sends_ect_1(stack.sysctl)]
    mode = MODES[plan.ecn]
    if of_l4s and ACCURATE not in (mode.agreed, mode.agreed_needing):
        raise BadInputError(
            option="ecn",
            given=plan.ecn,
            problem=f"`stack` has {of_l4s[0]}, which needs accurate feedback and runs Reno without",
            remedy="take `ecn=l4s` or `ecn=accecn`, or leave it out",
        )
    if plan.ecn == L4S and not of_l4s:
        raise BadInputError(
            option="ecn",
            given=plan.ecn,
            problem="no stack of this run sends ECT(1)",
            remedy="take `stack=prague`, or `ecn=accecn` with a module of your own",
        )


def ecn_of_flows(raw_dir: FilePath, plan: Plan) -> dict[str, Any]:
    """Return ECN and marks of the connections, by flow, as an entry of the read-back.

    Empty for a plan that asks for none, or has programs in place of flows. Raises CheckFailedError
    for a connection that used another ECN than ``plan.ecn`` says, or that no sample has met.
    """
    if not plan.reads_ecn or plan.programs:
        return {}
    found: dict[str, Any] = {}
    for host in dict.fromkeys(flow.receiver for flow in plan.tcp_flows):
        found |= read_json(raw_dir / ECN_FILE.format(host=host))
    for flow in plan.tcp_flows if plan.ecn else ():
        if flow.name not in found:
            raise CheckFailedError(
                f"{flow.name} was over before its ECN was read, which happens at each sample of "
                "flows: let it last longer, or leave ECN out"
            )
        if found[flow.name]["mode"] != (wanted := agreed_mode(plan, flow)):
            raise CheckFailedError(
                f"{flow.name} used ECN '{found[flow.name]['mode']}', not '{wanted}' of "
                f"ECN={plan.ecn}: an end of it did not agree"
            )
        if sends_ect_1(plan.stack_of(flow).sysctl) and not found[flow.name]["ect_1_bytes"]:
            raise CheckFailedError(
                f"{flow.name} sent no data with ECT(1): its stack or a queue set another codepoint"
            )
    return {"ecn": found}


def _unmarked(plan: Plan) -> tuple[str, ...]:
    """Warn of ECN where the bottleneck marks no packet."""
    of_ways = plan.user_network.rated(plan.pairs) if plan.user_network else ()
    queues = [step.shaping.queue for step in of_ways] or [plan.path.queue]
    if any(queue and queue.marks for queue in queues):
        return ()
    labels = [stack.label for stack in plan.stacks if needs_ecn(stack.sysctl)]
    if labels:
        subject = f"{' and '.join(labels)} {'reacts' if len(labels) == 1 else 'react'}"
    elif plan.ecn and MODES[plan.ecn].tcp_ecn in REQUESTING:
        subject = f"end hosts react by ECN={plan.ecn}"
    elif plan.path.sysctl.get(SYSCTL) in REQUESTING:
        subject = f"end hosts react by {SYSCTL}"
    else:
        return ()
    queue = "a drop-tail buffer, which only drops"
    if plan.path.queue:
        queue = f"{plan.path.queue}, which only drops without ecn"
    return (f"{subject} to packets marked by ECN, and the bottleneck marks none: it is {queue}",)


def _starved_by_marks(plan: Plan) -> tuple[str, ...]:
    """Warn of classic flows whose packets are marked in one queue with those of a scalable stack.

    A classic stack halves its window for a mark (RFC 3168, 6.1.2), a scalable one takes off the
    fraction of its packets that were marked (RFC 8257, 3.3), so that the classic flow starves.
    Queues that give each flow a queue of its own share the rate nevertheless.
    """
    queue = plan.path.queue
    if not queue or not queue.marks or _has_queue_for_each_flow(queue):
        return ()
    scalable = [
        stack.label
        for stack in plan.stacks
        if needs_ecn(stack.sysctl) and not sends_ect_1(stack.sysctl)
    ]
    classic = dict.fromkeys(
        stack.label
        for flow in plan.schedule.all_flows
        if (stack := plan.stack_of(flow)).congestion
        and not needs_ecn(stack.sysctl)
        and (not plan.ecn or agreed_mode(plan, flow) != NONE)
    )
    if not scalable or not classic:
        return ()
    names, others = " and ".join(classic), " and ".join(scalable)
    several = len(classic) > 1
    return (
        f"{names} {'send' if several else 'sends'} packets of ECN (ECT(0)) as {others} does, so "
        f"{queue.kind} marks both alike: {names} "
        f"{'halve their windows' if several else 'halves its window'} for a mark, {others} takes "
        f"off less and gets most of the rate; for the coupled queues of RFC 9332 give "
        f"QUEUE=dualpi2:any_ect, ECN=passive, and {names} another host than {others}, "
        f"as in SENDERS=rtt={plan.path.rtt_ms:g}ms",
    )


def _without_l4s_queue(plan: Plan) -> tuple[str, ...]:
    """Warn of a stack that sends ECT(1) through a queue that marks as RFC 3168 has it."""
    queue = plan.path.queue
    if not queue or not queue.marks or queue.kind == DUALPI2 or "ce_threshold" in queue.parameters:
        return ()
    labels = [stack.label for stack in plan.stacks if sends_ect_1(stack.sysctl)]
    if not labels:
        return ()
    subject = f"{' and '.join(labels)} {'sends' if len(labels) == 1 else 'send'}"
    return (
        f"{subject} ECT(1), which {queue.kind} marks as ECT(0), at a longer queue than "
        "those of L4S; for L4S give QUEUE=dualpi2",
    )


def _has_queue_for_each_flow(queue: Aqm) -> bool:
    """Whether flows have queues of their own: fq_codel, fq_pie, and cake unless it is told not to.

    cake's ``flowblind`` has one queue, its words of hosts one for each host (tc-cake(8)).
    """
    if queue.kind == "cake":
        return not queue.parameters.keys() & {"flowblind", "srchost", "dsthost", "hosts"}
    return queue.kind.startswith("fq_")


MECHANISM = Mechanism(
    order=70,
    of_programs=True,
    options={
        "ecn": Option(
            "Explicit Congestion Notification of the end hosts: off; on for all TCP; accecn, with "
            "accurate feedback; passive, for hosts with stacks that need it; or l4s, accurate and "
            "with ECT(1) for hosts with stacks of L4S.",
            "on",
            "the kernel's, passive; on beside dctcp, accecn beside prague",
            allowed=", ".join(MODES),
            see="reference/queues.md#ecn",
            group=HOSTS,
            words=lambda: MODES,
            after="sysctl",
            placeholder="MODE",
        )
    },
    apply=lambda plan, texts: dataclasses.replace(plan, ecn=parse_ecn(texts["ecn"])),
    texts=lambda plan: {"ecn": plan.ecn} if plan.ecn else {},
    check=check_ecn,
    words=lambda plan: [f"ECN {plan.ecn}"] if plan.ecn else [],
    facts=lambda plan: [Fact("ECN", plan.ecn)] if plan.ecn else [],
    warnings=lambda plan: (
        *_unmarked(plan),
        *_starved_by_marks(plan),
        *_without_l4s_queue(plan),
    ),
    examine=lambda output: Findings(ecn_of_flows(output.raw_dir, output.plan)),
)
