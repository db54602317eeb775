"""Offloads: work that end hosts of the host lab leave to their cards."""

from __future__ import annotations

import dataclasses

from farpath.base.errors import BadInputError
from farpath.base.options import HOSTS, Option
from farpath.mechanisms.mechanism import Mechanism
from farpath.platforms import platform_of
from farpath.spec.offloads import CHECKSUM, GSO, OFFLOADS, TSO
from farpath.spec.plan import Plan
from farpath.spec.settings import HOST

#: Short texts of sets of offloads.
ALL, NONE = "on", "off"


def parse_offloads(text: str) -> tuple[str, ...]:
    """Parse ``on``, ``off`` or names of offloads joined by commas; raise BadInputError otherwise.

    TSO and GSO need checksums by the card. Linux switches TSO off without them (netdev_fix_features
    in net/core/dev.c), and with GSO alone it copies all payload (skb_segment in net/core/gso.c).

    >>> parse_offloads("checksum,tso"), parse_offloads("off")
    (('tso', 'checksum'), ())
    """
    given = {ALL: OFFLOADS, NONE: ()}.get(text.strip())
    names = tuple(name.strip() for name in text.split(",")) if given is None else given
    if unknown := [name for name in names if name not in OFFLOADS]:
        raise BadInputError(
            option="offloads",
            given=text,
            problem=f"'{unknown[0]}' is none",
            remedy=(f"give {ALL}, {NONE} or some of {', '.join(OFFLOADS)}, as in {TSO},{CHECKSUM}"),
        )
    if {TSO, GSO} & set(names) and CHECKSUM not in names:
        raise BadInputError(
            option="offloads",
            given=text,
            problem="segments are split only for cards that sum each",
            remedy=f"give {','.join((*names, CHECKSUM))}",
        )
    return tuple(name for name in OFFLOADS if name in names)


def offloads_text(offloads: tuple[str, ...] | None) -> str | None:
    """Return the shortest text that ``parse_offloads`` parses to some offloads; None for None.

    >>> offloads_text(OFFLOADS), offloads_text(()), offloads_text(("tso", "checksum"))
    ('on', 'off', 'tso,checksum')
    """
    if offloads is None:
        return None
    return {OFFLOADS: ALL, (): NONE}.get(offloads) or ",".join(offloads)


def check_offloads(plan: Plan) -> None:
    """Raise BadInputError for offloads where CPU is not counted, and for a TSO of lost packets.

    netem and droppers treat packets one by one.
    """
    if plan.offloads is None:
        return
    if not platform_of(plan).measures_cpu:
        raise BadInputError(
            option="offloads",
            problem=(
                f"with `lab={plan.settings.lab}` CPU costs nothing, and each packet is "
                "the path's own"
            ),
            remedy=f"use `lab={HOST}`, or leave it out",
        )
    path = plan.path
    treated = {
        "drop": bool(plan.droppers),
        "loss": path.loss > 0,
        "jitter": path.jitter_ms > 0,
        "reorder": path.reorder > 0,
        "duplicate": path.duplicate > 0,
    }
    if TSO in plan.offloads and any(treated.values()):
        names = " and ".join(f"`{name}`" for name, is_set in treated.items() if is_set)
        raise BadInputError(
            option="offloads",
            problem=f"it has {TSO} and {names} is set: up to 44 packets would be one there",
            remedy=f"leave {TSO} or {names} out, as in `loss=0`",
        )


MECHANISM = Mechanism(
    order=60,
    of_flows="it is for `lab=host`",
    options={
        "offloads": Option(
            "What end hosts of `lab=host` leave to their cards: splitting and joining packets, and "
            "checksums; on for all, off for none.",
            "tso,checksum",
            "none, and checksums cost nothing",
            allowed=f"on, off, {', '.join(OFFLOADS)}",
            see="how-to/host-lab.md#offloads",
            group=HOSTS,
            after="sink",
            placeholder="OFFLOADS",
        )
    },
    apply=lambda plan, texts: dataclasses.replace(plan, offloads=parse_offloads(texts["offloads"])),
    texts=lambda plan: {"offloads": text} if (text := offloads_text(plan.offloads)) else {},
    check=check_offloads,
    words=lambda plan: [f"offloads {text}"] if (text := offloads_text(plan.offloads)) else [],
)
