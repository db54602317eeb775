"""MPTCP of end hosts: what the kernel's path manager does with further links, and the scheduler."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.base.errors import BadInputError
from farpath.base.options import HOSTS, Option
from farpath.mechanisms.mechanism import (
    Fact,
    Findings,
    Mechanism,
    Output,
    Panel,
    Recorded,
    Texts,
)
from farpath.mechanisms.mptcp import subflow_table
from farpath.spec.mptcp import (
    DEFAULT_SCHEDULER,
    KEY,
    ROLES,
    Mptcp,
    mptcp_flows,
    mptcp_of,
    with_mptcp,
)
from farpath.spec.plan import Plan
from farpath.spec.wire import from_wire

_SCHEDULER = "scheduler"


def parse_mptcp(text: str) -> Mptcp:
    """Return the MPTCP that a text asks for: roles of hosts, and a scheduler, separated by commas.

    Raises BadInputError for any other text.

    >>> parse_mptcp("h1=fullmesh,scheduler=default").roles
    {'h1': 'fullmesh'}
    """
    given: dict[str, str] = {}
    for word in text.replace(",", " ").split():
        name, equals, value = word.partition("=")
        if not equals or not name or not value or name in given:
            raise BadInputError(
                option=KEY,
                given=text,
                problem=f"'{word}' is no role of a host",
                remedy="give each host once, as in h1=fullmesh,h2=signal,scheduler=default",
            )
        given[name] = value
    scheduler = given.pop(_SCHEDULER, DEFAULT_SCHEDULER)
    return Mptcp(given, scheduler)


def mptcp_text(plan: Plan) -> str:
    """Return the text that ``parse_mptcp`` parses to what a plan says; empty for nothing."""
    if KEY not in plan.extra:
        return ""
    said = from_wire(Mptcp, plan.extra[KEY])
    scheduler = [] if said.scheduler == DEFAULT_SCHEDULER else [f"{_SCHEDULER}={said.scheduler}"]
    words = [*(f"{host}={role}" for host, role in said.roles.items()), *scheduler]
    return ",".join(words) or f"{_SCHEDULER}={DEFAULT_SCHEDULER}"


def _apply(plan: Plan, texts: Texts) -> Plan:
    return with_mptcp(plan, parse_mptcp(texts[KEY]))


def check_mptcp(plan: Plan) -> None:
    """Raise BadInputError for MPTCP without a flow of it, and for hosts without further links."""
    if KEY not in plan.extra or plan.programs:
        return
    if not mptcp_flows(plan):
        raise BadInputError(
            option=KEY,
            given=mptcp_text(plan),
            problem="no flow of this run is MPTCP",
            remedy="take `stack=mptcp`, or leave it out",
        )
    network = plan.user_network
    several = [host for host in network.hosts if network.steps[host][1:]] if network else []
    for host in from_wire(Mptcp, plan.extra[KEY]).roles:
        if host not in several:
            raise BadInputError(
                option=KEY,
                given=mptcp_text(plan),
                problem=f"host '{host}' has no further link",
                remedy=f"hosts with several are {', '.join(several)}"
                if several
                else "give a `topology` of your own in which hosts have several links",
            )


def _warnings(plan: Plan) -> Iterable[str]:
    """Warn of flows of MPTCP that have one way only."""
    mptcp = mptcp_of(plan)
    for pair in dict.fromkeys((flow.sender, flow.receiver) for flow in mptcp_flows(plan)):
        if mptcp and not any(host in mptcp.roles for host in pair):
            sender, receiver = pair
            yield (
                f"MPTCP from {sender} to {receiver} has one subflow, as both hosts have one link; "
                "a TOPOLOGY of your own can have hosts with several"
            )


def _examine(output: Output) -> Findings:
    if not mptcp_flows(output.plan):
        return Findings()
    frame = subflow_table.from_raw(output.raw_dir, output.plan)
    return Findings(
        readback={"mptcp_subflows": subflow_table.summary(frame, output.plan)},
        parts=(subflow_table.TABLE.part(frame),),
    )


def _lines(record: Recorded) -> list[str]:
    return subflow_table.lines(record.readback.get("mptcp_subflows") or {})


def _panel(record: Recorded) -> Panel | None:
    file = subflow_table.TABLE.file(record.directory)
    if not record.readback.get("mptcp_subflows") or not file.exists():
        return None
    import pandas as pd

    return subflow_table.rates_over_time(pd.read_parquet(file))


MECHANISM = Mechanism(
    order=75,
    of_flows="programs' hosts have one link; `farpath up` has services with several",
    options={
        KEY: Option(
            "What MPTCP does with further links of hosts, and its scheduler.",
            "h1=fullmesh,h2=signal",
            "senders open subflows, receivers tell of their links",
            allowed=f"HOST=ROLE of {', '.join(ROLES)}; {_SCHEDULER}=NAME",
            see="how-to/mptcp.md#flows-over-several-links",
            group=HOSTS,
            after="ecn",
            placeholder="ROLES",
        )
    },
    apply=_apply,
    texts=lambda plan: {KEY: text} if (text := mptcp_text(plan)) and not plan.programs else {},
    check=check_mptcp,
    words=lambda plan: [f"MPTCP {text}"] if (text := mptcp_text(plan)) else [],
    host_facts=lambda plan: [Fact("MPTCP", text)] if (text := mptcp_text(plan)) else [],
    warnings=_warnings,
    examine=_examine,
    tables=(subflow_table.TABLE,),
    lines=_lines,
    panel=_panel,
)
