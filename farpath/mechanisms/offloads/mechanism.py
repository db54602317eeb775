"""Offloads: work that end hosts leave to their cards."""

from __future__ import annotations

import dataclasses
import re

from farpath.base.errors import BadInputError
from farpath.base.options import HOSTS, Option
from farpath.mechanisms.mechanism import Mechanism
from farpath.platforms import platform_of
from farpath.spec.moderation import (
    DEFAULT_NS,
    RX_USECS,
    is_moderation,
    moderation_ns,
    moderation_word,
)
from farpath.spec.offloads import CHECKSUM, GRO, GSO, OFFLOADS, TSO
from farpath.spec.plan import Plan

#: Short texts of sets of offloads.
ALL, NONE = "on", "off"
#: The longest time that a card waits; beyond it the card's ring would be full.
MOST_WAIT_US = 1000


def parse_offloads(text: str) -> tuple[str, ...]:
    """Parse ``on``, ``off`` or words joined by commas; raise BadInputError otherwise.

    Words are the offloads, and how long cards wait for further packets, as ``rx-usecs=20us``. TSO
    and GSO need checksums by the card. Linux switches TSO off without them (netdev_fix_features in
    net/core/dev.c), and with GSO alone it copies all payload (skb_segment in net/core/gso.c).

    >>> parse_offloads("checksum,tso"), parse_offloads("off"), parse_offloads("gro,rx-usecs=50us")
    (('tso', 'checksum'), (), ('gro', 'rx-usecs=50us'))
    """
    words = [word.strip() for word in text.split(",")]
    waits_us = [_wait_us(text, word) for word in words if word.startswith(RX_USECS)]
    names = [word for word in words if not word.startswith(RX_USECS)]
    if names in ([ALL], [NONE]):
        names = list(OFFLOADS) if names == [ALL] else []
    if unknown := [name for name in names if name not in OFFLOADS]:
        raise BadInputError(
            option="offloads",
            given=text,
            problem=f"'{unknown[0]}' is none",
            remedy=(
                f"give {ALL}, {NONE} or some of {', '.join(OFFLOADS)} and "
                f"{moderation_word(DEFAULT_NS // 1000)}, as in {TSO},{CHECKSUM}"
            ),
        )
    if {TSO, GSO} & set(names) and CHECKSUM not in names:
        raise BadInputError(
            option="offloads",
            given=text,
            problem="segments are split only for cards that sum each",
            remedy=f"give {','.join((*names, CHECKSUM))}",
        )
    if len(waits_us) > 1 or (waits_us and GRO not in names):
        raise BadInputError(
            option="offloads",
            given=text,
            problem=f"{RX_USECS} is how long a card waits for packets that {GRO} joins",
            remedy=f"give it once, beside {GRO}, as in {GRO},{moderation_word(waits_us[0])}",
        )
    offloads = tuple(name for name in OFFLOADS if name in names)
    return (*offloads, *map(moderation_word, waits_us))


def _wait_us(text: str, word: str) -> int:
    """Parse the waiting time of a card in us."""
    given = word.removeprefix(RX_USECS).strip()
    found = re.fullmatch(r"= *([0-9]+) *us", given)
    if found and 1 <= int(found[1]) <= MOST_WAIT_US:
        return int(found[1])
    raise BadInputError(
        option="offloads",
        given=text,
        problem=f"'{word}' is no waiting time of a card",
        remedy=f"give 1 to {MOST_WAIT_US} microseconds, as in {moderation_word(50)}",
    )


def offloads_text(offloads: tuple[str, ...] | None) -> str | None:
    """Return the shortest text that ``parse_offloads`` parses to some offloads; None for None.

    >>> offloads_text(OFFLOADS), offloads_text(()), offloads_text(("tso", "checksum"))
    ('on', 'off', 'tso,checksum')
    """
    if offloads is None:
        return None
    names = tuple(word for word in offloads if not is_moderation(word))
    first = {OFFLOADS: ALL, (): NONE}.get(names) or ",".join(names)
    return ",".join((first, *filter(is_moderation, offloads)))


def check_offloads(plan: Plan) -> None:
    """Raise BadInputError for a TSO of packets that are lost one by one, or a wait without a card.

    netem and droppers treat packets one by one.
    """
    if plan.offloads is None:
        return
    if moderation_ns(plan) and not platform_of(plan).boots_kernel:
        raise BadInputError(
            option="offloads",
            problem=f"with `lab={plan.settings.lab}` hosts have polls that take time, and no card",
            remedy=f"leave {RX_USECS} out",
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
    of_flows="programs' hosts have none",
    options={
        "offloads": Option(
            "What end hosts leave to their cards: splitting and joining packets, and checksums; on "
            "for all, off for none. How long a card waits for packets to join.",
            "tso,checksum",
            "none, and checksums cost nothing",
            allowed=f"on, off, {', '.join(OFFLOADS)}, {moderation_word(DEFAULT_NS // 1000)}",
            see="how-to/traffic-and-losses.md#offloads",
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
