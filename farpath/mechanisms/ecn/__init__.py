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
from farpath.spec.ecn import MODES, OFF, SYSCTL, agreed_mode, needs_ecn
from farpath.spec.plan import Plan
from farpath.spec.protocol import ECN_FILE
from farpath.spec.settings import HOST, VIRTUAL

#: Missing part for ECN=l4s.
L4S = "l4s"


def parse_ecn(text: str) -> str:
    """Return a mode of ECN; raises BadInputError for any other text.

    >>> parse_ecn("accecn")
    'accecn'
    """
    if text == L4S:
        raise BadInputError(
            "ECN is 'l4s': no stack of this kernel sends ECT(1), since mainline has no TCP Prague; "
            "take STACK=dctcp with QUEUE=dualpi2:any_ect, or ECN=accecn with a module of your own"
        )
    if text not in MODES:
        raise BadInputError(f"ECN is '{text}': it must be one of {', '.join(MODES)}")
    return text


def check_ecn(plan: Plan) -> None:
    """Raise BadInputError for ECN that contradicts a sysctl, or that a stack cannot do without."""
    if not plan.ecn:
        return
    if plan.ecn not in MODES:
        raise BadInputError(f"ecn is '{plan.ecn}': it must be one of {', '.join(MODES)}")
    given, wanted = plan.path.sysctl.get(SYSCTL), MODES[plan.ecn].tcp_ecn
    if given is not None and given != wanted:
        raise BadInputError(
            f"ECN is '{plan.ecn}' and SYSCTL has {SYSCTL}={given}: leave one of them out"
        )
    needing = [stack.label for stack in plan.stacks if needs_ecn(stack.sysctl)]
    if plan.ecn == OFF and needing:
        raise BadInputError(
            f"ECN is '{OFF}' and STACK has {needing[0]}, which needs it and runs Reno without: "
            "leave one of them out"
        )
    if not platform_of(plan).boots_kernel:
        raise BadInputError(
            f"ECN is '{plan.ecn}' and LAB is '{HOST}': the kernel of another machine may lack it; "
            f"leave ECN out, or take LAB={VIRTUAL}"
        )


def ecn_of_flows(raw_dir: FilePath, plan: Plan) -> dict[str, Any]:
    """Return ECN and marks of the connections, by flow, as an entry of the read-back.

    Empty for a plan that asks for none. Raises CheckFailedError for a connection that used another
    ECN than ``plan.ecn`` says, or that no sample has met.
    """
    if not plan.reads_ecn:
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
    return {"ecn": found}


MECHANISM = Mechanism(
    order=70,
    options={
        "ecn": Option(
            "Explicit Congestion Notification of the end hosts: off; on for all TCP; accecn, with "
            "accurate feedback; or passive, for hosts with stacks that need it.",
            "on",
            "the kernel's, passive; on beside dctcp",
            allowed=", ".join(MODES),
            see="reference/queues.md#ecn",
            group=HOSTS,
            words=lambda: MODES,
            after="sysctl",
        )
    },
    apply=lambda plan, texts: dataclasses.replace(plan, ecn=parse_ecn(texts["ecn"])),
    texts=lambda plan: {"ecn": plan.ecn} if plan.ecn else {},
    check=check_ecn,
    words=lambda plan: [f"ECN {plan.ecn}"] if plan.ecn else [],
    facts=lambda plan: [Fact("ECN", plan.ecn)] if plan.ecn else [],
    examine=lambda output: Findings(ecn_of_flows(output.raw_dir, output.plan)),
)
