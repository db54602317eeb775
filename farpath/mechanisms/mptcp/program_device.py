"""MPTCP of programs: no device; ``farpath.guest.services`` sets it for their hosts."""

from __future__ import annotations

from farpath.guest.device import Device

DEVICES: tuple[type[Device], ...] = ()
