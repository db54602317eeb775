"""Parser of OFFLOADS: what end hosts leave to their cards."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.spec.offloads import CHECKSUM, GSO, OFFLOADS, TSO

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
            f"OFFLOADS is '{text}': '{unknown[0]}' is none; give {ALL}, {NONE} or some of "
            f"{', '.join(OFFLOADS)}, as in {TSO},{CHECKSUM}"
        )
    if {TSO, GSO} & set(names) and CHECKSUM not in names:
        raise BadInputError(
            f"OFFLOADS is '{text}': segments are split only for cards that sum each: give "
            f"{','.join((*names, CHECKSUM))}"
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
