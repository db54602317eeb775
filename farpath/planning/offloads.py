"""Parser of OFFLOADS: what end hosts leave to their cards."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.spec.offloads import CHECKSUM, OFFLOADS, TSO

#: Short texts of sets of offloads.
ALL, NONE = "on", "off"


def parse_offloads(text: str) -> tuple[str, ...]:
    """Parse ``on``, ``off`` or names of offloads joined by commas; raise BadInputError otherwise.

    A card that splits segments gives each its checksum, and Linux switches TSO off where it does
    not (netdev_fix_features in net/core/dev.c).

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
    if TSO in names and CHECKSUM not in names:
        raise BadInputError(
            f"OFFLOADS is '{text}': a card that splits segments sums each of them too: give "
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
