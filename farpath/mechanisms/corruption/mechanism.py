"""Corruption: datagrams of UDP that arrive damaged, whose checksum fits all the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.options import PATH, Option, range_text
from farpath.base.path_variants import CORRUPTING, varied
from farpath.mechanisms.mechanism import Fact, Findings, Mechanism, Output, Recorded, Texts
from farpath.mechanisms.quantities import FRACTION as FRACTIONS
from farpath.programs.registry import program_of
from farpath.spec.corruption import BYTE, FRACTION, KEY, RANGE, Chooser, corrupt_fraction
from farpath.spec.plan import Plan


def _apply(plan: Plan, texts: Texts) -> Plan:
    """Return a plan with corruption; its path has a name that published numbers do not have."""
    fraction = FRACTIONS.parse(texts[KEY], KEY, RANGE)
    path = replace(plan.path, **varied(plan.path.name, plan.path.title, [CORRUPTING]))
    return replace(plan, path=path, extra={**plan.extra, KEY: {FRACTION: fraction}})


def _texts(plan: Plan) -> Texts:
    fraction = corrupt_fraction(plan)
    return {KEY: repr(fraction)} if fraction else {}


def check_corruption(plan: Plan) -> None:
    """Raise BadInputError for flows that take damaged data as good, and for none that finds it."""
    if not (fraction := corrupt_fraction(plan)) or plan.programs:
        return
    if plan.offloads is not None:
        raise BadInputError(
            option=KEY,
            given=f"{fraction:g}",
            problem="with `offloads` a host may sum its datagrams before they are damaged",
            remedy="leave one of them out",
        )
    of_udp = [stack for stack in plan.stacks if not program_of(stack).is_tcp]
    for stack in of_udp:
        if not program_of(stack).finds_damage:
            raise BadInputError(
                option=KEY,
                given=f"{fraction:g}",
                problem=f"{stack.label} would take damaged data as good",
                remedy="leave one of them out, or take `loss`",
            )
    if not of_udp:
        raise BadInputError(
            option=KEY,
            given=f"{fraction:g}",
            problem="no flow of this run sends UDP, and nothing else is damaged",
            remedy="take a stack of QUIC, or `loss`, which is what TCP makes of damage",
        )


def _examine(output: Output) -> Findings:
    """Check the counts of a run; warn of datagrams that were too short to be damaged."""
    plan = output.plan
    if not corrupt_fraction(plan):
        return Findings()
    counted, short = output.readback["after"]["corruption"], 0
    for host, counts in counted.items():
        seen, chooser = counts["seen"], Chooser(plan, host)
        if min(seen, chooser.cycle) > chooser.drawn:
            raise CheckFailedError(
                f"`{KEY}` saw {seen:,} datagrams of {host}, more than were drawn for: it sends far "
                "above the bottleneck's rate"
            )
        if counts["chosen"] != (expected := chooser.count(seen)):
            raise CheckFailedError(
                f"`{KEY}` took {counts['chosen']:,} of {seen:,} datagrams of {host}, not "
                f"{expected:,}"
            )
        short += counts["chosen"] - counts["damaged"]
    warnings = []
    if not any(counts["damaged"] for counts in counted.values()):
        warnings.append("CORRUPT damaged no datagram")
    if short:
        warnings.append(
            f"CORRUPT left {short:,} of its datagrams whole, which have less than {BYTE + 1} bytes "
            "of payload"
        )
    return Findings(warnings=warnings)


def _lines(record: Recorded) -> Iterable[str]:
    counted = record.readback.get("after", {}).get("corruption", {})
    of_hosts = [
        f"{counts['damaged']:,} of {counts['seen']:,} of {host}"
        for host, counts in counted.items()
        if counts["seen"]
    ]
    if of_hosts:
        yield f"damaged datagrams: {', '.join(of_hosts)}"


MECHANISM = Mechanism(
    order=42,
    of_programs=True,
    lasts=lambda plan: corrupt_fraction(plan) > 0,
    options={
        KEY: Option(
            "Fraction of the datagrams of UDP, in each direction, that arrive with an inverted "
            "byte and a checksum that fits, so that programs meet it.",
            "1%",
            "none",
            "a fraction, or %",
            range_text(RANGE, ""),
            see="how-to/traffic-and-losses.md#damaged-datagrams",
            group=PATH,
            after="drop",
            placeholder="FRACTION",
        )
    },
    apply=_apply,
    texts=_texts,
    check=check_corruption,
    words=lambda plan: [f"corrupt {text}" for text in _texts(plan).values()],
    facts=lambda plan: [Fact("damaged datagrams", text) for text in _texts(plan).values()],
    examine=_examine,
    lines=_lines,
)
